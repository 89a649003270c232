"""A score on a terminal: the promised lines, the table of checks, the wrong outputs, the advice,
and the three lines that end the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from grader.messages.explanations import list_pages, name_pages
from grader.messages.findings import describe_place, format_finding
from grader.messages.headlines import format_check_value, format_headlines, format_remark
from grader.messages.host_findings import describe_mistake
from grader.messages.output_advice import describe_case
from grader.messages.predictions import MARKS
from grader.messages.reasons import PUBLIC_ONLY, describe_cost
from grader.messages.sizes import list_sizes
from grader.records import CaseResult, CheckResult, Finding, Prediction, Printed, Score
from grader.records.program_metrics import HOST_FINDINGS
from grader.report.ending import print_ending
from grader.report.measurement import format_measurement
from grader.report.terminal import Page
from grader.report.text import clean_text, escape_controls
from grader.report.warp_pictures import print_score_pictures
from grader.report.worst_accesses import accesses_of_checks
from grader.report.wrong_case import describe_mismatch, draw_mismatch, find_wrong_case

_TABLE_WIDTH = 70
"""Below this many columns the table becomes a list."""
_DETAIL_LINES = 60
_SHOWN_FINDINGS = 4
_SHOWN_PAGES = 3
_LINES, _COLUMNS = 20, 100
"""Most lines, and most columns, of each launch's output in a report; the score's JSON has more."""


def print_score(score: Score, *, console: Console) -> None:
    """Print a whole report, with its ending."""
    print_body(score, console=console)
    print_ending(score, console=console)


def print_body(score: Score, *, console: Console) -> None:
    """Print a report without its ending: the promised lines, the table or the failure, the device
    and the times, the first wrong case, the advice, and the worst accesses."""
    page = Page(console)
    for status, line in format_headlines(score.checks):
        page.write(line, style=status.row.style, hanging=2)
    if score.status.ended_early:
        _print_failure(score, page)
    else:
        _print_checks(score.checks, page)
    _print_measurement(score, page)
    if not score.status.ended_early:
        wrong = find_wrong_case(score.cases)
        if wrong is not None:
            _print_wrong_case(wrong, page)
        _print_predictions(score.predictions, page)
        _print_findings(score, wrong.message if wrong else "", page)
        _print_mistakes(score, page)
        _print_hints(score.checks, describe_case(wrong) if wrong else "", page)
        _print_pages(score, page)
        print_score_pictures(score, accesses_of_checks(score), page)
    for block in format_printed(score):
        page.write_heading(block.heading)
        page.write_verbatim("\n".join(block.lines), indent=2)


# --- the table ------------------------------------------------------------------------------------


def _print_checks(checks: Sequence[CheckResult], page: Page) -> None:
    page.console.print()
    if page.console.width < _TABLE_WIDTH:
        for check in checks:
            _print_check(check, page)
    else:
        page.console.print(_make_table(checks, page))


def _make_table(checks: Sequence[CheckResult], page: Page) -> Table:
    figures = ("Value", "Goal", "Points")
    table = page.make_table("Check", *figures, "Result", right=figures)
    for check in checks:
        texts = map(page.text, (_label(check), format_check_value(check), check.threshold))
        verdict = page.text(_verdict(check), check.status.row.style)
        table.add_row(*texts, _points(check), verdict)
    return table


def _print_check(check: CheckResult, page: Page) -> None:
    row = check.status.row
    line = f"{row.glyph} {_label(check)}: {_verdict(check)[2:]}"
    page.write(line, style=row.style, hanging=2)
    value = f"{format_check_value(check)}, goal" if check.value is not None else "goal"
    page.write(f"{value} {check.threshold}; points {_points(check)}", indent=2)


def _label(check: CheckResult) -> str:
    """The name of a check in every part of the page: that of its promised line, if it has one."""
    return check.headline or check.title


def _points(check: CheckResult) -> str:
    points = f"{check.points:g}" if check.status.has_points else "-"
    return f"{points} / {check.max_points:g}"


def _verdict(check: CheckResult) -> str:
    """The verdict in the table, with its remark unless the head of the page already has it."""
    remark = "" if check.headline and not check.in_doubt else format_remark(check)
    return f"{check.status.row.glyph} {check.status.row.word}" + (f": {remark}" if remark else "")


def _print_predictions(predictions: Sequence[Prediction], page: Page) -> None:
    if predictions:
        page.write_heading("Your predictions")
    for each in predictions:
        place = f"line {each.line}: " if each.line is not None else ""
        subject = f"{each.metric} = {each.written}: " if each.metric and each.written else ""
        asked = f"{each.question} " if each.question else ""
        text = f"{place}{asked}{subject}{MARKS[each.verdict]}; {each.message}"
        page.write(clean_text(text), indent=2, hanging=2)


def _print_measurement(score: Score, page: Page) -> None:
    page.console.print()
    if score.hidden_left_out and not score.status.ended_early:
        page.write(f"Cases: judged {PUBLIC_ONLY}", hanging=2)
    if score.device is not None:
        page.write(f"Device: {score.device.description}", style="dim", hanging=2)
    for line in format_measurement(score):
        page.write(line, style="dim", hanging=2)


# --- mistakes -------------------------------------------------------------------------------------


def _print_failure(score: Score, page: Page) -> None:
    page.write_heading(f"{score.status.row.title}: {score.message}", style="bold red")
    lines = clean_text(score.detail).rstrip("\n").split("\n") if score.detail.strip() else []
    if lines:
        page.console.print()
        page.write_verbatim("\n".join(lines[:_DETAIL_LINES]))
    if len(lines) > _DETAIL_LINES:
        more = f"... and {len(lines) - _DETAIL_LINES} more lines: --json FILE keeps them all"
        page.write(more, style="dim")
    texts = {line.line: line.text for line in score.lines}
    for finding in score.findings:
        _print_finding(finding, score.message, texts, page)
    _print_mistakes(score, page)
    if score.advice:
        page.write_heading("What to try")
        page.write(score.advice, indent=2)
    _print_pages(score, page)


def _print_findings(score: Score, known: str, page: Page) -> None:
    """The findings of a submission that ran to its end; the text `known` is not repeated."""
    if not score.findings:
        return
    page.write_heading("Found in the checked mode")
    texts = {line.line: line.text for line in score.lines}
    for finding in score.findings[:_SHOWN_FINDINGS]:
        _print_finding(finding, known, texts, page)
    if len(score.findings) > _SHOWN_FINDINGS:
        page.console.print()
        more = f"... and {len(score.findings) - _SHOWN_FINDINGS} more: --json FILE keeps them all"
        page.write(more, indent=2, style="dim")


def _print_mistakes(score: Score, page: Page) -> None:
    """The mistakes in host code, unless the advice of a failed check names them."""
    if any(each.metric == HOST_FINDINGS and each.hint for each in score.checks):
        return
    if score.host_findings:
        page.write_heading("Found in host code")
    for mistake in score.host_findings[:_SHOWN_FINDINGS]:
        page.write(clean_text(describe_mistake(mistake)), indent=2, hanging=2)


def _print_finding(
    finding: Finding, known: str, texts: Mapping[int | None, str], page: Page
) -> None:
    page.console.print()
    repeated = finding.message.removesuffix(".") in known
    if not repeated:
        page.write(format_finding(finding), indent=2)
    where = describe_place(finding)
    if where and not (repeated and f"thread {finding.thread})" in known):
        page.write(f"{'as above, ' if repeated else ''}at {where}", indent=2, hanging=2)
    for line in dict.fromkeys((finding.other_line, finding.line)):
        if line is not None and texts.get(line):
            left = 7 - len(str(line))
            page.write(f"{line} | {texts[line].strip()}", indent=left, hanging=6, style="bold")


def _print_wrong_case(case: CaseResult, page: Page) -> None:
    sizes = "hidden sizes" if case.hidden else list_sizes(case.sizes)
    name = f"{case.part}, {case.name}" if case.part else case.name
    page.write_heading(f"Where it is wrong: case {name} ({sizes})")
    page.write(case.message, indent=2, hanging=2)
    if case.mismatch is None:
        return
    for line in describe_mismatch(case.mismatch):
        page.write(line, indent=2, hanging=2)
    if drawn := draw_mismatch(case.mismatch):
        page.console.print()
        page.write_verbatim("\n".join(drawn[:-1]), indent=4)
        page.write(drawn[-1], indent=4, style="dim")


def _print_hints(checks: Sequence[CheckResult], known: str, page: Page) -> None:
    """The advice for each check that has a hint, with the cost; the beginning `known` is not
    repeated."""
    hints = [(check, check.hint.removeprefix(known).lstrip(". ")) for check in checks]
    if any(hint for _, hint in hints):
        page.write_heading("What to try")
    for check, hint in hints:
        if hint:
            page.write(f"{_label(check)} ({describe_cost(check)}): {hint}", indent=2, hanging=2)


def _print_pages(score: Score, page: Page) -> None:
    """The commands that explain the causes."""
    if keys := list_pages(score):
        page.write(f"More: {name_pages(keys[:_SHOWN_PAGES])}", indent=2, hanging=2, style="dim")


@dataclass(frozen=True)
class PrintedBlock:
    """One launch's output: a heading in the grader's words, and lines of printable text, each
    behind a bar."""

    heading: str
    lines: tuple[str, ...]


def format_printed(score: Score) -> tuple[PrintedBlock, ...]:
    """The output of the run that failed; else of the first wrong case that printed; else of the
    first case that did."""
    if score.printed:
        return tuple(_format(printed, "the run that failed") for printed in score.printed)
    talkative = (case for case in score.cases if case.printed)
    case = min(talkative, key=lambda case: case.passed, default=None)
    if case is None:
        return ()
    return tuple(_format(printed, f"case {case.name}") for printed in case.printed)


def _format(printed: Printed, where: str) -> PrintedBlock:
    lines = escape_controls(printed.text.removesuffix("\n")).split("\n")
    shown = [
        f"| {line if len(line) <= _COLUMNS else line[: _COLUMNS - 1] + '…'}"
        for line in lines[:_LINES]
    ]
    more = len(lines) - len(shown)
    if printed.cut:
        shown.append("... more than is kept")
    elif more:
        shown.append(f"... {more:,} more lines: --json FILE has them")
    kernel = f"kernel {printed.kernel}, " if printed.kernel else ""
    heading = f"Printed by the submission itself, not by the grader ({kernel}{where})"
    return PrintedBlock(heading, tuple(shown))
