"""A source with the cost of each line, like the source page of a profiler: rows for any renderer.

Pure data: nothing here is coloured, cut or escaped. `source_page` shows it on a terminal,
`html.source_table` on a page; each has its own columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.cpp.signatures import find_kernel_lines
from grader.metrics import format_value
from grader.records import Counters, Finding, KernelRun, LineCounters, Score, WarpAccess
from grader.report.worst_accesses import POOR_EFFICIENCY, accesses_of_lines

HOT_SHARE = 0.2
"""A line is hot if it has at least this share of a column's total cost."""
MOST_PICTURES = 8
"""Most accesses of a source that are drawn."""


@dataclass(frozen=True)
class Column:
    """A figure of a line, None where the line has none. `titles` are its heading in two lines.

    `cost` is set where the figure is a sum, of which lines have shares; `note` explains a bad
    figure of a line, or is empty.
    """

    name: str
    titles: tuple[str, str]
    meaning: str
    figure: Callable[[Counters], float | None]
    format: Callable[[float], str]
    cost: Callable[[Counters], int] | None = None
    note: Callable[[Counters], str] = lambda counters: ""


@dataclass(frozen=True)
class AnnotatedLine:
    """A line of the source as it stands there, or, with `number` None, the code that belongs to no
    line.

    `figures` and `notes` are by column name, none where the line has no code. `shares` are its
    shares of the columns that are costs, 0 to 1. `findings` are those made at the line; `named`:
    one of them, or the other access of one, is here.
    """

    number: int | None
    text: str
    figures: Mapping[str, float]
    shares: Mapping[str, float]
    notes: Mapping[str, str]
    findings: tuple[Finding, ...] = ()
    named: bool = False

    @property
    def hot(self) -> bool:
        """Whether the line has a large part of one of the costs."""
        return any(share >= HOT_SHARE for share in self.shares.values())


@dataclass(frozen=True)
class Fold:
    """A kernel that was not launched: the first and the last line that need not be shown."""

    kernel: str
    first: int
    last: int


@dataclass(frozen=True)
class Annotation:
    """The rows of a source. `columns` are those in which any line has a figure; `total` are the
    figures of all lines together.

    `sizes` are the sizes of the counted run, over all launches of the plan; empty where nothing was
    counted. `folds` are the kernels that were not launched: of each, the lines of its body.
    `accesses` are the worst accesses of the lines that lose most.
    """

    name: str
    sizes: Mapping[str, int]
    columns: tuple[Column, ...]
    lines: tuple[AnnotatedLine, ...]
    total: Mapping[str, float]
    folds: tuple[Fold, ...] = ()
    accesses: tuple[WarpAccess, ...] = ()


def annotate(score: Score, source: str | None, columns: Sequence[Column]) -> Annotation:
    """The rows of the graded source; without the source, the rows of the lines in the score."""
    if source is None:
        texts = {line.line: line.text for line in score.lines if line.line is not None}
    else:
        texts = number_lines(source)
    counted = {line.line: line.counters for line in score.lines} if score.line_sizes else {}
    accesses = accesses_of_lines(score.accesses, score.lines, MOST_PICTURES)
    named = score.submission_name, score.line_sizes
    return replace(_annotate(*named, texts, counted, score.findings, columns), accesses=accesses)


def annotate_run(run: KernelRun, columns: Sequence[Column]) -> Annotation:
    """The rows of a source that ran without an exercise, with the counters of all launches."""
    counted: dict[int | None, Counters] = {}
    lines: list[LineCounters] = [line for launch in run.launches for line in launch.lines]
    for line in lines:
        counted[line.line] = counted.get(line.line, Counters()) + line.counters
    texts = number_lines(run.source)
    annotation = _annotate(run.source_name, run.sizes, texts, counted, run.findings, columns)
    return replace(annotation, accesses=accesses_of_lines(run.accesses, lines, MOST_PICTURES))


def number_lines(source: str) -> dict[int, str]:
    """The lines as compilers count them."""
    return dict(enumerate(source.removesuffix("\n").split("\n"), 1))


def _annotate(
    name: str,
    sizes: Mapping[str, int],
    texts: Mapping[int, str],
    counted: Mapping[int | None, Counters],
    findings: Sequence[Finding],
    columns: Sequence[Column],
) -> Annotation:
    total = sum(counted.values(), Counters())
    figures = _figures(columns, total)
    shown = tuple(column for column in columns if column.name in figures) if counted else ()
    lines = [
        _annotate_line(number, text, counted.get(number), total, findings, columns)
        for number, text in texts.items()
    ]
    beyond = [counters for number, counters in counted.items() if number not in texts]
    if beyond:
        rest, text = sum(beyond, Counters()), "(code that belongs to no line)"
        lines.append(_annotate_line(None, text, rest, total, (), columns))
    folds = tuple(_find_folds(texts, lines)) if shown else ()
    return Annotation(name, sizes, shown, tuple(lines), figures, folds)


