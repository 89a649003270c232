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
from grader.emulator.timing.measured import SUPPORTED, Measured

APART = 1.15
"""Ratio of two measured times from which on the model should give the right order."""
NOMINAL = 0.9
"""Fraction of times that an interval should contain."""
LEAST_WITNESSES, LEAST_FAMILIES = 12, 2
"""Kinds of launches with fewer errors, or errors of fewer families, get no interval."""
ROUNDING = 1e-9
TRUTH, SUBMISSIONS = "truth", "known submissions"


@dataclass(frozen=True)
class Row:
    """A program at a size: times in milliseconds, the resource that limits the modelled time, and
    the kind and traits of its launch. `group` is `kernels`, `truth` or `known submissions`."""

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
    rows: Sequence[Row], part_of: Callable[[Row], str]
) -> list[tuple[float, float, float]]:
    """For each row the most likely error, its standard deviation and the support
    (Measured.estimate), from the rows of other parts only."""
    found: dict[int, tuple[float, float, float]] = {}
    for part in sorted(set(map(part_of, rows))):
        others = make_measured([row for row in rows if part_of(row) != part])
        for index, row in enumerate(rows):
            if part_of(row) == part:
                found[index] = others.estimate(row.kind, np.array(row.traits))
    return [found[index] for index in range(len(rows))]


def make_measured(rows: Sequence[Row]) -> Measured:
    """The corrections that these rows make, without widths of intervals."""
    kernels = [row.kernel for row in rows]
    errors = np.array([-row.log_error for row in rows])
    traits = np.array([row.traits for row in rows])
    return Measured(traits, errors, kernels, calibrate(rows), (0.0, 0.0))


def kernel_of(row: Row) -> str:
    """The part that is left out together, if other kernels of the same family are known."""
    return row.kernel


def find_deviations(
    rows: Sequence[Row], part_of: Callable[[Row], str]
) -> Iterator[tuple[Row, float, float, bool]]:
    """For each row the absolute error after the correction and its standard deviation, as
    logarithms, and whether the row has support, from the rows of other parts."""
    found = correct_left_out(rows, part_of)
    for row, (centre, deviation, support) in zip(rows, found, strict=True):
        yield row, abs(row.log_error + centre), deviation, support > SUPPORTED


def choose_widths(rows: Sequence[Row]) -> tuple[float, float]:
    """Half the width of an interval in standard deviations, without and with support: it contains
    NOMINAL of the rows, whose kernels are left out."""
    found: tuple[list[float], list[float]] = ([], [])
    for _, error, deviation, supported in find_deviations(rows, kernel_of):
        found[supported].append(error / deviation)
    little, much = (round(quantile(sorted(each), NOMINAL), 2) for each in found)
    return little, much


def correct_rows(rows: Sequence[Row], measured: Measured) -> list[Row]:
    """The rows with corrected modelled times; each kernel is left out of its own correction."""
    centres = (measured.estimate(row.kind, np.array(row.traits), row.kernel)[0] for row in rows)
    return [
        replace(row, modelled_ms=row.modelled_ms * exp(centre))
        for row, centre in zip(rows, centres, strict=True)
    ]


def describe_intervals(rows: Sequence[Row], widths: tuple[float, float]) -> list[str]:
    """Summaries: the fraction of times inside their intervals, and half the width of these."""
    lines = []
    for part, part_of in (("kernel", kernel_of), ("family", lambda row: row.family)):
        found = list(find_deviations(rows, part_of))
        for supported, which in ((True, "with"), (False, "without")):
            of_these = [each for each in found if each[3] is supported]
            halves = [deviation * widths[supported] for _, _, deviation, _ in of_these]
            errors = (error for _, error, _, _ in of_these)
            inside = [error <= half for error, half in zip(errors, halves, strict=True)]
            lines.append(
                f"{part} left out, {which} similar kernels: {mean(inside):.1%} of {len(inside)}"
                f" times are inside their intervals; median half width"
                f" {exp(median(halves)) - 1:.1%}"
            )
    return lines


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
