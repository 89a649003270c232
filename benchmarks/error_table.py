"""Measured and modelled times: errors by family, the ranking, and intervals.

A family is the mechanism that kernels show: the folder in benchmarks/kernels, or for programs with
the signature of an exercise, `gemm` or `transpose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, exp, floor, inf, log
from statistics import mean, median

import numpy as np
from jobs import BASELINE, KERNELS, Job
from kept_work import ModelledRun

from grader.emulator.timing.intervals import UNKNOWN, Interval
from grader.emulator.timing.measured import Measured

APART = 1.15
"""Ratio of two measured times from which on the model should give the right order."""
NOMINAL = 0.9
"""Fraction of times that an interval should contain."""
LEAST_WITNESSES, LEAST_FAMILIES = 12, 2
"""Kinds of launches with fewer errors, or errors of fewer families, get no interval."""
MANY = 100
"""Times from which on a kind or a family has a summary of its own."""
ROUNDING = 1e-9
TRUTH, SUBMISSIONS = "truth", "known submissions"


@dataclass(frozen=True)
class Row:
    """A program at a size: times in milliseconds, the resource that limits the modelled time, and
    the kind and traits of its longest launch; `others`: those of other launches with a good part of
    the time. `group` is `kernels`, `truth` or `known submissions`."""

    group: str
    family: str
    exercise: str
    name: str
    sizes: str
    measured_ms: float
    modelled_ms: float
    bound: str
    kind: str
    traits: tuple[float, ...] = ()
    others: tuple[tuple[str, tuple[float, ...]], ...] = ()

    @property
    def kernel(self) -> str:
        """Equal for all sizes and GPUs of a kernel, and for a starter and its baseline plan."""
        name = f"starter/{self.exercise}" if self.name == BASELINE else self.name
        return f"{self.exercise}/{name}"

    @property
    def error(self) -> float:
        return self.modelled_ms / self.measured_ms - 1

    @property
    def log_error(self) -> float:
        return log(self.modelled_ms / self.measured_ms)


def make_row(job: Job, measured_ms: float, run: ModelledRun) -> Row:
    """The row of a job."""
    return Row(
        group_of(job),
        family_of(job),
        job.exercise,
        job.name,
        job.label,
        measured_ms,
        run.time_ms,
        run.bound,
        run.kind,
        run.traits,
        run.others,
    )


def family_of(job: Job) -> str:
    """The group of jobs that a fit leaves out together."""
    return job.run.family if job.run is not None else job.exercise.partition("_")[0]


def group_of(job: Job) -> str:
    """The group of jobs whose errors are summarised together."""
    if job.exercise == KERNELS:
        return KERNELS
    return TRUTH if job.name.startswith("truth/") else SUBMISSIONS


# --- errors ---------------------------------------------------------------------------------------


def describe(rows: Sequence[Row]) -> str:
    """A summary of the absolute errors of rows, and the mean of the signed errors."""
    found = sorted(abs(row.error) for row in rows)
    return (
        f"{len(rows)} times, mean absolute error {mean(found):.1%}, median {median(found):.1%},"
        f" p90 {quantile(found, 0.9):.1%}, worst {found[-1]:.1%}, signed mean"
        f" {mean(row.error for row in rows):+.1%}"
    )


def tabulate(rows: Sequence[Row], others: Mapping[str, Sequence[Row]]) -> Iterator[dict[str, str]]:
    """The cells of a table of errors by family, with all families together last. `others` are other
    models of the same times; the table shows their mean and worst errors."""
    for family in (*sorted({row.family for row in rows}), None):
        own = _of(rows, family)
        errors = sorted(abs(row.error) for row in own)
        beside: dict[str, str] = {}
        for name, other in others.items():
            found = [abs(row.error) for row in _of(other, family)]
            beside[f"{name}: mean"] = f"{mean(found):.1%}" if found else "-"
            beside[f"{name}: worst"] = f"{max(found):.1%}" if found else "-"
        yield {
            "family": family or "all",
            "times": str(len(own)),
            "mean": f"{mean(errors):.1%}",
            "median": f"{median(errors):.1%}",
            "p90": f"{quantile(errors, 0.9):.1%}",
            "worst": f"{errors[-1]:.1%}",
            "signed": f"{mean(row.error for row in own):+.1%}",
            **beside,
        }


def format_families(rows: Sequence[Row], others: Mapping[str, Sequence[Row]]) -> list[str]:
    """The lines of the table of `tabulate`."""
    cells = list(tabulate(rows, others))
    widths = {name: max(len(name), *(len(row[name]) for row in cells)) + 2 for name in cells[0]}
    return [
        "".join(
            text.ljust(widths[name]) if name == "family" else text.rjust(widths[name])
            for name, text in row.items()
        )
        for row in ({name: name for name in widths}, *cells)
    ]


def _of(rows: Sequence[Row], family: str | None) -> list[Row]:
    return [row for row in rows if family in (None, row.family)]


def quantile(ordered: Sequence[float], part: float) -> float:
    """The least of the ordered numbers that is not exceeded by at least this fraction of them."""
    return ordered[max(0, ceil(part * len(ordered)) - 1)]


def rank(rows: Sequence[Row]) -> tuple[int, int]:
    """Among pairs of rows of an exercise and size that are APART: the number that the model orders
    correctly, and the number of pairs."""
    apart = [
        (a, b)
        for a, b in combinations(rows, 2)
        if (a.exercise, a.sizes) == (b.exercise, b.sizes)
        and a.group != KERNELS
        and max(a.measured_ms, b.measured_ms) >= APART * min(a.measured_ms, b.measured_ms)
    ]
    right = sum(
        (a.measured_ms < b.measured_ms) == (a.modelled_ms < b.modelled_ms) for a, b in apart
    )
    return right, len(apart)


# --- intervals ------------------------------------------------------------------------------------


def correct_left_out(
    rows: Sequence[Row], measured: Measured, part_of: Callable[[Row], str]
) -> list[tuple[float, float]]:
    """For each row the most likely error and its standard deviation (Measured.estimate), without
    the kernels of its own part."""
    kernels: dict[str, set[str]] = {}
    for row in rows:
        kernels.setdefault(part_of(row), set()).add(row.kernel)
    return [
        measured.estimate(row.kind, np.array(row.traits), kernels[part_of(row)]) for row in rows
    ]


def kernel_of(row: Row) -> str:
    """The part that is left out together, if other kernels of the same family are known."""
    return row.kernel


def find_deviations(
    rows: Sequence[Row], measured: Measured, part_of: Callable[[Row], str] = kernel_of
) -> dict[str, list[tuple[float, float]]]:
    """By kind of launch: for each row the absolute error after the correction and its standard
    deviation, as logarithms, without the row's own part."""
    found: dict[str, list[tuple[float, float]]] = {}
    left_out = correct_left_out(rows, measured, part_of)
    for row, (centre, deviation) in zip(rows, left_out, strict=True):
        found.setdefault(row.kind, []).append((abs(row.log_error + centre), deviation))
    return found


