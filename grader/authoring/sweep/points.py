"""The sizes of a sweep and its rows: the values of --sizes, a job at one point, a time with its
rates, and the speed-ups of each program over others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.errors import UsageError
from grader.judging.timing import NAIVE
from grader.records import Source
from grader.report.sweep import C_LOOP, NUMPY, SweepRow, format_sizes
from grader.spec.exercise import Case, Exercise

Sizes = dict[str, int]


def parse_sizes(texts: Sequence[str], names: Sequence[str]) -> list[Sizes]:
    """The points of --sizes: `128,512` are two points, with all sizes equal; `rows=512,cols=1024`
    is one point. UsageError for other text."""
    points: list[Sizes] = []
    for text in texts:
        if "=" in text:
            points.append(_parse_named(text, names))
        else:
            points += [dict.fromkeys(names, _parse_size(part)) for part in text.split(",")]
    return points


def _parse_named(text: str, names: Sequence[str]) -> Sizes:
    given: Sizes = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        name = name.strip()
        if name not in names or name in given:
            what = "given twice" if name in given else "no size of this exercise"
            raise _bad_sizes(f"{name!r} in --sizes {text} is {what}", names)
        given[name] = _parse_size(value)
    if missing := [name for name in names if name not in given]:
        raise _bad_sizes(f"--sizes {text} leaves out {', '.join(missing)}", names)
    return {name: given[name] for name in names}


def _parse_size(text: str) -> int:
    if not re.fullmatch(r"\s*[0-9]{1,10}\s*", text) or not 0 < int(text) < 1 << 31:
        raise UsageError(
            f"{text.strip()!r} in --sizes is no size",
            "Sizes are integers from 1 on: --sizes 128,512,1024",
        )
    return int(text)


def _bad_sizes(message: str, names: Sequence[str]) -> UsageError:
    each = ",".join(f"{name}={512 << index}" for index, name in enumerate(names))
    advice = (
        f"The sizes are {', '.join(names)}. Give one number for all of them (--sizes 128,512), or"
        f" each: --sizes {each}"
    )
    return UsageError(message, advice)


def sweep_case(sizes: Sizes) -> Case:
    """These sizes as a case; all programs of a sweep share its inputs."""
    return Case(f"sweep {format_sizes(sizes)}", sizes, hidden=False)


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
