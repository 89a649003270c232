"""A score to hand back to its student, in Markdown that reads well as plain text, too.

It is about one submission and holds nothing of the class: no other student, no link, no seed (with
which hidden cases are drawn).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.messages.findings import describe_finding
from grader.messages.headlines import explain
from grader.messages.reasons import summarise_points
from grader.metrics import CORRECTNESS, format_value
from grader.records import BatchEntry, CheckResult, Score
from grader.report.text import clean_line, clean_text

MAX_DETAIL = 4000
_MOST = 5
"""Most findings and wrong cases that are named."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=\()")


def format_feedback(score: Score, *, student: str, title: str, notes: Sequence[str] = ()) -> str:
    """The file. `title` is the exercise's; `notes` are sentences on the points."""
    return "\n\n".join(_list_parts(score, student, title, notes)) + "\n"


def describe_grade(entry: BatchEntry) -> tuple[str, ...]:
    """A sentence where the grade differs from the score."""
    if entry.points in (None, entry.score):
        return ()
    return (f"The grade is {entry.points:g} of {entry.max_score:g} points.",)


def format_nothing(reason: str, *, student: str, title: str, notes: Sequence[str] = ()) -> str:
    """The file for a submission that could not be graded, with the reason."""
    parts = [f"# {_plain(title)}: not graded", _plain(student), f"{_plain(reason)}.", *notes]
    return "\n\n".join(parts) + "\n"


def _list_parts(score: Score, student: str, title: str, notes: Sequence[str]) -> Iterator[str]:
    yield f"# {_plain(title)}: {_describe_points(score)}"
    device = f", graded on {score.device.name}" if score.device else ""
    yield _plain(f"{student}, {score.submission_name}{device}")
    yield from map(_plain, notes)
    if score.status.ended_early:
        row = score.status.row
        yield f"## {(row.title or row.word).capitalize()}"
        yield _plain(score.message)
        if score.detail.strip():
            yield _fence(score.detail)
        yield _plain(score.advice)
    elif score.why:
        yield f"**Why points were lost:** {_plain(score.why)}"
    if score.checks:
        yield "\n".join(_table(score))
    tries = [*_list_tries(score)]
    if tries and not score.status.ended_early:
        yield "## What to try"
        yield "\n".join(tries)
    shown = "\n".join(tries)
    findings = [each for each in map(describe_finding, score.findings) if _plain(each) not in shown]
    if findings:
        yield "## What was found while it ran"
        yield "\n".join(f"- {_plain(each)}" for each in findings[:_MOST])
    wrong = [case.name for case in score.cases if case.is_wrong]
    if wrong:
        more = f" and {len(wrong) - _MOST} more" if len(wrong) > _MOST else ""
        names = ", ".join(wrong[:_MOST])
        yield _plain(f"Wrong cases: {len(wrong)} of {len(score.cases)} ({names}{more}).")


def _list_tries(score: Score) -> Iterator[str]:
    """The advice for each check that lost points; then the checks that were not judged, by
    reason."""
    waiting: dict[str, list[str]] = {}
    for check in score.checks:
        if check.status.is_verdict:
            if hint := check.hint or explain(check):
                yield f"- **{_plain(_name(check))}**: {_plain(hint)}"
        else:
            waiting.setdefault(check.message, []).append(_name(check))
    for reason, names in waiting.items():
        yield _plain(f"- Not judged: {', '.join(names)} ({reason}).")


def _describe_points(score: Score) -> str:
    if not score.status.has_points:
        return "no points follow from this, it is not your doing"
    return summarise_points(score)


def _table(score: Score) -> Iterator[str]:
    yield "| Check | Result | Points | Value | Goal |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for check in score.checks:
        measured = check.status.has_points
        points = f"{check.points:g} of {check.max_points:g}" if measured else "–"
        shown = check.value is not None and check.metric != CORRECTNESS
        value = format_value(check.metric, check.value) if shown and check.value is not None else ""
        source = f" ({check.source.value})" if value and check.source is not None else ""
        cells = (_name(check), check.status.row.word, points, f"{value}{source}", check.threshold)
        yield f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _name(check: CheckResult) -> str:
    return check.headline or check.title


def _plain(text: str) -> str:
    """One line without tags and links; otherwise unchanged, since readers also see it as plain
    text."""
    return _LINK.sub(r"]\\", _TAG.sub(r"\\<", clean_line(text)))


def _fence(text: str) -> str:
    """A block whose fence is longer than any fence in it."""
    shown = clean_text(text)[:MAX_DETAIL].strip("\n")
    longest = max((len(found) for found in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
