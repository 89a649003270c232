"""The rows of a sweep: a time with its rates, and the speed-ups of each program over others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.authoring.sweep.points import Sizes
from grader.judging.timing import NAIVE
from grader.records import Source
from grader.report.sweep import C_LOOP, NUMPY, SweepRow
from grader.spec.exercise import Exercise


def timed_row(
    exercise: Exercise,
    label: str,
    time_ms: float,
    interval_ms: tuple[float, float],
    sizes: Sizes,
    *,
    source: Source = Source.MEASURED,
) -> SweepRow:
    """A row with the rates that follow from a time."""
    flops = exercise.useful_flops.evaluate(sizes) if exercise.useful_flops is not None else None
    return SweepRow(
        label,
        None,
        time_ms,
        interval_ms,
        gflops=flops / time_ms / 1e6 if flops is not None else None,
        bandwidth_gbps=exercise.useful_bytes.evaluate(sizes) / time_ms / 1e6,
        source=source,
    )


def compare_rows(rows: Sequence[SweepRow]) -> tuple[SweepRow, ...]:
    """The rows of one size with their speed-ups over the naive kernel, the C loop and NumPy, where
    those have times."""
    times = {row.program: row.time_ms for row in rows}

    def ratio(row: SweepRow, other: str) -> float | None:
        other_ms = times.get(other)
        return other_ms / row.time_ms if other_ms is not None and row.time_ms is not None else None

    return tuple(
        replace(
            row,
            speedup_over_naive=ratio(row, NAIVE),
            speedup_over_cpu=ratio(row, C_LOOP),
            speedup_over_numpy=ratio(row, NUMPY),
        )
        for row in rows
    )
