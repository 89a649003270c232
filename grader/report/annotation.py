"""A submission's source with what each line cost, as the profiler's source page has it: rows for
whoever shows them.

Pure data: nothing here is coloured, cut or escaped. `source_page` shows it on a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.metrics import format_value
from grader.records import Counters, Finding, Score, Submission

HOT_SHARE = 0.2
"""A line is hot that has at least this share of what all lines together cost in one of the
columns."""


@dataclass(frozen=True)
class Column:
    """One figure of a line. `figure` is None where the line has none; `cost` is what lines share,
    where the figure is a sum.

    `titles` are its heading in two lines; `figure` is also given the sum of lines.
    """

    name: str
    titles: tuple[str, str]
    meaning: str
    figure: Callable[[Counters], float | None]
    format: Callable[[float], str]
    cost: Callable[[Counters], int] | None = None


@dataclass(frozen=True)
class AnnotatedLine:
    """A line of the source as it stands there, or, with `number` None, the code that belongs to no
    line.

    `figures` are by column name, none where the line has no code. `shares` are its shares of the
    columns that are costs, 0 to 1.
    """

    number: int | None
    text: str
    figures: Mapping[str, float]
    shares: Mapping[str, float]
    findings: tuple[Finding, ...] = ()

    @property
    def hot(self) -> bool:
        """Whether one of the costs lies here to a large part."""
        return any(share >= HOT_SHARE for share in self.shares.values())


@dataclass(frozen=True)
class Annotation:
    """The rows of a source page. `columns` are those in which any line has a figure; `total` are
    the figures of all lines together.

    `sizes` are those at which it was counted, over all launches of the plan; empty where nothing
    was counted.
    """

    name: str
    sizes: Mapping[str, int]
    columns: tuple[Column, ...]
    lines: tuple[AnnotatedLine, ...]
    total: Mapping[str, float]


def annotate(score: Score, submission: Submission) -> Annotation:
    """The rows of a score's source page. `submission` is the text that was graded."""
    counted = {line.line: line.counters for line in score.lines} if score.line_sizes else {}
    everything = sum(counted.values(), Counters())
    total = _figures(everything)
    lines = [
        _annotate_line(number, text, counted.get(number), everything, score)
        for number, text in enumerate(submission.lines, 1)
    ]
    beyond = [
        counters for number, counters in counted.items() if number is None or number > len(lines)
    ]
    if beyond:
        lines.append(
            _annotate_line(
                None, "(code that belongs to no line)", sum(beyond, Counters()), everything, score
            )
        )
    columns = tuple(column for column in COLUMNS if column.name in total) if counted else ()
    return Annotation(submission.name, score.line_sizes, columns, tuple(lines), total)


def _annotate_line(
    number: int | None, text: str, counters: Counters | None, everything: Counters, score: Score
) -> AnnotatedLine:
    findings = tuple(
        finding for finding in score.findings if number is not None and finding.line == number
    )
    if counters is None:
        return AnnotatedLine(number, text, {}, {}, findings)
    return AnnotatedLine(number, text, _figures(counters), _shares(counters, everything), findings)


def _figures(counters: Counters) -> dict[str, float]:
    found = {column.name: column.figure(counters) for column in COLUMNS}
    return {name: value for name, value in found.items() if value is not None}


def _shares(counters: Counters, everything: Counters) -> dict[str, float]:
    costs = {
        column.name: (column.cost(counters), column.cost(everything))
        for column in COLUMNS
        if column.cost
    }
    return {name: cost / total for name, (cost, total) in costs.items() if total and cost}


# --- the columns ----------------------------------------------------------------------------------


def _wavefronts(c: Counters) -> float | None:
    return c.shared_wavefronts or None


def _excess(c: Counters) -> float | None:
    return c.shared_wavefronts_excessive if c.shared_wavefronts else None


def _active_lanes(c: Counters) -> float | None:
    return _ratio(c.thread_instructions_executed, c.instructions_executed)


def _ratio(value: int, by: int) -> float | None:
    return value / by if by else None


def _format_count(value: float) -> str:
    return f"{int(value):,}"


def _format_ratio(value: float) -> str:
    """One decimal, rounded down: 31.97 lanes are not all of them."""
    return f"{int(10 * value) / 10:.1f}"


def _format_share(value: float) -> str:
    return format_value("global_load_efficiency", value)


COLUMNS = (
    Column(
        "instructions",
        ("warp", "instr."),
        "warp instructions executed",
        lambda c: c.instructions_executed,
        _format_count,
        lambda c: c.instructions_executed,
    ),
    Column(
        "active_lanes",
        ("active", "lanes"),
        "threads that took part, of a warp's 32, on average",
        _active_lanes,
        _format_ratio,
    ),
    Column(
        "wavefronts",
        ("wave-", "fronts"),
        "passes that accesses to shared memory took",
        _wavefronts,
        _format_count,
    ),
    Column(
        "excess",
        ("", "excess"),
        "of these, passes beyond the ideal: bank conflicts",
        _excess,
        _format_count,
        lambda c: c.shared_wavefronts_excessive,
    ),
    Column(
        "load_sectors",
        ("loads", "s/req"),
        "32-byte sectors that a load of a warp from global memory moves",
        lambda c: _ratio(c.global_reads.sectors, c.global_reads.requests),
        _format_ratio,
        lambda c: c.global_reads.sectors - c.global_reads.sectors_ideal,
    ),
    Column(
        "load_efficiency",
        ("", "used"),
        "share of their bytes that was asked for",
        lambda c: c.global_load_efficiency,
        _format_share,
    ),
    Column(
        "store_sectors",
        ("stores", "s/req"),
        "32-byte sectors that a store or an atomic of a warp moves",
        lambda c: _ratio(c.global_writes.sectors, c.global_writes.requests),
        _format_ratio,
        lambda c: c.global_writes.sectors - c.global_writes.sectors_ideal,
    ),
    Column(
        "store_efficiency",
        ("", "used"),
        "share of their bytes that was asked for",
        lambda c: c.global_store_efficiency,
        _format_share,
    ),
)
