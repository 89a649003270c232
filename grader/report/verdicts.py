"""The verdict on an attempt: the parts of a score that a course server keeps."""

from __future__ import annotations

import json
from dataclasses import dataclass

from grader.records import Failure, KernelRun, Score, Status
from grader.records.program_run import ProgramRun
from grader.report.html.program import render_found
from grader.report.html.submission import render_submission
from grader.report.json import format_score
from grader.report.verdict_json import show_failure, show_found, show_score

AGAIN = "Your attempt is kept. Grade it again, or ask your instructor."


@dataclass(frozen=True)
class Verdict:
    """The result of a grading. `score`: JSON text, with the secret seed; `shown`: JSON text without
    secrets, for browsers; `page`: the page of the score."""

    status: str
    message: str
    points: float | None
    full: float | None
    score: str | None
    shown: str
    page: str | None


def make_verdict(score: Score, *, student: str, title: str, source: str) -> Verdict:
    """The verdict of a graded attempt. `student` heads the page."""
    page = render_submission(score, student=student, title=title, source=source, handed_back=True)
    points, full = (score.score, score.max_score) if score.status.has_points else (None, None)
    shown, status = json.dumps(show_score(score)), score.status.value
    return Verdict(status, score.message, points, full, format_score(score), shown, page)


def make_found_verdict(found: KernelRun | ProgramRun | Failure, title: str, source: str) -> Verdict:
    """The verdict of a file without an exercise: it has no points."""
    status, shown = show_found(found)
    page = render_found(found, title, source)
    return Verdict(status.value, shown["message"], None, None, None, json.dumps(shown), page)


def make_failed_verdict(message: str, advice: str = AGAIN) -> Verdict:
    """The verdict on an attempt that the grader could not grade."""
    shown = json.dumps(show_failure(message, advice))
    return Verdict(Status.GRADER_ERROR.value, message, None, None, None, shown, None)