def _find_folds(texts: Mapping[int, str], lines: Sequence[AnnotatedLine]) -> Iterator[Fold]:
    """The kernels without machine code that ran and without a finding. Where only some lines are
    available, there are no folds."""
    if [*texts] != [*range(1, len(texts) + 1)]:
        return
    used = {line.number for line in lines if line.figures or line.named}
    for kernel, first, last in find_kernel_lines("\n".join(texts.values())):
        if last > first and not used & {*range(first, last + 1)}:
            yield Fold(kernel, first + 1, last)


def _annotate_line(
    number: int | None,
    text: str,
    counters: Counters | None,
    total: Counters,
    known: Sequence[Finding],
    columns: Sequence[Column],
) -> AnnotatedLine:
    findings = tuple(finding for finding in known if finding.line == number)
    named = any(number in (finding.line, finding.other_line) for finding in known)
    if counters is None:
        return AnnotatedLine(number, text, {}, {}, {}, findings, named)
    costs = ((each.name, each.cost(counters), each.cost(total)) for each in columns if each.cost)
    shares = {name: cost / whole for name, cost, whole in costs if whole and cost}
    notes = {column.name: column.note(counters) for column in columns}
    figures = _figures(columns, counters)
    return AnnotatedLine(number, text, figures, shares, notes, findings, named)


def _figures(columns: Sequence[Column], counters: Counters) -> dict[str, float]:
    found = {column.name: column.figure(counters) for column in columns}
    return {name: value for name, value in found.items() if value is not None}


# --- the columns ----------------------------------------------------------------------------------


def _ratio(value: int, by: int) -> float | None:
    return value / by if by else None


def _format_count(value: float) -> str:
    return f"{int(value):,}"


def _format_ratio(value: float) -> str:
    """One decimal, rounded down: 31.97 lanes must not look like 32."""
    return f"{int(10 * value) / 10:.1f}"


def _format_share(value: float) -> str:
    return format_value("global_load_efficiency", value)


TERMINAL_COLUMNS = (
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
        lambda c: _ratio(c.thread_instructions_executed, c.instructions_executed),
        _format_ratio,
    ),
    Column(
        "wavefronts",
        ("wave-", "fronts"),
        "passes that accesses to shared memory took",
        lambda c: c.shared_wavefronts or None,
        _format_count,
    ),
    Column(
        "excess",
        ("", "excess"),
        "of these, passes beyond the ideal: bank conflicts",
        lambda c: c.shared_wavefronts_excessive if c.shared_wavefronts else None,
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
"""The columns that fit beside the source: for memory, the cost of one access."""


def _explain_waste(efficiency: float | None) -> str:
    if efficiency is None or efficiency >= POOR_EFFICIENCY:
        return ""
    return f"{100 * efficiency:.3g} % of the moved bytes are useful"


def _explain_conflicts(c: Counters) -> str:
    return f"{c.shared_wavefronts:,} wavefronts, {c.shared_wavefronts_ideal:,} would do"


PAGE_COLUMNS = (
    Column(
        "instructions",
        ("Instructions", ""),
        "warp instructions executed",
        lambda c: c.instructions_executed or None,
        _format_count,
    ),
    Column(
        "load_sectors",
        ("Load sectors", ""),
        "32-byte sectors that global loads and atomics asked for",
        lambda c: c.global_reads.sectors or None,
        _format_count,
        note=lambda c: _explain_waste(c.global_load_efficiency),
    ),
    Column(
        "store_sectors",
        ("Store sectors", ""),
        "32-byte sectors that global stores and atomics wrote",
        lambda c: c.global_writes.sectors or None,
        _format_count,
        note=lambda c: _explain_waste(c.global_store_efficiency),
    ),
    Column(
        "wavefronts",
        ("Shared wavefronts", ""),
        "passes that shared-memory accesses took",
        lambda c: c.shared_wavefronts or None,
        _format_count,
    ),
    Column(
        "excess",
        ("Bank conflicts", ""),
        "wavefronts beyond the ideal number",
        lambda c: c.shared_wavefronts_excessive or None,
        _format_count,
        note=_explain_conflicts,
    ),
)
"""The columns of a page: sums, whose notes explain high values."""
