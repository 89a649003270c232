"""Gradebooks that Canvas and Moodle import: students by the ids that their exports carry in file
names, or by a roster.

Canvas (its gradebook's CSV): Student, ID, SIS User ID, SIS Login ID, Section, then a column per
assignment, and a row of Points Possible; a student is found by the ID first, an empty cell changes
nothing. Moodle (the assignment's offline grading worksheet): `Identifier` is "Participant N"; that,
`Grade` and `Last modified (grade)` must be there; a grade above the maximum would be refused, so it
is cut to it.
"""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from grader.plumbing.atomic import write_file
from grader.records import MOODLE_COLUMNS, BatchEntry, BatchExercise, BatchSummary
from grader.report.feedback import describe_grade
from grader.report.text import clean_line

CANVAS_FILE = "gradebook-canvas.csv"
MOODLE_FILE = "gradebook-moodle.csv"
CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
FindRow = Callable[[str, str | None], Mapping[str, str]]
"""Finds a student's row in a roster, by the shown name and the platform's id; empty for none."""


def write_gradebooks(
    out: Path,
    batch: BatchSummary,
    find_row: FindRow | None = None,
    *,
    assignments: Mapping[str, str] | None = None,
    moodle_columns: Sequence[str] = MOODLE_COLUMNS,
) -> list[Path]:
    """Write the gradebooks into a folder; returns their paths. `assignments`: the platform's title
    by exercise, `Lab 3 (4711)` in Canvas. `moodle_columns`: in the language of the Moodle site,
    which finds columns by their headers.

    Moodle's worksheet is of one assignment: a batch of several exercises makes one for each,
    `gradebook-moodle-<exercise>.csv`.
    """
    find = find_row or (lambda student, student_id: {})
    titles = {
        exercise.id: (assignments or {}).get(exercise.id, exercise.title)
        for exercise in batch.exercises
    }
    texts = {CANVAS_FILE: format_canvas(batch, find, titles)}
    for exercise in batch.exercises:
        name = MOODLE_FILE if len(batch.exercises) == 1 else f"gradebook-moodle-{exercise.id}.csv"
        texts[name] = format_moodle(batch, find, exercise, moodle_columns)
    for name, text in texts.items():
        write_file(out / name, text.encode(), "the gradebook")
    return [out / name for name in texts]


def format_canvas(batch: BatchSummary, find_row: FindRow, titles: Mapping[str, str]) -> str:
    """Canvas's gradebook: a row per student. Who has no grade has an empty cell."""
    students: dict[str, dict[str, BatchEntry]] = {}
    for entry in batch.entries:
        students.setdefault(entry.student, {})[entry.exercise] = entry
    ids = [exercise.id for exercise in batch.exercises]
    most = (f"{exercise.max_score:g}" for exercise in batch.exercises)
    rows: list[Sequence[str]] = [[*CANVAS_COLUMNS, *(titles[each] for each in ids)]]
    rows.append(["    Points Possible", "", "", "", "", *most])
    for entries in students.values():
        first = next(iter(entries.values()))
        found = find_row(first.student, first.student_id)
        own_id = first.student_id if first.platform == "canvas" and first.student_id else ""
        name = found.get("Student") or found.get("Full name") or first.student
        others = (found.get(column, "") for column in CANVAS_COLUMNS[2:])
        grades = (_grade(entries.get(each)) for each in ids)
        rows.append([name, found.get("ID") or own_id, *others, *grades])
    return _format_csv(rows)


def format_moodle(
    batch: BatchSummary,
    find_row: FindRow,
    exercise: BatchExercise,
    columns: Sequence[str] = MOODLE_COLUMNS,
) -> str:
    """Moodle's offline grading worksheet of one exercise."""
    rows: list[Sequence[str]] = [columns]
    for entry in batch.entries:
        if entry.exercise != exercise.id:
            continue
        found = find_row(entry.student, entry.student_id)
        known = entry.platform == "moodle" and entry.student_id
        own = f"Participant {entry.student_id}" if known else ""
        grade = _grade(entry, at_most=exercise.max_score)
        email = found.get("Email address") or found.get("Email", "")
        status = "Submitted for grading" if entry.submission else "No submission"
        who = [found.get("Identifier") or own, found.get("Full name") or entry.student, email]
        most = f"{exercise.max_score:g}"
        rows.append([*who, status, grade, most, "Yes", "-", "-", _comment(entry)])
    return _format_csv(rows)


def _comment(entry: BatchEntry) -> str:
    """Why points were lost, and the grade if it differs from the score. HTML: Moodle renders it."""
    reason = clean_line(entry.reason)
    grade = " ".join(describe_grade(entry))
    both = f"{reason.removesuffix('.')}. {grade}" if reason and grade else reason or grade
    return html.escape(both, quote=False)


def _grade(entry: BatchEntry | None, *, at_most: float | None = None) -> str:
    """The points, or an empty cell: a submission that is not graded, or failed by no fault of the
    student, must not become a zero."""
    points = None if entry is None else entry.points
    if points is None:
        return ""
    return f"{points if at_most is None else min(points, at_most):g}"


def _format_csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: str) -> str:
    """A cell on a single line that spreadsheets do not take for a formula (OWASP, "CSV Injection");
    indented cells, like Canvas's, stay."""
    indent = cell[: len(cell) - len(cell.lstrip(" "))]
    line = indent + clean_line(cell)
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) and line != "-" else line
