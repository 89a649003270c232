"""A score and the way to it on a terminal, or in a pipe. The only home of rich.

Verdicts are words and glyphs first and colour second. Nothing of a submission is taken for markup
or terminal control.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, TextIO

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from grader.metrics import format_value
from grader.records import (
    CaseResult,
    CheckResult,
    CheckStatus,
    Finding,
    Mismatch,
    Progress,
    Score,
    ShowProgress,
    Status,
)
from grader.report.measurement import format_measurement
from grader.report.printed import format_printed
from grader.report.text import clean_line, clean_text, fold_to_ascii, speaks_unicode
from grader.words.headlines import GLYPHS, WORDS, format_headlines, format_remark

_PIPE_WIDTH = 110
_TEXT_WIDTH = 110
_TABLE_WIDTH = 70
"""Below this many columns the table becomes a list."""
_DETAIL_LINES = 60
_SHOWN_FINDINGS = 4

_STYLES: Mapping[CheckStatus, str] = {
    CheckStatus.PASSED: "green",
    CheckStatus.PARTIAL: "yellow",
    CheckStatus.FAILED: "red",
    CheckStatus.SKIPPED: "dim",
    CheckStatus.NOT_MEASURED: "dim",
}

_FAILURE_TITLES: Mapping[Status, str] = {
    Status.COMPILE_ERROR: "Compile error",
    Status.LAUNCH_ERROR: "Launch error",
    Status.RUNTIME_ERROR: "Runtime error",
    Status.TIMEOUT: "Timeout",
    Status.REJECTED: "Rejected",
    Status.UNSUPPORTED: "Not supported by this device",
    Status.INCONCLUSIVE: "Inconclusive",
    Status.GRADER_ERROR: "The grader failed",
}

_LEGEND: Mapping[str, str] = {
    "·": "right",
    "▒": "some wrong",
    "█": "all wrong",
    "?": "never written",
}


def make_console(
    stream: TextIO, *, environ: Mapping[str, str] | None = None, width: int | None = None
) -> Console:
    """A console on a stream. `environ` (default: the process's) may hold NO_COLOR, COLUMNS and
    TERM."""
    variables = os.environ if environ is None else environ
    # rich alone would keep bold and dim under NO_COLOR; without a colour system it writes no
    # sequence at all.
    colors: Literal["auto"] | None = None if variables.get("NO_COLOR") else "auto"
    console = Console(
        file=stream,
        width=width,
        color_system=colors,
        markup=False,
        highlight=False,
        emoji=False,
        _environ=variables,
    )
    if width is None and not console.is_terminal and not variables.get("COLUMNS"):
        console.width = _PIPE_WIDTH
    return console


def print_score(score: Score, *, console: Console) -> None:
    """Print a score: the promised lines, the table or the failure, the total, where it is wrong,
    and what to try."""
    page = _Page(console)
    for status, line in format_headlines(score.checks):
        page.write(line, style=_STYLES[status], hanging=2)
    if score.status in _FAILURE_TITLES:
        _print_failure(score, page)
    else:
        _print_checks(score.checks, page)
    _print_total(score, page)
    if score.status not in _FAILURE_TITLES:
        _print_wrong_case(score.cases, page)
        _print_findings(score, page)
        _print_hints(score.checks, page)
    for block in format_printed(score):
        page.write_heading(block.heading)
        page.write_verbatim("\n".join(block.lines), indent=2)


@contextmanager
def progress_display(console: Console, *, quiet: bool = False) -> Iterator[ShowProgress]:
    """Yields the callable that shows progress: a bar on a terminal, a line per stage in a pipe,
    nothing when quiet."""
    if quiet:
        yield lambda progress: None
    elif console.is_terminal and not console.is_dumb_terminal:
        with _progress_bar(console) as bar:
            yield _show_on(bar)
    else:
        yield _lines_per_stage(_Page(console))


class _Page:
    """Writes cleaned, wrapped lines on a console, in ASCII where its stream is not UTF-8."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.ascii = not speaks_unicode(console.encoding)

    def text(self, line: str, style: str = "") -> Text:
        """One line of text; nothing in it is markup."""
        return self._folded(clean_line(line), style)

    def write(self, line: str, *, style: str = "", indent: int = 0, hanging: int = 0) -> None:
        """Write one paragraph, wrapped; its further lines are indented by `hanging` more
        columns."""
        width = max(20, min(self.console.width, _TEXT_WIDTH) - indent - hanging)
        for number, part in enumerate(self.text(line, style).wrap(self.console, width)):
            part.rstrip()
            self.console.print(
                Text(" " * (indent + (hanging if number else 0))) + part, soft_wrap=True
            )

    def write_verbatim(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Write lines as they are: a caret under a column must stay there."""
        for line in clean_text(text).rstrip("\n").split("\n"):
            self.console.print(Text(" " * indent) + self._folded(line, style), soft_wrap=True)

    def write_heading(self, line: str, *, style: str = "bold") -> None:
        self.console.print()
        self.write(line, style=style)

    def _folded(self, line: str, style: str) -> Text:
        return Text(fold_to_ascii(line) if self.ascii else line, style=style)


# --- the table ------------------------------------------------------------------------------------


def _print_checks(checks: Sequence[CheckResult], page: _Page) -> None:
    page.console.print()
    if page.console.width < _TABLE_WIDTH:
        for check in checks:
            _print_check(check, page)
    else:
        page.console.print(_make_table(checks, page))


def _make_table(checks: Sequence[CheckResult], page: _Page) -> Table:
    plain = page.ascii or not page.console.is_terminal
    table = Table(
        box=None if plain else box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="bold",
    )
    table.add_column(page.text("Check"))
    for title in ("Value", "Goal", "Points"):
        table.add_column(title, justify="right")
    table.add_column("Result")
    for check in checks:
        style = _STYLES[check.status]
        table.add_row(
            page.text(_label(check)),
            page.text(_value(check)),
            page.text(check.threshold),
            _points(check),
            page.text(_verdict(check), style),
        )
    return table


def _print_check(check: CheckResult, page: _Page) -> None:
    page.write(
        f"{GLYPHS[check.status]} {_label(check)}: {_verdict(check)[2:]}",
        style=_STYLES[check.status],
        hanging=2,
    )
    value = f"{_value(check)}, goal" if check.value is not None else "goal"
    page.write(f"{value} {check.threshold}; points {_points(check)}", indent=2)


def _label(check: CheckResult) -> str:
    """One name for a check in every part of the page: that of its promised line, if it has one."""
    return check.headline or check.title


def _value(check: CheckResult) -> str:
    return "" if check.value is None else format_value(check.metric, check.value)


def _points(check: CheckResult) -> str:
    if check.status is CheckStatus.NOT_MEASURED:
        return f"- / {check.max_points:g}"
    return f"{check.points:g} / {check.max_points:g}"


def _verdict(check: CheckResult) -> str:
    """The verdict in the table, with its remark where that does not stand at the head of the page
    already."""
    remark = "" if check.headline and not check.in_doubt else format_remark(check)
    return f"{GLYPHS[check.status]} {WORDS[check.status]}" + (f": {remark}" if remark else "")


def _print_total(score: Score, page: _Page) -> None:
    page.console.print()
    lost = score.max_score - score.judged_points
    total = f"{score.score:g} of {score.judged_points:g} points"
    if lost:
        total += f" that this device can judge ({lost:g} of {score.max_score:g} were not measured)"
    page.write(f"Score: {total}", style="bold", hanging=2)
    if score.device is not None:
        page.write(
            f"Device: {score.device.name} ({score.device.stands_for})", style="dim", hanging=2
        )
    for line in format_measurement(score):
        page.write(line, style="dim", hanging=2)


# --- what went wrong ------------------------------------------------------------------------------


def _print_failure(score: Score, page: _Page) -> None:
    page.write_heading(f"{_FAILURE_TITLES[score.status]}: {score.message}", style="bold red")
    lines = clean_text(score.detail).rstrip("\n").split("\n") if score.detail.strip() else []
    if lines:
        page.console.print()
        page.write_verbatim("\n".join(lines[:_DETAIL_LINES]))
    if len(lines) > _DETAIL_LINES:
        page.write(
            f"... and {len(lines) - _DETAIL_LINES} more lines: --json FILE keeps them all",
            style="dim",
        )
    texts = {line.line: line.text for line in score.lines}
    for finding in score.findings:
        _print_finding(finding, score.message, texts, page)
    if score.advice:
        page.write_heading("What to try")
        page.write(score.advice, indent=2)


def _print_findings(score: Score, page: _Page) -> None:
    """What the checked mode found in a submission that ran to its end."""
    if not score.findings:
        return
    page.write_heading("Found in the checked mode")
    texts = {line.line: line.text for line in score.lines}
    for finding in score.findings[:_SHOWN_FINDINGS]:
        _print_finding(finding, "", texts, page)
    if len(score.findings) > _SHOWN_FINDINGS:
        page.console.print()
        page.write(
            f"... and {len(score.findings) - _SHOWN_FINDINGS} more: --json FILE keeps them all",
            indent=2,
            style="dim",
        )


def _print_finding(
    finding: Finding, known: str, texts: Mapping[int | None, str], page: _Page
) -> None:
    page.console.print()
    if not known.startswith(finding.message):
        page.write(finding.message, indent=2)
    where = [
        f"kernel {finding.kernel}" if finding.kernel else "",
        f"block {finding.block}" if finding.block else "",
        f"thread {finding.thread}" if finding.thread else "",
        (
            f"{finding.buffer} + {finding.offset_bytes:,} bytes"
            if finding.buffer and finding.offset_bytes is not None
            else ""
        ),
    ]
    if any(where):
        page.write("at " + ", ".join(part for part in where if part), indent=2, hanging=2)
    for line in dict.fromkeys((finding.other_line, finding.line)):
        if line is not None and texts.get(line):
            page.write_verbatim(f"{line:>5} | {clean_line(texts[line])}", indent=2, style="bold")


def _print_wrong_case(cases: Sequence[CaseResult], page: _Page) -> None:
    """The first wrong case, one of the exercise itself if there is one, and a public one if there
    is one: its sizes may be told."""
    wrong = sorted(
        (case for case in cases if not case.passed),
        key=lambda case: (case.part is not None, case.hidden),
    )
    if not wrong:
        return
    case = wrong[0]
    sizes = (
        "hidden sizes"
        if case.hidden
        else ", ".join(f"{name} = {size:,}" for name, size in case.sizes.items())
    )
    name = f"{case.part}, {case.name}" if case.part else case.name
    page.write_heading(f"Where it is wrong: case {name} ({sizes})")
    page.write(case.message, indent=2, hanging=2)
    if case.mismatch is not None:
        page.write(_first_wrong(case.mismatch), indent=2, hanging=2)
        page.write(f"worst error: {_error(case.mismatch.worst_error)}", indent=2)
        _print_picture(case.mismatch.picture, page)


def _first_wrong(mismatch: Mismatch) -> str:
    place = "".join(f"[{i}]" for i in mismatch.index or ())
    expected, got = _two_figures(mismatch.expected, mismatch.got)
    return f"first wrong: {mismatch.buffer}{place}, expected {expected}, got {got}"


def _error(worst: float) -> str:
    return f"{worst:.4g}" if math.isfinite(worst) else "not a finite number"


def _two_figures(expected: float, got: float) -> tuple[str, str]:
    """Both with as few digits as tell them apart."""
    pairs = ((f"{expected:.{digits}g}", f"{got:.{digits}g}") for digits in (6, 9, 12, 17))
    return next((pair for pair in pairs if pair[0] != pair[1]), (repr(expected), repr(got)))


def _print_picture(picture: Sequence[str], page: _Page) -> None:
    if not picture:
        return
    page.console.print()
    for row in picture:
        # A cell is two characters wide: about as wide as it is high.
        page.write_verbatim("".join(2 * cell for cell in row), indent=4)
    used = [
        f"{glyph} {meaning}"
        for glyph, meaning in _LEGEND.items()
        if any(glyph in row for row in picture)
    ]
    page.write("   ".join(used).replace("   ", ", "), indent=4, style="dim")


def _print_hints(checks: Sequence[CheckResult], page: _Page) -> None:
    hinted = [check for check in checks if check.hint]
    if hinted:
        page.write_heading("What to try")
    for check in hinted:
        page.write(f"{_label(check)}: {check.hint}", indent=2, hanging=2)


# --- progress -------------------------------------------------------------------------------------


def _progress_bar(console: Console) -> ProgressBar:
    return ProgressBar(
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        console=console,
        transient=True,
    )


def _show_on(bar: ProgressBar) -> ShowProgress:
    task = bar.add_task("", total=None)
    return lambda progress: bar.update(
        task, description=clean_line(progress.stage), completed=progress.done, total=progress.total
    )


def _lines_per_stage(page: _Page) -> Callable[[Progress], None]:
    last_stage = ""

    def show(progress: Progress) -> None:
        nonlocal last_stage
        if progress.stage != last_stage:
            last_stage = progress.stage
            page.write(progress.stage)

    return show
