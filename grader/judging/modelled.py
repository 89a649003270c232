"""Modelled times of plans with their intervals, ratios of two times, and whether these are accurate
enough for a judgement."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import exp, hypot, log
from operator import add

from grader.records import Estimate, Execution, Modelled, Timing, Traffic

TRANSFERS_DOUBT = 0.15
"""Uncertainty of the time of copies and fills, in both directions, as a part of it."""
MOST_DOUBT = 0.25
"""A time, or a ratio of two times, whose interval reaches further in one direction, as a part of
it, does not decide a goal inside the interval."""


def modelled_launches(execution: Execution) -> tuple[Modelled, ...]:
    """The modelled time of each launch; empty in a run without a model, or for an unknown GPU."""
    found = tuple(launch.modelled for launch in execution.launches if launch.modelled is not None)
    return found if len(found) == len(execution.launches) else ()


def model_timing(plan: str, execution: Execution) -> Timing | None:
    """The timing of a modelled plan. The intervals of its launches add up, because the model may
    err on all of them in the same direction."""
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
    """The traffic of all launches of a plan; the model simulates no L2 cache."""
    launches = modelled_launches(execution)
    if not launches:
        return Traffic()
    total = reduce(add, (Traffic(launch.dram_bytes, launch.l1) for launch in launches))
    return replace(total, dram_bytes=round(total.dram_bytes or 0))


def compare_modelled(one: Timing, other: Timing) -> Estimate:
    """The time of `one` over the time of `other`.

    The model's errors for plans of different kinds count as independent: the squares of their
    logarithms add up. The errors for plans of the same kind have partly the same reason: half of
    the variance counts as common, so the ratio is as uncertain as the more uncertain of the two
    times.
    """
    join = max if one.kind == other.kind else hypot
    (low, high), (other_low, other_high) = one.interval_ms, other.interval_ms
    below = join(log(one.median_ms / low), log(other_high / other.median_ms))
    above = join(log(high / one.median_ms), log(other.median_ms / other_low))
    ratio = one.median_ms / other.median_ms
    return Estimate(ratio, ratio * exp(-below), ratio * exp(above))


def is_known(timing: Timing) -> bool:
    """Whether a goal inside the interval of a modelled time may be judged."""
    return is_known_ratio(Estimate(timing.median_ms, *timing.interval_ms))


def is_known_ratio(ratio: Estimate) -> bool:
    """Whether a goal inside the interval of a ratio of two modelled times may be judged."""
    least, most = (1 - MOST_DOUBT) * ratio.value, (1 + MOST_DOUBT) * ratio.value
    return least <= ratio.low and ratio.high <= most
