"""A score as its student may see it in the browser: no seed, no hidden case, no other student."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from grader.messages.findings import describe_finding
from grader.messages.headlines import explain, format_check_value
from grader.messages.host_findings import describe_mistake
from grader.messages.programs import advise_on_program, describe_result
from grader.messages.what_if import describe_best, describe_no_fix
from grader.records import Failure, Finding, KernelRun, Score, Status
from grader.records.program_run import ProgramRun
from grader.report.html.pages import describe_outcome
from grader.report.kernel_pages import list_launch_tables, list_output_table
from grader.report.platforms.marks import list_marks
from grader.report.program_page import list_program_tables
from grader.report.text import clean_line, clean_text
from grader.statuses import STATUSES

MAX_DETAIL = 20_000
MOST_MARKS = 200
MOST_CHANGED_LINES = 400


def show_score(score: Score) -> dict[str, Any]:
    """The fields of a score that the page of the attempt shows."""
    word, badge = describe_outcome(score)
    has_points = score.status.has_points
    return {
        "word": word,
        "badge": badge.value,
        "message": clean_text(score.message),
        "advice": clean_text(score.advice),
        "detail": clean_text(score.detail)[:MAX_DETAIL],
        "points": score.score if has_points else None,
        "full": score.max_score if has_points else None,
        "pending": score.pending_points,
        "fixes": _describe_fixes(score),
        "device": score.device.name if score.device else "",
        "checks": [
            {
                "title": clean_line(check.headline or check.title),
                "word": check.status.row.word,
                "glyph": check.status.row.glyph,
                "badge": check.status.row.badge.value,
                "value": format_check_value(check),
                "goal": check.threshold,
                "source": check.source.value if check.source else "",
                "points": check.points if check.status.has_points else None,
                "max_points": check.max_points,
                "text": clean_text(check.hint or explain(check) or check.message),
            }
            for check in score.checks
        ],
        "marks": [
            {"line": mark.line, "level": mark.level, "text": mark.message}
            for mark in list_marks(score)[:MOST_MARKS]
            if mark.file == clean_line(score.submission_name)
        ],
    }


def _describe_fixes(score: Score) -> str:
    """The best fix that was tried, in a sentence; empty where none was tried."""
    if score.what_if is None:
        return ""
    return clean_text(describe_best(score.what_if, score.checks) or describe_no_fix(score.what_if))


def show_failure(message: str, advice: str) -> dict[str, Any]:
    """The same fields, for an attempt that the grader could not grade."""
    return _show_without_points(Status.GRADER_ERROR, message, advice)


def show_found(found: KernelRun | ProgramRun | Failure) -> tuple[Status, dict[str, Any]]:
    """The same fields, for a run without an exercise, with its tables and its output."""
    if isinstance(found, Failure):
        shown = _show_without_points(found.status, found.message, found.advice)
        printed = "".join(each.text for each in found.printed)
        texts = {"detail": clean_text(found.detail)[:MAX_DETAIL], **_show_printed(printed)}
        marks = _mark_findings(found.findings)
        if found.line is not None and not marks:
            marks = [_make_mark(found.line, found.message)]
        return found.status, shown | texts | {"marks": marks}
    if isinstance(found, KernelRun):
        clean, advice = not found.findings, ""
        count = len(found.launches)
        message = f"{count:,} {'launch' if count == 1 else 'launches'} ran."
        tables = [*list_launch_tables(found), *list_output_table(found)]
        printed, marks = found.printed, _mark_findings(found.findings)
    else:
        mistakes = found.host_findings
        clean = found.exit_code == 0 and not found.findings and not mistakes
        message, advice = describe_result(found), advise_on_program(found)
        tables = list_program_tables(found)
        printed = (found.stdout or "") + (found.stderr or "")
        marks = _mark_findings(found.findings)
        for each in mistakes:
            line = each.place.line if each.place else None
            marks.append(_make_mark(line or 1, describe_mistake(each)))
    status = Status.PASSED if clean else Status.FAILED
    shown = _show_without_points(status, message, advice)
    words = {
        "word": "no mistakes found" if clean else "mistakes found",
        "device": clean_line(found.device),
    }
    rows = [{"title": t.title, "headings": t.headings, "rows": [*t.rows]} for t in tables]
    more = {"tables": rows, "marks": marks[:MOST_MARKS], **_show_printed(printed)}
    return status, shown | words | more


def _show_printed(text: str) -> dict[str, str]:
    return {"printed": clean_text(text)[:MAX_DETAIL]}


def _mark_findings(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [_make_mark(each.line or 1, describe_finding(each)) for each in findings[:MOST_MARKS]]


def _make_mark(line: int, text: str) -> dict[str, Any]:
    return {"line": line, "level": "error", "text": clean_line(text)}


def _show_without_points(status: Status, message: str, advice: str) -> dict[str, Any]:
    row = STATUSES[status]
    texts = {"word": row.word, "badge": row.badge.value, "message": clean_text(message)}
    no_points: dict[str, Any] = {
        "points": None,
        "full": None,
        "pending": 0,
        "checks": [],
        "marks": [],
    }
    more = {"advice": clean_text(advice), "detail": "", "device": "", "fixes": ""}
    return {**texts, **no_points, **more}


def list_changes(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that changed, with a line around them, as (kind, text)."""
    kinds = {"+": "added", "-": "removed", "@": "place", " ": "same"}
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    rows = [(kinds[line[:1] or " "], line) for line in lines]
    return rows[2:MOST_CHANGED_LINES]  # without the two names of the files
