"""The worst access of an instruction: the first among equals, for any number of host threads."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator import join_counts
from grader.emulator.run.worst import WorstRequest
from tests.emulator.test_known_accesses import LOAD, STORE, run_blocks

OFFSETS = (0, 128, 256, 4, 260, 512, 132, 64)
"""Read offset of the warp of each block: from the fourth block on some are not at the start of a
line."""


def worst_of(access: str, offsets: tuple[int, ...], **settings: object) -> WorstRequest | None:
    found = [
        each
        for each in run_blocks(access, offsets, **settings).outcome.counts.worst_requests()
        if each.space == "global" and each.bytes == 128
    ]
    return found[0] if found else None


@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
def test_the_first_of_equals_is_kept(access: str) -> None:
    worst = worst_of(access, OFFSETS)
    assert worst is not None
    assert (worst.block, worst.passes, worst.passes_ideal) == (3, 5, 4)
    lanes = np.array(worst.addresses)
    assert (np.diff(lanes) == 4).all()
    assert lanes[0] % 128 == 4


@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
def test_an_access_that_wastes_nothing_is_not_kept(access: str) -> None:
    assert worst_of(access, (0, 128, 256)) is None


def test_it_does_not_depend_on_the_threads() -> None:
    one = run_blocks(LOAD, OFFSETS * 40).outcome.counts
    four = run_blocks(LOAD, OFFSETS * 40, threads=4).outcome.counts
    assert [*one.worst_requests()] == [*four.worst_requests()]


def test_of_parts_the_worst_is_kept() -> None:
    good = run_blocks(LOAD, (0, 128)).outcome.counts
    bad = run_blocks(LOAD, OFFSETS).outcome.counts
    assert [*join_counts([good, bad, good], 2.0).worst_requests()] == [*bad.worst_requests()]
