"""A score as JUnit's XML for continuous integration and test reports: a suite of checks.

JUnit has no points: they are in the suite's properties, and in the text of a failed check.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from grader.messages.headlines import explain
from grader.records import CheckResult, CheckStatus, PendingRule, Score
from grader.report.platforms.texts import check_name, describe_check, describe_score
from grader.report.text import clean_line, clean_text


def format_junit(score: Score, rule: PendingRule | None = None) -> str:
    """The XML document, by a rule for pending points. Checks that lost points are failures, skipped
    and excluded checks are skipped; the grader's faults are errors. A check with pending points is
    an error without a rule, lost or skipped by it."""
    ended = score.status.ended_early
    kinds = [_kind(check, rule) for check in score.checks]
    ours = not score.status.has_points
    counts = {
        "tests": len(score.checks) + ended,
        "failures": kinds.count("failure") + (ended and not ours),
        "errors": kinds.count("error") + (ended and ours),
        "skipped": kinds.count("skipped"),
    }
    totals = {name: str(int(count)) for name, count in counts.items()}
    root = ET.Element("testsuites", {"name": score.exercise, **totals, "time": "0"})
    name = f"{score.exercise}: {_clean(score.submission_name)}"
    suite = ET.SubElement(root, "testsuite", {"name": name, **totals, "time": "0"})
    properties = ET.SubElement(suite, "properties")
    for name, value in _list_properties(score, rule).items():
        ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})
    if ended:
        case, tag = _add_case(suite, score, "grading"), "error" if ours else "failure"
        _add_outcome(case, tag, score.status.value, score.message, describe_score(score))
    for check, kind in zip(score.checks, kinds, strict=True):
        _add_check(suite, score, check, kind)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _kind(check: CheckResult, rule: PendingRule | None) -> str:
    """The element of a check's outcome, empty where it passed."""
    if check.pending_points and rule is not PendingRule.SCALED and not check.status.lost_points:
        return "error" if rule is None else "failure"
    if check.status.lost_points and not check.bonus:
        return "failure"
    return "" if check.status is CheckStatus.PASSED else "skipped"


def _list_properties(score: Score, rule: PendingRule | None) -> dict[str, str]:
    grade = score.marks.grade(rule) if score.status.has_points else None
    return {
        "grade": "" if grade is None else f"{grade:g}",
        "score": f"{score.score:g}",
        "max_score": f"{score.max_score:g}",
        "judged_points": f"{score.judged_points:g}",
        "pending_points": f"{score.pending_points:g}",
        "status": score.status.value,
        "device": score.device.name if score.device else "",
        "sha256": score.submission_sha256,
        "seed": str(score.seed),
    }


def _add_check(suite: ET.Element, score: Score, check: CheckResult, kind: str) -> None:
    case = _add_case(suite, score, check_name(check))
    if kind in ("failure", "error"):
        points = f"{check.points:g} of {check.max_points:g} points"
        more = check.hint or (check.message if check.pending_points else "")
        message = f"{points}: {more}" if more else points
        _add_outcome(case, kind, check.status.value, message, describe_check(check, score))
    elif kind:
        ET.SubElement(case, "skipped", {"message": _clean(check.message or check.status.value)})
    elif check.in_doubt:
        ET.SubElement(case, "system-out").text = _clean(explain(check))


def _add_case(suite: ET.Element, score: Score, name: str) -> ET.Element:
    named = {"name": name, "classname": score.exercise, "time": "0"}
    return ET.SubElement(suite, "testcase", named)


def _add_outcome(case: ET.Element, tag: str, kind: str, message: str, text: str) -> None:
    outcome = ET.SubElement(case, tag, {"type": kind, "message": _clean(message)})
    outcome.text = _allowed(clean_text(text))


def _clean(text: str) -> str:
    return _allowed(clean_line(text))


def _allowed(text: str) -> str:
    """Without the two code points that `clean_text` keeps and XML 1.0 forbids."""
    return text.replace("\ufffe", "").replace("\uffff", "")
