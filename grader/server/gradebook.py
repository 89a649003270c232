"""The class as `grade batch` sees it, so that tables and exports have one implementation: the
submission that counts for each student, and the points that an instructor set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product

from sqlalchemy import Connection

from grader import __version__
from grader.batch.items import Item
from grader.batch.journal import Result, read_result
from grader.batch.results import format_gradebook, make_entries, set_points
from grader.batch.tasks import Task
from grader.records import BatchExercise, BatchSummary, Options, PendingRule
from grader.report.platforms.gradebooks import format_canvas, format_moodle
from grader.server import attempts
from grader.server.course import Lesson
from grader.server.people import read_people
from grader.server.records import Attempt, Override, Person, Role

NO_SUBMISSION = "no submission"


def summarise(
    connection: Connection,
    lessons: Sequence[Lesson],
    device: str,
    pending: PendingRule | None = None,
) -> BatchSummary:
    """The results of all students at these exercises. `pending`: the rule for pending points."""
    students = read_people(connection, Role.STUDENT)
    items: list[Item] = []
    results: dict[str, Result] = {}
    decided: dict[tuple[str, str], Override] = {}
    names = name_uniquely(students)
    find = attempts.read_standings(connection, [each.id for each in lessons])
    for lesson, person in product(lessons, students):
        standing = find(person.id, lesson.id)
        counting = standing.counting
        items.append(_item(person, names[person.id], lesson, counting))
        text = counting and attempts.read_kept(connection, counting, "score")
        if counting is not None and text:
            results[str(counting.id)] = _result(lesson, counting, text)
        if standing.decisions:
            decided[names[person.id], lesson.id] = standing.decisions[-1]
    items.sort(key=lambda item: item.student.casefold())
    max_scores = {lesson.id: lesson.full for lesson in lessons}
    entries = (
        set_points(entry, by.points, by.reason, by.author)
        if (by := decided.get((entry.student, entry.exercise)))
        else entry
        for entry in make_entries(items, results, max_scores, pending)
    )
    exercises = tuple(BatchExercise(each.id, each.title, each.full) for each in lessons)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return BatchSummary(exercises, tuple(entries), now, now, __version__, device)


def format_export(summary: BatchSummary, students: Sequence[Person], kind: str) -> str | None:
    """The gradebook `csv`, `canvas`, or `moodle` of the only exercise; None for another kind."""
    names = name_uniquely(students)
    rows = {names[person.id]: person.row for person in students}
    if kind == "csv":
        return format_gradebook(summary)
    if kind == "canvas":
        titles = {each.id: each.title for each in summary.exercises}
        return format_canvas(summary, lambda name, _: rows[name], titles)
    if kind == "moodle" and len(summary.exercises) == 1:
        return format_moodle(summary, lambda name, _: rows[name], summary.exercises[0])
    return None


def name_uniquely(students: Sequence[Person]) -> dict[int, str]:
    """The shown names by id; people with the same name get their login behind it."""
    counts = Counter(person.name for person in students)
    return {
        each.id: each.name if counts[each.name] == 1 else f"{each.name} ({each.login})"
        for each in students
    }


def _item(person: Person, name: str, lesson: Lesson, counting: Attempt | None) -> Item:
    platform = None
    if person.student_id is not None:
        platform = "moodle" if "Identifier" in person.row else "canvas"
    key = str(counting.id) if counting is not None else None
    submission = f"{lesson.id}.cu" if counting else None
    owner = (name, person.student_id, platform, lesson.id)
    return Item(*owner, submission, None, key, score_path="", problem=NO_SUBMISSION)


def _result(lesson: Lesson, attempt: Attempt, text: str) -> Result:
    key = str(attempt.id)
    task = Task(key, lesson.id, lesson.folder, attempt.sha256, lesson.folder, Options())
    return read_result(task, text, seconds=0.0, attempts=1)
