"""A score as lines in the form of gcc's messages, which editors and problem matchers read."""

from __future__ import annotations

from grader.records import PendingRule, Score
from grader.report.platforms.marks import list_marks
from grader.report.text import clean_line


def format_gcc(score: Score, rule: PendingRule | None = None) -> str:
    """`FILE:LINE:COLUMN: error|warning: MESSAGE (grade explain NAME) [RULE]`, a line for each mark,
    and a note with the result. The column is 1: machine code has the lines of its source, but no
    columns."""
    del rule  # a grade for pending points changes no mark
    lines = [
        f"{mark.file}:{mark.line}:1: {mark.level}: {mark.message} ({mark.page}) [{mark.rule}]"
        for mark in list_marks(score)
    ]
    result = f"{clean_line(score.submission_name)}:1:1: note: {clean_line(score.message)}"
    return "".join(f"{line}\n" for line in (*lines, result))
