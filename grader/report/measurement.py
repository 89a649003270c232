"""The times of a report: medians with their intervals, the peaks beside them, and the source of the
counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.messages.slowness import list_uses
from grader.metrics import FIGURES, METRICS, TRAFFIC, format_value
from grader.records import SUBMISSION, MetricValue, Score, Timing


@dataclass(frozen=True)
class Figure:
    """A figure for information: its value with a unit, or the reason why it is missing."""

    label: str
    value: str
    source: str
    reason: str


def list_figures(score: Score) -> tuple[Figure, ...]:
    """The rates of a timed run, and its traffic in caches and DRAM; none without a time. A kernel
    without arithmetic has no missing figure."""
    metrics = {metric.name: metric for metric in score.metrics}
    if metrics.get("time_ms") is None or metrics["time_ms"].value is None:
        return ()
    known = (metrics[name] for name in FIGURES if name in metrics)
    return tuple(
        _make_figure(metric)
        for metric in known
        if metric.value is not None or metric.name in TRAFFIC
    )


def _make_figure(metric: MetricValue) -> Figure:
    label = METRICS[metric.name].figure
    value = "" if metric.value is None else format_value(metric.name, metric.value)
    return Figure(label, value, metric.source.value if metric.source else "", metric.reason or "")


def format_measurement(score: Score) -> tuple[str, ...]:
    """The lines on times and on counters that are known; plain text."""
    return tuple(_lines(score))


def _lines(score: Score) -> Iterator[str]:
    if score.timings:
        own_first = sorted(score.timings, key=lambda timing: timing.plan != SUBMISSION)
        parts = (map(_format_time, own_first), _format_limits(score))
        yield "Time: " + "; ".join(filter(None, map(", ".join, parts)))
    if figures := list_figures(score):
        yield _format_figures(figures)
    if score.model:
        yield f"Model: {_format_model(score)}"
    if "counters" in score.environment:
        yield f"Counters: {score.environment['counters']}"


def _format_figures(figures: Sequence[Figure]) -> str:
    """`Figures (measured): bandwidth 2,673 GB/s, ...; not known: L2 hit rate (REASON)`."""
    known = [f"{figure.label} {figure.value}" for figure in figures if figure.value]
    missing = {
        figure.reason: [each.label for each in figures if each.reason == figure.reason]
        for figure in figures
        if figure.reason
    }
    sources = " and ".join(dict.fromkeys(figure.source for figure in figures if figure.source))
    unknown = [f"{' and '.join(labels)} ({reason})" for reason, labels in missing.items()]
    rest = f"; not known: {', '.join(unknown)}" if unknown else ""
    return f"Figures ({sources}): {', '.join(known)}{rest}"


def _format_model(score: Score) -> str:
    """The bound of the longest launch on the timing model, and the blocks that were run for it."""
    longest = max(score.model, key=lambda launch: launch.time_ms)
    first, rest = longest.bounds[0], list_uses(longest)
    ran = sum(launch.blocks_run for launch in score.model)
    blocks = sum(launch.blocks for launch in score.model)
    sample = f"from a sample of {ran:,} of {blocks:,} blocks" if ran < blocks else "from all blocks"
    return f"bound by {first.resource} ({rest}), {sample}; the times are modelled, not measured"


def _format_limits(score: Score) -> Iterator[str]:
    """The limits to which a time is compared: a copy's bandwidth, and the peak with its source."""
    if "copy_bandwidth" in score.environment:
        yield f"copy kernel {score.environment['copy_bandwidth']}"
    if score.device is not None:
        source = score.device.peak_source.partition(";")[0]
        yield f"peak {score.device.peak_bandwidth_gbps:,.0f} GB/s ({source})"


def _format_time(timing: Timing) -> str:
    """The submission's time has its interval."""
    low, high = timing.interval_ms
    if timing.plan != SUBMISSION:
        return f"{timing.plan} {_ms(timing.median_ms)} ms"
    return f"{_ms(timing.median_ms)} ms ({_ms(low)} to {_ms(high)})"


def _ms(milliseconds: float) -> str:
    """Four significant digits: a clock's 0.5 microseconds are in the last digit of a short
    kernel."""
    return f"{milliseconds:.4g}"
