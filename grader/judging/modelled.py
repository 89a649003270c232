"""What the timing model tells of plans: their times with intervals, ratios of two times, and
whether these are known well enough to judge by."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import exp, hypot, log
from operator import add

from grader.records import Estimate, Execution, Modelled, Timing, Traffic

TRANSFERS_DOUBT = 0.15
"""Of the time of copies and fills, to either side, as a part of it."""
MOST_DOUBT = 0.25
"""Nothing is judged by a time, or by a ratio of two, whose interval reaches further to either side,
as a part of it."""


def modelled_launches(execution: Execution) -> tuple[Modelled, ...]:
    """What the model says of each launch; empty where it was not asked, or does not know the
    GPU."""
    found = tuple(launch.modelled for launch in execution.launches if launch.modelled is not None)
    return found if len(found) == len(execution.launches) else ()


def model_timing(plan: str, execution: Execution) -> Timing | None:
    """The timing of a plan that was modelled. The intervals of its launches add up, for the model
    may be wrong about all of them in the same direction."""
    launches = modelled_launches(execution)
    if not launches:
        return None
    ends = [each.interval_ms for each in launches if each.interval_ms is not None]
    assert len(ends) == len(launches)  # only scores of earlier versions have none
    longest = max(launches, key=lambda launch: launch.time_ms)
    copied_ms = execution.transfers_ms
    return Timing(
        plan,
        sum(launch.time_ms for launch in launches) + copied_ms,
        (
            sum(low for low, _ in ends) + (1 - TRANSFERS_DOUBT) * copied_ms,
            sum(high for _, high in ends) + (1 + TRANSFERS_DOUBT) * copied_ms,
        ),
        (),
        longest.kind,
    )


def model_traffic(execution: Execution) -> Traffic:
    """What all launches of a plan move; the model simulates no L2 cache."""
    launches = modelled_launches(execution)
    if not launches:
        return Traffic()
    total = reduce(add, (Traffic(launch.dram_bytes, launch.l1) for launch in launches))
    return replace(total, dram_bytes=round(total.dram_bytes or 0))


def compare_modelled(one: Timing, other: Timing) -> Estimate:
    """How many times as long as the other plan the one takes.

    The model's errors about plans of different kinds are taken to be independent: their squares add
    up, as logarithms. About plans of one kind the model is wrong in part for the same reason: half
    of the variance is taken to be common, so that the ratio is as uncertain as the more uncertain
    one of the two times.
    """
    join = max if one.kind == other.kind else hypot
    (low, high), (other_low, other_high) = one.interval_ms, other.interval_ms
    below = join(log(one.median_ms / low), log(other_high / other.median_ms))
    above = join(log(high / one.median_ms), log(other.median_ms / other_low))
    ratio = one.median_ms / other.median_ms
    return Estimate(ratio, ratio * exp(-below), ratio * exp(above))


def is_known(timing: Timing) -> bool:
    """Whether something may be judged by a modelled time."""
    return is_known_ratio(Estimate(timing.median_ms, *timing.interval_ms))


def is_known_ratio(ratio: Estimate) -> bool:
    """The same of a ratio of two modelled times."""
    least, most = (1 - MOST_DOUBT) * ratio.value, (1 + MOST_DOUBT) * ratio.value
    return least <= ratio.low and ratio.high <= most
