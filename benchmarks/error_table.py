"""Measured times beside modelled ones: errors by family, the ranking, and intervals.

A family is the mechanism that kernels show: the folder of benchmarks/kernels, and of programs that
have the signature of an exercise, `gemm` and `transpose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, exp, log
from statistics import mean, median

from jobs import KERNELS, Job

APART = 1.15
"""Two measured times this far apart are to be in the right order."""
NOMINAL = 0.9
"""The share of times that an interval is to hold."""
LEAST_WITNESSES = 8
"""Fewer errors than these say nothing of a bound: those of all bounds are taken instead."""
TRUTH, SUBMISSIONS = "truth", "known submissions"


@dataclass(frozen=True)
class Row:
    """One program at one size: times in milliseconds, and what bounds the modelled one. `group` is
    `kernels`, `truth` or `known submissions`."""

    group: str
    family: str
    exercise: str
    name: str
    sizes: str
    measured_ms: float
    modelled_ms: float
    bound: str

    @property
    def error(self) -> float:
        return self.modelled_ms / self.measured_ms - 1

    @property
    def log_error(self) -> float:
        return log(self.modelled_ms / self.measured_ms)


def make_row(job: Job, measured_ms: float, modelled_ms: float, bound: str) -> Row:
    """The row of a job."""
    return Row(
        group_of(job),
        family_of(job),
        job.exercise,
        job.name,
        job.label,
        measured_ms,
        modelled_ms,
        bound,
    )


def family_of(job: Job) -> str:
    """What is left out of a fit together."""
    return job.run.family if job.run is not None else job.exercise.partition("_")[0]


def group_of(job: Job) -> str:
    """What errors are told of together."""
    if job.exercise == KERNELS:
        return KERNELS
    return TRUTH if job.name.startswith("truth/") else SUBMISSIONS


# --- errors ---------------------------------------------------------------------------------------


def describe(rows: Sequence[Row]) -> str:
    """Absolute errors of some rows in words, and the mean of the errors with their sign."""
    found = sorted(abs(row.error) for row in rows)
    return (
        f"{len(rows)} times, mean absolute error {mean(found):.1%}, median {median(found):.1%},"
        f" p90 {quantile(found, 0.9):.1%}, worst {found[-1]:.1%}, signed mean"
        f" {mean(row.error for row in rows):+.1%}"
    )


def tabulate(rows: Sequence[Row], others: Mapping[str, Sequence[Row]]) -> Iterator[dict[str, str]]:
    """The cells of a table of errors by family, all together last; `others` are the same times
    modelled in other ways, of which the mean and the worst error stand beside."""
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
    """The lines of this table."""
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
    """The least of some numbers, which are in order, that at least this part of them does not
    exceed."""
    return ordered[max(0, ceil(part * len(ordered)) - 1)]


def rank(rows: Sequence[Row]) -> tuple[int, int]:
    """Pairs of one exercise and size that are apart, and how many of them the model orders
    right."""
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


def calibrate(rows: Iterable[Row]) -> Callable[[str], float]:
    """How far a time with this bound may be off, as a logarithm, so that NOMINAL of the rows are
    within."""
    by_bound: dict[str, list[float]] = {}
    for row in rows:
        by_bound.setdefault(row.bound, []).append(abs(row.log_error))
    everything = sorted(error for errors in by_bound.values() for error in errors)
    widths = {
        bound: quantile(sorted(errors), NOMINAL)
        for bound, errors in by_bound.items()
        if len(errors) >= LEAST_WITNESSES
    }
    rest = quantile(everything, NOMINAL) if everything else float("inf")
    return lambda bound: widths.get(bound, rest)


def count_covered(rows: Sequence[Row]) -> int:
    """How many rows lie in the intervals that the other families' rows make."""
    covered = 0
    for family in {row.family for row in rows}:
        width = calibrate(row for row in rows if row.family != family)
        covered += sum(abs(row.log_error) <= width(row.bound) for row in _of(rows, family))
    return covered


def format_intervals(rows: Sequence[Row]) -> list[str]:
    """The widths by bound, and the share of times inside."""
    width = calibrate(rows)
    bounds = sorted({row.bound for row in rows})
    lines = [
        f"interval of {bound}: {exp(-width(bound)) - 1:+.0%} to {exp(width(bound)) - 1:+.0%}"
        f" ({sum(row.bound == bound for row in rows)} times)"
        for bound in bounds
    ]
    covered = count_covered(rows)
    share = f"{covered} of {len(rows)} times ({covered / max(1, len(rows)):.1%})"
    return [*lines, f"{share} are inside the {NOMINAL:.0%} interval that the other families make"]
