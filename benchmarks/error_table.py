"""Measured times beside modelled ones: errors by family, the ranking, and intervals.

A family is the mechanism that kernels show: the folder of benchmarks/kernels, and of programs that
have the signature of an exercise, `gemm` and `transpose`.
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
"""Two measured times this far apart are to be in the right order."""
NOMINAL = 0.9
"""The share of times that an interval is to hold."""
LEAST_HELD = 0.88
"""The least share of times of families left out that may lie inside."""
LEVELS = tuple((90 + step) / 100 for step in range(9))
"""Nominal probabilities that intervals may be made with, so that they hold so many."""
LEAST_WITNESSES, LEAST_FAMILIES = 12, 2
"""Fewer errors than these, or those of fewer families, say nothing of a kind of launch."""
ROUNDING = 1e-9
TRUTH, SUBMISSIONS = "truth", "known submissions"


@dataclass(frozen=True)
class Row:
    """One program at one size: times in milliseconds, what bounds the modelled one, and the kind
    of its launch. `group` is `kernels`, `truth` or `known submissions`."""

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


def choose_level(rows: Sequence[Row]) -> float:
    """The least nominal probability of LEVELS with which LEAST_HELD of the rows of each group lie
    in the intervals that other families make: errors of one family are alike, so that those of
    others say less of it than independent ones would."""
    return next(
        (each for each in LEVELS if min(shares(rows, each).values()) >= LEAST_HELD), LEVELS[-1]
    )


def shares(rows: Sequence[Row], level: float) -> dict[str, float]:
    """The parts of all rows and of each group's that lie in the intervals that other families
    make."""
    inside = find_covered(rows, level)
    groups = [row.group for row in rows]
    held = [row.group for row in inside]
    parts = {group: held.count(group) / groups.count(group) for group in sorted(set(groups))}
    return {"all": len(inside) / max(1, len(rows)), **parts}


def calibrate(rows: Sequence[Row], level: float = NOMINAL) -> dict[str, Interval]:
    """The interval of each kind of launch that enough rows of enough families tell of, and the one
    of all other kinds, which is as wide as the widest of these and of all rows together."""
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
    """By which factors the true time of a further program of the same kind lies below and above the
    modelled one at most, with a probability of `level` where its error is drawn as theirs are.

    Of n errors in order and a further one, each of the n + 1 places of the latter is as likely as
    the others: as many places as the nominal probability allows are left out at each end. The ends
    are the outermost errors where there are too few to leave any out.
    """
    found = sorted(row.measured_ms / row.modelled_ms for row in rows)
    left_out = max(1, int((1 - level) / 2 * (len(found) + 1) + ROUNDING))
    low, high = found[left_out - 1], found[-left_out]
    low, high = floor(1000 * min(1.0, low)) / 1000, ceil(1000 * max(1.0, high)) / 1000
    return Interval(low, high, len(found))


def find_covered(rows: Sequence[Row], level: float = NOMINAL) -> list[Row]:
    """The rows that lie in the intervals that the other families' rows make."""
    covered = []
    for family in {row.family for row in rows}:
        known = calibrate([row for row in rows if row.family != family], level)
        for row in _of(rows, family):
            low, high = known.get(row.kind, known[UNKNOWN]).around(row.modelled_ms)
            if low <= row.measured_ms <= high:
                covered.append(row)
    return covered


def format_intervals(rows: Sequence[Row]) -> list[str]:
    """The intervals."""
    return [
        f"{kind}: {each.low - 1:+.0%} to {each.high - 1:+.0%} ({each.times} times)"
        for kind, each in calibrate(rows, choose_level(rows)).items()
    ]


def describe_coverage(rows: Sequence[Row]) -> str:
    """The share of times that lie in the intervals that other families make, in words."""
    level = choose_level(rows)
    told = ", ".join(f"{group} {part:.1%}" for group, part in shares(rows, level).items())
    return f"inside the {level:.0%} interval that the other families make: {told} of {len(rows)}"
