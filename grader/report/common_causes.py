"""The most frequent causes of lost points in a class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from grader.records import BatchEntry, Cause

MOST_EXAMPLES = 3


@dataclass(frozen=True)
class CauseGroup:
    """Submissions that lost points for one cause. `part` is their fraction, 0 to 1, of the
    submissions with points; `points` is the average loss. `examples` are submissions of different
    files, the largest loss first, each with its line."""

    text: str
    submissions: int
    part: float
    points: float
    examples: tuple[tuple[BatchEntry, int | None], ...]


def group_by_cause(entries: Iterable[BatchEntry]) -> tuple[CauseGroup, ...]:
    """The groups of one exercise's entries, the largest first. A submission is in the group of each
    of its causes; failures of the grader are in no group."""
    judged = [each for each in entries if each.status is not None and each.status.has_points]
    found: dict[str, list[tuple[BatchEntry, Cause]]] = {}
    for entry in judged:
        for cause in entry.causes:
            found.setdefault(cause.key, []).append((entry, cause))
    groups = [_make_group(members, len(judged)) for members in found.values()]
    return tuple(sorted(groups, key=lambda each: (-each.submissions, -each.points)))


def _make_group(members: list[tuple[BatchEntry, Cause]], judged: int) -> CauseGroup:
    examples: dict[str | None, tuple[BatchEntry, int | None]] = {}
    for entry, cause in sorted(members, key=lambda each: -each[1].points):
        examples.setdefault(entry.sha256, (entry, cause.line))
    return CauseGroup(
        text=members[0][1].text,
        submissions=len(members),
        part=len(members) / judged,
        points=sum(cause.points for _, cause in members) / len(members),
        examples=tuple(examples.values())[:MOST_EXAMPLES],
    )