def choose_widths(rows: Sequence[Row], measured: Measured) -> dict[str, float]:
    """Half the width of an interval in standard deviations, so that it contains NOMINAL of the rows
    of a kind with MANY times, and NOMINAL of the rows of all other kinds."""
    found = find_deviations(rows, measured)
    many = {kind: each for kind, each in sorted(found.items()) if len(each) >= MANY}
    others = [each for kind, own in found.items() if kind not in many for each in own]
    return {
        kind: round(quantile(sorted(error / each for error, each in own), NOMINAL), 2)
        for kind, own in {**many, UNKNOWN: others}.items()
    }


def correct_rows(rows: Sequence[Row], measured: Measured) -> list[Row]:
    """The rows with corrected modelled times; each kernel is left out of its own correction."""
    found = correct_left_out(rows, measured, kernel_of)
    return [
        replace(row, modelled_ms=row.modelled_ms * exp(centre))
        for row, (centre, _) in zip(rows, found, strict=True)
    ]


def describe_intervals(rows: Sequence[Row], measured: Measured) -> list[str]:
    """Summaries: the fraction of times inside their intervals, and half the width of these; of all
    rows, and of the families and kinds with MANY times."""
    found = describe_widths("kernel left out", rows, measured)
    found += describe_widths("family left out", rows, measured, lambda row: row.family)
    for words, group_of_row in (("family", lambda row: row.family), ("kind", lambda row: row.kind)):
        for group in sorted(set(map(group_of_row, rows))):
            own = [row for row in rows if group_of_row(row) == group]
            if len(own) >= MANY:
                found += describe_widths(f"kernel left out, {words} {group}", own, measured)
    return found


def describe_widths(
    words: str,
    rows: Sequence[Row],
    measured: Measured,
    part_of: Callable[[Row], str] = kernel_of,
) -> list[str]:
    """A line about the intervals of rows, each without its own part."""
    found = [
        (error, deviation * measured.metric.width_of(kind))
        for kind, own in find_deviations(rows, measured, part_of).items()
        for error, deviation in own
    ]
    inside, half = mean(error <= half for error, half in found), median(half for _, half in found)
    return [
        f"{words}: {inside:.1%} of {len(found)} times are inside their intervals; median half width"
        f" {exp(half) - 1:.1%}"
    ]


def calibrate(rows: Sequence[Row], level: float = NOMINAL) -> dict[str, Interval]:
    """An interval for each kind of launch with enough rows of enough families, and an interval for
    all other kinds, which is as wide as the widest of these and of all rows together."""
    if not rows:
        return {UNKNOWN: Interval(0.0, inf, 0)}
    by_kind: dict[str, list[Row]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, []).append(row)
    known = {
        kind: make_interval(own, level)
        for kind, own in sorted(by_kind.items())
        if len(own) >= LEAST_WITNESSES and len({row.family for row in own}) >= LEAST_FAMILIES
    }
    widest = [*known.values(), make_interval(rows, level)]
    low, high = min(each.low for each in widest), max(each.high for each in widest)
    return {**known, UNKNOWN: Interval(low, high, len(rows))}


def make_interval(rows: Sequence[Row], level: float = NOMINAL) -> Interval:
    """Factors between which the true time over the modelled time of a new program of this kind lies
    with a probability of `level`, if its error has the same distribution.

    A new error is equally likely to fall into each of the n + 1 gaps between n ordered errors. At
    each end, as many gaps are cut off as the nominal probability allows. With too few errors, the
    ends are the outermost errors.
    """
    found = sorted(row.measured_ms / row.modelled_ms for row in rows)
    left_out = max(1, int((1 - level) / 2 * (len(found) + 1) + ROUNDING))
    low, high = found[left_out - 1], found[-left_out]
    low, high = floor(1000 * min(1.0, low)) / 1000, ceil(1000 * max(1.0, high)) / 1000
    return Interval(low, high, len(found))


def format_intervals(rows: Sequence[Row]) -> list[str]:
    """A line per interval of a kind of launch."""
    return [
        f"{kind}: {each.low - 1:+.0%} to {each.high - 1:+.0%} ({each.times} times)"
        for kind, each in calibrate(rows).items()
    ]
