"""A score as a comment on a pull request, in GitHub's Markdown: a table of the checks, with their
points and advice.

All other text is escaped: a submission's words never become markup, links or mentions.
"""

from __future__ import annotations

import re

from grader.records import CheckResult, PendingRule, Score
from grader.report.platforms.texts import (
    check_name,
    describe_check,
    describe_score,
    draw_wrong_case,
)
from grader.report.text import clean_line

_HEAD = ("Check", "Result", "Points", "What was found, and what to try")
_MARKUP = re.compile(r"[!#$&*+\-.:<=>@\[\\\]^_`{|}~]")
_CALLS = re.compile(r"&#(?:35|64);")


def format_markdown(score: Score, rule: PendingRule | None = None) -> str:
    """The comment, by a rule for pending points. Where no points follow from the score, it gives
    the reason, and shows none."""
    row = score.status.row
    names = _escape(score.exercise), _escape(clean_line(score.submission_name))
    description = _escape(describe_score(score, rule))
    parts = [
        f"### {': '.join(names)}: {row.title or row.word}",
        f"<pre>{description}</pre>" if score.status.ended_early else description,
    ]
    if score.checks:
        parts.append(_format_table(score))
    return "\n\n".join(parts) + "\n"


def _format_table(score: Score) -> str:
    rows = (_cells(score, check) for check in score.checks)
    cells = [_HEAD, ("---", "---", "---:", "---"), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _cells(score: Score, check: CheckResult) -> tuple[str, ...]:
    return (
        _escape(check_name(check)),
        check.status.row.word,
        _points(check) if score.status.has_points else "",
        _format_text(check, score),
    )


def _format_text(check: CheckResult, score: Score) -> str:
    """The text on a check; a map of the output keeps its spaces."""
    drawn = draw_wrong_case(check, score)
    lines = describe_check(check, score).split("\n")
    words = [_escape(line) for line in lines[: len(lines) - len(drawn)]]
    picture = [f"<pre>{'<br>'.join(map(_escape, drawn))}</pre>"] if drawn else []
    return "<br>".join((*words, *picture))


def _points(check: CheckResult) -> str:
    if not check.status.has_points:
        return ""
    return f"+{check.points:g}" if check.bonus else f"{check.points:g} of {check.max_points:g}"


def _escape(text: str) -> str:
    """The text with each character that may be markup as a reference, which is never markup. GitHub
    looks for mentions (`@name`, `#12`) after that: a space of no width keeps them apart."""
    references = _MARKUP.sub(lambda match: f"&#{ord(match[0])};", text)
    return _CALLS.sub(lambda match: f"{match[0]}&#8203;", references)
