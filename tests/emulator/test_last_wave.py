"""How the blocks of a last wave spread over SMs."""

import numpy as np

from grader.emulator.timing.kinds import BUSY
from grader.emulator.timing.last_wave import WAVES, blocks_of_last_wave

SMS, RESIDENT = 132, 4
TOGETHER = np.full(RESIDENT, 1e5)
APART = np.array([0.4e5, 0.6e5, 0.8e5, 1e5])
WAVE = SMS * RESIDENT


def test_if_blocks_end_together_some_sms_get_a_whole_wave_and_others_nothing() -> None:
    assert blocks_of_last_wave(TOGETHER, WAVE + SMS, SMS, 0.0) == RESIDENT


def test_if_blocks_end_one_after_another_each_sm_gets_one() -> None:
    assert blocks_of_last_wave(APART, WAVE + SMS, SMS, 0.0) == 1
    assert blocks_of_last_wave(APART, WAVE + 2 * SMS, SMS, 0.0) == 2


def test_loads_spread_the_ends_of_blocks_on_different_sms() -> None:
    ends = np.linspace(0.97e5, 1e5, RESIDENT)
    calm, loaded = (blocks_of_last_wave(ends, WAVE + SMS, SMS, each) for each in (0.0, BUSY))
    assert calm < loaded


def test_blocks_that_share_a_busy_dram_count_evenly() -> None:
    assert blocks_of_last_wave(TOGETHER, WAVE + SMS, SMS, BUSY + 0.1) == 1


def test_full_waves_and_many_waves_leave_no_last_one() -> None:
    assert blocks_of_last_wave(TOGETHER, 2 * WAVE, SMS, 0.0) == 0
    assert blocks_of_last_wave(TOGETHER, WAVES * WAVE + SMS, SMS, 0.0) == 0
