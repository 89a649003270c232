"""What every platform is told of a check, and of a whole score, in plain text."""

from __future__ import annotations

from grader.metrics import CORRECTNESS, format_value
from grader.records import CheckResult, CheckStatus, Score
from grader.report.text import clean_line, clean_text
from grader.words.headlines import explain

MAX_DETAIL = 8000


def describe_check(check: CheckResult) -> str:
    """Value and goal, why there is no value or no verdict, the benefit of the doubt, and what to
    try."""
    if check.value is not None:
        first = f"{format_value(check.metric, check.value)} (goal: {check.threshold})"
        source = f", {check.source.value}" if check.source is not None else ""
        parts = [first + source]
    else:
        parts = [clean_line(check.message)]
    if check.metric == CORRECTNESS and check.status is not CheckStatus.PASSED:
        parts.append(clean_line(check.message))
    parts += [clean_line(explain(check)), clean_line(check.hint)]
    return "\n".join(dict.fromkeys(part for part in parts if part))


def describe_score(score: Score) -> str:
    """The result in a sentence; where the grading ended early, why, with the tool's own words and
    what to try."""
    parts = [clean_line(score.message)]
    if score.status.ended_early:
        parts += [clean_text(score.detail)[:MAX_DETAIL].strip(), clean_line(score.advice)]
    if score.device is not None:
        parts.append(clean_line(f"Device: {score.device.name} ({score.device.stands_for})"))
    return "\n\n".join(part for part in parts if part)


def check_name(check: CheckResult) -> str:
    """The name that the handout and the terminal use too."""
    return clean_line(check.headline or check.title)
