"""The table of intervals around modelled times."""

from __future__ import annotations

import pytest

from grader.emulator.timing.intervals import UNKNOWN, read_intervals, width_of
from grader.emulator.timing.kinds import LaunchKind


@pytest.mark.parametrize("kind", LaunchKind)
def test_each_kind_of_launch_has_a_width(kind: LaunchKind) -> None:
    assert 0.01 < width_of(kind.value, read_intervals()) < 3.0


def test_kinds_without_an_interval_have_the_widest() -> None:
    known = dict(read_intervals())
    widest = known.pop(UNKNOWN)
    assert set(known) <= set(LaunchKind)
    for each in known.values():
        assert widest.low <= each.low
        assert each.high <= widest.high
    assert width_of("no such kind", read_intervals()) == width_of(UNKNOWN, read_intervals())
