"""Sentences for values that are not known exactly: the benefit of the doubt where the goal is
within the interval, and goals within a wide interval, which are not judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.metrics import METRICS, format_value
from grader.records import SUBMISSION, LaunchResult, MetricValue, Source, Timing, Unmodelled

_UNKNOWN_FIGURES = "this GPU's figures are not known"
_UNMODELLED = {
    Unmodelled.UNEVEN_BLOCKS: (
        "its blocks differ so much from each other that those which were traced cannot stand for"
        " all"
    ),
    Unmodelled.WAITS: (
        "its threads wait for each other in loops, and how long they do is not modelled"
    ),
}
_BENEFIT = "the benefit of the doubt"
_ON_A_MODEL = "too close to call on a model"


def describe_unmodelled(why: Unmodelled | None) -> str:
    """Why a launch has no modelled time, as a clause; None if the GPU has no timing figures."""
    return _UNKNOWN_FIGURES if why is None else _UNMODELLED[why]


def remark_doubt(source: Source | None) -> str:
    """A short remark beside a verdict with the benefit of the doubt."""
    close = _ON_A_MODEL if source is Source.MODELLED else "too close to call"
    return f"{close}, {_BENEFIT}"


def describe_doubt(metric: MetricValue, value: float, goal: str, *, relative: bool) -> str:
    """The reason why a value passes whose interval holds its goal. A relative goal has its doubt in
    the other program's value, so the message has no interval."""
    low, high = (format_value(metric.name, end) for end in metric.interval or (value, value))
    ends = "" if relative else f" ({low} to {high})"
    figure = f"{METRICS[metric.name].noun} {format_value(metric.name, value)}{ends}"
    if metric.source is Source.MODELLED:
        return f"{figure} against the goal {goal} is {_ON_A_MODEL}: {_BENEFIT}"
    return f"{figure} cannot be distinguished from the goal {goal}: {_BENEFIT}"


def describe_unsure(times: Sequence[Timing]) -> str:
    """The reason why these modelled times judge no goal within the interval: one of them is hardly
    known."""
    return "the model does not know this kind of kernel well: " + ", and ".join(
        map(_describe_time, times)
    )


def describe_waits(launches: Iterable[LaunchResult]) -> str | None:
    """A note on the kernels whose threads waited for each other: their counts depend on time. None
    where no kernel waited."""
    kernels = dict.fromkeys(launch.kernel for launch in launches if launch.waited)
    if not kernels:
        return None
    return (
        f"threads of {', '.join(kernels)} wait for each other in loops: how often they look is a"
        " matter of time, and the counts with it"
    )


def _describe_time(timing: Timing) -> str:
    whose = "its time" if timing.plan == SUBMISSION else f"the time of the {timing.plan} program"
    less, more = (abs(end / timing.median_ms - 1) for end in timing.interval_ms)
    words = f"{whose} ({timing.kind}) may be {less:.0%} less or {more:.0%} more"
    return words.replace("%", " %")
