"""A class's leaderboard: made-up names, points and speed; it does not reveal any student."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.records import BatchEntry, BatchSummary
from grader.report.html.overview import Digest
from grader.report.html.pages import render_page
from grader.report.html.roofline import OWN


def render_leaderboard(
    batch: BatchSummary,
    digests: Mapping[tuple[str, str], Digest],
    handles: Mapping[str, str],
) -> str:
    """The page: who has a name in `handles`, and points, by points and then by time; without a
    final grade or a point a student is not on it. `digests` are by student and exercise."""
    boards = []
    for exercise in batch.exercises:
        found = [
            (entry, digest)
            for entry in batch.entries
            if entry.exercise == exercise.id
            and entry.student in handles
            and entry.points
            and (digest := digests.get((entry.student, exercise.id))) is not None
        ]
        sources = {digest.time_source.value for _, digest in found if digest.time_source}
        boards.append((exercise.title, [*_place(found, handles)], " and ".join(sorted(sources))))
    return render_page("leaderboard.html", boards=boards)


def _place(
    found: Sequence[tuple[BatchEntry, Digest]], handles: Mapping[str, str]
) -> Iterator[tuple[int, str, BatchEntry, Digest]]:
    """Rank, name and results. Equal points and times share a rank, in the order of their names."""

    def key(each: tuple[BatchEntry, Digest]) -> tuple[float, float]:
        entry, digest = each
        return -(entry.points or 0.0), float(f"{digest.times_ms.get(OWN, float('inf')):.4g}")

    ordered = sorted(found, key=lambda each: (key(each), handles[each[0].student]))
    rank = 0
    for number, each in enumerate(ordered, start=1):
        if number == 1 or key(each) != key(ordered[number - 2]):
            rank = number
        yield rank, handles[each[0].student], *each
