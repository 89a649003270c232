"""A score as its student may see it in the browser: no seed, no hidden case, no other student."""

from __future__ import annotations

import difflib
from typing import Any

from grader.messages.headlines import explain, format_check_value
from grader.messages.what_if import describe_best, describe_no_fix
from grader.records import Score, Status
from grader.report.html.pages import describe_outcome
from grader.report.platforms.marks import list_marks
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
    row = STATUSES[Status.GRADER_ERROR]
    texts = {"word": row.word, "badge": row.badge.value, "message": clean_text(message)}
    no_points: dict[str, Any] = {
        "points": None,
        "full": None,
        "pending": 0,
        "checks": [],
        "marks": [],
    }
    return {**texts, **no_points, "advice": advice, "detail": "", "device": "", "fixes": ""}


def list_changes(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that changed, with a line around them, as (kind, text)."""
    kinds = {"+": "added", "-": "removed", "@": "place", " ": "same"}
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    rows = [(kinds[line[:1] or " "], line) for line in lines]
    return rows[2:MOST_CHANGED_LINES]  # without the two names of the files
