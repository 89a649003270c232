"""Measured and modelled times: errors by family, the ranking, and intervals.

A family is the mechanism that kernels show: the folder in benchmarks/kernels, or for programs with
the signature of an exercise, `gemm` or `transpose`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor, inf, log
from statistics import mean, median

from jobs import KERNELS, Job
from kept_work import ModelledRun

from grader.emulator.timing.intervals import UNKNOWN, Interval

APART = 1.15
"""Ratio of two measured times from which on the model should give the right order."""
NOMINAL = 0.9
"""Fraction of times that an interval should contain."""
LEAST_HELD = 0.88
"""Least fraction of the times of left-out families that must be in their intervals."""
LEVELS = tuple((90 + step) / 100 for step in range(9))
"""Nominal probabilities of intervals to try until they contain that fraction."""
LEAST_WITNESSES, LEAST_FAMILIES = 12, 2
"""Kinds of launches with fewer errors, or errors of fewer families, get no interval."""
ROUNDING = 1e-9
TRUTH, SUBMISSIONS = "truth", "known submissions"


@dataclass(frozen=True)
class Row:
    """A program at a size: times in milliseconds, the resource that limits the modelled time, and
    the kind of its launch. `group` is `kernels`, `truth` or `known submissions`."""

    group: str
    family: str
    exercise: str
    name: str
    sizes: str
    measured_ms: float
    modelled_ms: float
    bound: str
    kind: str

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


def choose_level(rows: Sequence[Row]) -> float:
    """The least probability of LEVELS with which intervals from other families contain LEAST_HELD
    of the rows of each group. Errors within a family are similar, so intervals from other families
    hold fewer errors than intervals from independent errors would."""
    return next(
        (each for each in LEVELS if min(shares(rows, each).values()) >= LEAST_HELD), LEVELS[-1]
    )


def shares(rows: Sequence[Row], level: float) -> dict[str, float]:
    """Fractions of all rows, and of each group's, inside the intervals from other families."""
    inside = find_covered(rows, level)
    groups = [row.group for row in rows]
    held = [row.group for row in inside]
    parts = {group: held.count(group) / groups.count(group) for group in sorted(set(groups))}
    return {"all": len(inside) / max(1, len(rows)), **parts}


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


def find_covered(rows: Sequence[Row], level: float = NOMINAL) -> list[Row]:
    """The rows inside the intervals from the rows of other families."""
    covered = []
    for family in {row.family for row in rows}:
        known = calibrate([row for row in rows if row.family != family], level)
        for row in _of(rows, family):
            low, high = known.get(row.kind, known[UNKNOWN]).around(row.modelled_ms)
            if low <= row.measured_ms <= high:
                covered.append(row)
    return covered


def format_intervals(rows: Sequence[Row]) -> list[str]:
    """A line per interval."""
    return [
        f"{kind}: {each.low - 1:+.0%} to {each.high - 1:+.0%} ({each.times} times)"
        for kind, each in calibrate(rows, choose_level(rows)).items()
    ]


def describe_coverage(rows: Sequence[Row]) -> str:
    """A summary of the fraction of times inside the intervals from other families."""
    level = choose_level(rows)
    parts = ", ".join(f"{group} {part:.1%}" for group, part in shares(rows, level).items())
    return f"inside the {level:.0%} interval that the other families make: {parts} of {len(rows)}"
