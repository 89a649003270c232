"""The differences between one grading of a file and the next, in a line: points, then correctness,
then counters, then times."""

from __future__ import annotations

from collections.abc import Iterator

from grader.metrics import CHECKED_CASES, CORRECTNESS, TIMED, format_value
from grader.records import Score
from grader.report.version_table import Change, Row, Versions, compare_metrics

NOTHING = "nothing that is graded has changed"


def describe_changes(old: Score, new: Score) -> str:
    """`+15 points; Bank conflicts 4,063,232 → 0`."""
    return "; ".join(_changes(Versions(old, new))) or NOTHING


def style_of(old: Score, new: Score) -> str:
    """The colour of the line."""
    return "green" if new.score > old.score else "red" if new.score < old.score else ""


def _changes(versions: Versions) -> Iterator[str]:
    old, new = versions.old, versions.new
    if gained := round(new.score - old.score, 2):
        points = "point" if abs(gained) == 1 else "points"
        yield f"{'+' if gained > 0 else '−'}{abs(gained):g} {points}"
    if old.status is not new.status and (old.status.ended_early or new.status.ended_early):
        yield f"{_outcome(old)} → {_outcome(new)}"
    yield from _changed_cases(old, new)
    rows = {row.name: row for row in compare_metrics(versions)}
    labels = _label_metrics(new)
    for name, label in labels.items():
        if name in rows and name not in TIMED and rows[name].change in _DIFFERENT:
            yield f"{label} {_values(rows[name])}"
    if (time := rows.get("time_ms")) is not None and time.change in (*_DIFFERENT, Change.UNCLEAR):
        unclear = " (no clear difference)" if time.change is Change.UNCLEAR else ""
        yield f"time {_values(time)}{unclear}"


_DIFFERENT = (Change.BETTER, Change.WORSE)


def _outcome(score: Score) -> str:
    """The mistake that ended the grading, or a note that none did."""
    return score.status.row.word if score.status.ended_early else "it runs"


def _changed_cases(old: Score, new: Score) -> Iterator[str]:
    """The number of wrong cases and of findings, where both gradings reached them."""
    if old.status.ended_early or new.status.ended_early:
        return
    before, after = (sum(case.is_wrong for case in score.cases) for score in (old, new))
    if before != after:
        yield f"wrong cases {before} → {after}"
    found, left = len(old.findings), len(new.findings)
    if found != left:
        yield f"findings {found} → {left}"


def _label_metrics(score: Score) -> dict[str, str]:
    """The exercise's names of the metrics that it grades."""
    return {
        check.metric: check.headline or check.title
        for check in score.checks
        if check.metric not in (CORRECTNESS, CHECKED_CASES) and check.status.has_points
    }


def _values(row: Row) -> str:
    before, after = (
        "–" if metric.value is None else format_value(row.name, metric.value)
        for metric in (row.old, row.new)
    )
    return f"{before} → {after}"
