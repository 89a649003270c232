"""A score as the editor's diagnostics, hover texts and code actions. The marks are those of
`--format gcc` and `--format sarif`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from grader.messages.explanations import explain
from grader.messages.findings import describe_finding
from grader.messages.reasons import describe_next_step, summarise_points
from grader.messages.what_if import format_gain, name_fix
from grader.records import CodeChange, Score, WhatIf
from grader.report.annotation import PAGE_COLUMNS, AnnotatedLine, annotate
from grader.report.platforms.marks import Mark, list_marks
from grader.report.text import clean_line

SOURCE = "grade"
SUMMARY = "points"
"""The code of the diagnostic with the result."""
_LEVELS = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
}


@dataclass(frozen=True)
class Result:
    """A grading's result: the graded text, the score, and the effects of fixes once they are
    known."""

    text: str
    exercise: str
    score: Score
    what_if: WhatIf | None = None

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")


def make_diagnostics(result: Result, uri: str) -> list[types.Diagnostic]:
    """A diagnostic for each mark, and one for the result, in the first line."""
    lines = result.lines
    return [
        _summarise(result),
        *(_make_diagnostic(mark, result.score, lines, uri) for mark in list_marks(result.score)),
    ]


def make_notice(message: str) -> types.Diagnostic:
    """A diagnostic in the first line for a file that cannot be graded."""
    severity = types.DiagnosticSeverity.Warning
    return types.Diagnostic(_range([""], 1), clean_line(message), severity, source=SOURCE)


def summarise(result: Result) -> str:
    """`transpose: 40 of 100 points`."""
    return clean_line(f"{result.exercise}: {summarise_points(result.score)}")


def _summarise(result: Result) -> types.Diagnostic:
    text = f"{summarise(result)}. Next: {describe_next_step(result.score)}"
    severity = types.DiagnosticSeverity.Information
    place = _range(result.lines, 1)
    return types.Diagnostic(place, clean_line(text), severity, code=SUMMARY, source=SOURCE)


def _make_diagnostic(mark: Mark, score: Score, lines: Sequence[str], uri: str) -> types.Diagnostic:
    own = mark.file == clean_line(score.submission_name)
    message = mark.message if own else f"{mark.file}, line {mark.line}: {mark.message}"
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri, _range(lines, each.line)), each.message
        )
        for each in mark.related
    ]
    return types.Diagnostic(
        _range(lines, mark.line if own else 1),
        f"{message} ({mark.page})",
        _LEVELS[mark.level],
        code=mark.rule,
        source=SOURCE,
        related_information=related or None,
    )


def _range(lines: Sequence[str], line: int) -> types.Range:
    """The text of a line, from its first to its last visible character: machine code has no
    columns."""
    number = min(max(line, 1), len(lines)) - 1
    text = lines[number].rstrip()
    start = len(text) - len(text.lstrip())
    return types.Range(types.Position(number, start), _end_of(number, text))


def _end_of(number: int, text: str) -> types.Position:
    """The end of a line. Editors count in units of UTF-8, UTF-16 or UTF-32, and take a position
    behind the end for the end: the number of bytes is large enough for all of them."""
    return types.Position(number, len(text.encode()))


# --- hover ----------------------------------------------------------------------------------------


def make_hover(result: Result, line: int) -> str:
    """The counters and findings of a line (from 1), and its causes, in Markdown; empty if it has
    none."""
    rows = annotate(result.score, result.text, PAGE_COLUMNS)
    row = next((each for each in rows.lines if each.number == line), None)
    parts: list[str] = []
    if row is not None:
        parts += _list_counters(row)
        parts += [f"- {clean_line(describe_finding(each))}" for each in row.findings]
    rules = dict.fromkeys(each.rule for each in list_marks(result.score) if each.line == line)
    for page in map(explain, rules):
        if page is not None:
            parts.append(f"\n**{page.title}**: {page.row.meaning} {page.row.fix}")
            parts.append(f"\n`{page.command}`")
    return "\n".join(parts)


def _list_counters(row: AnnotatedLine) -> Iterator[str]:
    """A table of the figures."""
    shown = [column for column in PAGE_COLUMNS if column.name in row.figures]
    if not shown:
        return
    yield "| counter | value | |"
    yield "| --- | ---: | --- |"
    for column in shown:
        value, note = column.format(row.figures[column.name]), row.notes.get(column.name, "")
        yield f"| {column.titles[0]} | {value} | {note or column.meaning} |"
    yield ""


# --- code actions ---------------------------------------------------------------------------------


def make_actions(
    result: Result, uri: str, context: Sequence[types.Diagnostic]
) -> list[types.CodeAction]:
    """The fixes whose code the exercise shows, for the text that was graded. `context`: the
    diagnostics at the place of the request."""
    about = [each for each in context if each.source == SOURCE and each.code != SUMMARY]
    fixes = result.what_if.fixes if result.what_if is not None else ()
    return [
        types.CodeAction(
            f"{name_fix(fix)} ({format_gain(fix.gain)} points)",
            types.CodeActionKind.QuickFix,
            diagnostics=about,
            is_preferred=number == 0,
            edit=types.WorkspaceEdit(changes={uri: edits}),
        )
        for number, fix in enumerate(fixes)
        if (edits := [_make_edit(change, result.lines) for change in fix.code])
    ]


def _make_edit(change: CodeChange, lines: Sequence[str]) -> types.TextEdit:
    """The change of some lines. A change behind the last line is of the exercise's launch lines,
    which the grader appended."""
    first, last = change.line - 1, change.line + len(change.before) - 2
    text = "\n".join(change.after)
    if last >= len(lines) or lines[first : last + 1] != [*change.before]:
        end = _end_of(len(lines) - 1, lines[-1])
        separator = "\n" if lines[-1] else ""
        return types.TextEdit(types.Range(end, end), f"{separator}{text}\n")
    place = types.Range(types.Position(first, 0), _end_of(last, lines[last]))
    return types.TextEdit(place, text)
