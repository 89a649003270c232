"""The table of intervals around modelled times."""

from __future__ import annotations

import pytest

from grader.emulator.timing.intervals import UNKNOWN, interval_of, read_intervals
from grader.emulator.timing.kinds import LaunchKind


@pytest.mark.parametrize("kind", LaunchKind)
def test_each_kind_of_launch_has_an_interval(kind: LaunchKind) -> None:
    found = interval_of(kind)
    assert 0 < found.low <= 1 <= found.high
    assert found.times > 0


def test_kinds_without_an_interval_have_the_widest() -> None:
    known = dict(read_intervals())
    widest = known.pop(UNKNOWN)
    assert set(known) <= set(LaunchKind)
    for each in known.values():
        assert widest.low <= each.low
        assert each.high <= widest.high


def test_the_ends_lie_around_a_modelled_time() -> None:
    found = interval_of(LaunchKind.DRAM)
    assert found.around(2.0) == (2.0 * found.low, 2.0 * found.high)
