"""Places a submission, the naive baseline and the reference under the device's roof (Williams,
Waterman, Patterson, CACM 2009).

With arithmetic, the axes are the classical ones: useful operations per useful byte, and GFLOP/s.
Without, as in a transpose, the height is useful GB/s and the place the useful part of the bytes
that DRAM moved: the same roof, since no kernel can move more than the peak.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose

from markupsafe import Markup

from grader.records import DeviceInfo, Score, Source
from grader.report.html.charts import Point, Roof, draw_roofline
from grader.report.json import metric_value

OWN, NAIVE, REFERENCE = "submission", "naive", "reference"


@dataclass(frozen=True)
class Roofline:
    """The plot and the sentences on it."""

    picture: Markup
    note: str


@dataclass(frozen=True)
class _Work:
    """The useful work of the exercise, per millisecond of the submission's time, and per byte.
    `dram_x`: by its real traffic. `peak`: the GFLOP/s of the units that do it; None without
    arithmetic."""

    rate: float
    x: float
    dram_x: float | None
    peak: float | None = None


def make_roofline(score: Score) -> Roofline | None:
    """The plot, or None where no time is known."""
    own, work = metric_value(score, "time_ms"), _find_work(score)
    if score.device is None or own is None or own.value is None or work is None:
        return None
    points = [*_find_points(score, work, own.value)]
    source = "modelled" if own.source is Source.MODELLED else "measured"
    picture = draw_roofline(_make_roof(score.device, work), points, title=_describe(points))
    return Roofline(picture, _explain(work, source))


def plan_times(score: Score) -> dict[str, float]:
    """The median time in ms of every timed program, the submission's first."""
    times = {timing.plan: timing.median_ms for timing in score.timings}
    for plan, name in ((OWN, "time_ms"), (NAIVE, "naive_time_ms")):
        metric = metric_value(score, name)
        if metric is not None and metric.value:
            times.setdefault(plan, metric.value)
    first = [plan for plan in (OWN, REFERENCE, NAIVE) if plan in times]
    return {plan: times[plan] for plan in dict.fromkeys([*first, *times])}


def _find_work(score: Score) -> _Work | None:
    bandwidth, gflops, fraction, own = (
        _value(score, name) for name in ("bandwidth_gbps", "gflops", "compute_fraction", "time_ms")
    )
    dram = _value(score, "dram_bytes")
    if not own or not bandwidth:
        return None
    if gflops:
        by_dram = gflops * own * 1e6 / dram if dram else None
        return _Work(gflops, gflops / bandwidth, by_dram, gflops / fraction) if fraction else None
    return _Work(bandwidth, 1.0, bandwidth * own * 1e6 / dram if dram else None)


def _value(score: Score, name: str) -> float | None:
    metric = metric_value(score, name)
    return metric.value if metric is not None else None


def _find_points(score: Score, work: _Work, own_ms: float) -> Iterator[Point]:
    for plan, time in plan_times(score).items():
        kind = plan if plan in (OWN, NAIVE, REFERENCE) else "other"
        label = "this submission" if plan == OWN else plan
        yield Point(label, kind, work.x, work.rate * own_ms / time)
    if work.dram_x:
        yield Point("by DRAM bytes", OWN, work.dram_x, work.rate, hollow=True)


def _make_roof(device: DeviceInfo, work: _Work) -> Roof:
    bandwidth = device.peak_bandwidth_gbps
    label = f"{bandwidth:,.0f} GB/s"
    if work.peak is not None:
        tflops = work.peak / 1000
        units = "fp32" if isclose(tflops, device.peak_fp32_tflops, rel_tol=1e-3) else "tensor cores"
        ceiling = f"{tflops:.4g} TFLOP/s ({units})"
        titles = ("useful operations per byte", "GFLOP/s")
        return Roof(bandwidth, work.peak, label, ceiling, *titles)
    titles = ("useful bytes per byte that DRAM moved", "useful GB/s")
    return Roof(bandwidth, bandwidth, "the bandwidth of DRAM", label, *titles)


def _describe(points: list[Point]) -> str:
    filled = (point for point in points if not point.hollow)
    return "Roofline: " + "; ".join(f"{point.label} at {point.y:,.4g}" for point in filled)


def _explain(work: _Work, source: str) -> str:
    parts = [f"Times are {source}."]
    if work.peak is None:
        parts.append("There is no arithmetic in this exercise: the roof is the memory's alone.")
    parts.append(
        "Filled: placed by the useful bytes, as if DRAM moved no others, so that all programs stand"
        " above one another."
    )
    if work.dram_x:
        parts.append("Hollow: by the bytes that DRAM moved.")
    return " ".join(parts)
