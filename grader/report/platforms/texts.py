"""The text on a check, and on a whole score, for every platform, in plain text."""

from __future__ import annotations

from grader.messages.findings import describe_finding
from grader.messages.headlines import explain, format_check_value
from grader.messages.reasons import describe_cost
from grader.metrics import CHECKED_CASES, CORRECTNESS
from grader.records import CheckResult, CheckStatus, PendingRule, Score
from grader.report.text import clean_line, clean_text
from grader.report.wrong_case import describe_mismatch, draw_mismatch, find_wrong_case

MAX_DETAIL = 8000
MAX_FINDINGS = 4


def describe_check(check: CheckResult, score: Score) -> str:
    """Value and goal, the reason for a missing value or verdict, the benefit of the doubt, the
    findings, the cost and the advice; for wrong outputs, their places."""
    if check.value is not None:
        first = f"{format_check_value(check)} (goal: {check.threshold})"
        source = f", {check.source.value}" if check.source is not None else ""
        parts = [first + source]
    else:
        parts = [clean_line(check.message)]
    if check.metric == CORRECTNESS and check.status is not CheckStatus.PASSED:
        parts.append(clean_line(check.message))
    parts.append(clean_line(explain(check)))
    if check.metric == CHECKED_CASES and check.status.lost_points:
        parts += [clean_line(describe_finding(each)) for each in score.findings[:MAX_FINDINGS]]
    if check.hint:
        parts.append(clean_line(f"This {describe_cost(check)}. What to try: {check.hint}"))
    distinct = list(dict.fromkeys(part for part in parts if part))
    return "\n".join([*distinct, *draw_wrong_case(check, score)])


def draw_wrong_case(check: CheckResult, score: Score) -> tuple[str, ...]:
    """The places of the wrong elements in the check's first wrong case: figures, and a map; nothing
    for a hidden case."""
    if check.metric != CORRECTNESS or not check.status.lost_points:
        return ()
    case = find_wrong_case([case for case in score.cases if case.part == check.part])
    if case is None or case.mismatch is None:
        return ()
    figures = map(clean_line, describe_mismatch(case.mismatch))
    return (f"Case {clean_line(case.name)}:", *figures, *draw_mismatch(case.mismatch))


def find_factor(score: Score, rule: PendingRule | None) -> float | None:
    """The factor from points (without bonus) to grades; None without a final grade."""
    return score.marks.factor(rule) if score.status.has_points else None


def describe_score(score: Score, rule: PendingRule | None = None) -> str:
    """The result in a sentence, and the grade where it differs; where the grading ended early, the
    reason, with the tool's own output and advice."""
    parts = [clean_line(score.message)]
    grade, marks = score.marks.grade(rule), score.marks
    if grade is not None and (grade, marks.full) != (score.score, score.max_score):
        parts.append(f"Grade: {grade:g} of {marks.full:g} points.")
    if grade is None and score.status.has_points:
        parts.append("There is no final grade while points are pending.")
    if score.status.ended_early:
        parts += [clean_text(score.detail)[:MAX_DETAIL].strip(), clean_line(score.advice)]
    if score.device is not None:
        parts.append(clean_line(f"Device: {score.device.description}"))
    return "\n\n".join(part for part in parts if part)


def check_name(check: CheckResult) -> str:
    """The name in the handout and on the terminal."""
    return clean_line(check.headline or check.title)
