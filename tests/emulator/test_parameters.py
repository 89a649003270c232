"""The part of the L1 that the driver assigns to shared memory, as on an H200, and an SM's share of
the L2."""

from __future__ import annotations

import pytest

from grader.devices.gpus import read_gpus
from grader.emulator.timing.parameters import Share, choose_carveout, find_parameters

KB = 1024


@pytest.mark.parametrize(
    ("fitting", "shared_bytes", "chosen"),
    [
        (2, 0, 8 * KB),
        (4, 0, 16 * KB),
        (8, 0, 32 * KB),
        (16, 0, 32 * KB),
        (32, 0, 32 * KB),
        (2, 4224, 16 * KB),
        (4, 1152, 32 * KB),
        (4, 8320, 100 * KB),
        (4, 32896, 164 * KB),
        (8, 4224, 100 * KB),
        (8, 16512, 164 * KB),
        (16, 1152, 64 * KB),
        (32, 2176, 100 * KB),
    ],
)
def test_blocks_get_room_and_some_of_them_more(
    fitting: int, shared_bytes: int, chosen: int
) -> None:
    figures = read_gpus()["h200"].figures
    assert figures is not None
    assert choose_carveout(figures, fitting, shared_bytes) == chosen


def test_merged_loads_take_less_of_the_l2_and_atomics_do_not() -> None:
    figures = read_gpus()["h200"].figures
    assert figures is not None
    alone, merged = (
        find_parameters(
            figures,
            figures.multiprocessors,
            Share(0.0, 0.0, 0.9, merged=part),
            blocks=1,
            carveout=0,
            atomic_cycles=1.0,
            wait=0.0,
            kept_lines=0.0,
        )
        for part in (0.0, 0.75)
    )
    assert merged.l2_sector_cycles == pytest.approx(alone.l2_sector_cycles / 4)
    assert merged.unmerged_cycles == alone.unmerged_cycles == alone.l2_sector_cycles
