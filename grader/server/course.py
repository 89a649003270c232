"""The exercises of a course: their folders, and the files that students may see."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.folders import shipped_exercises
from grader.plumbing.identity import hash_files
from grader.records import WhatIfMode
from grader.report.html.markdown import render_markdown
from grader.spec.own_files import read_files
from grader.spec.public import (
    FILES_FOLDER,
    HANDOUT_FILE,
    REPORT_PAGE,
    SPEC_FILE,
    is_picture,
    read_entry,
    starter_files,
)
from grader.spec.reader import read_exercise, root_of

ANY_KERNEL = "any-kernel"
"""Stands for an exercise where a file is run without one."""
ANY_FOLDER = Path(__file__).with_name("page") / "any"
_OUTSIDE = re.compile(r"\A(?:[a-z][a-z0-9+.-]*:|//|#)", re.IGNORECASE)


@dataclass(frozen=True)
class Lesson:
    """An exercise as students see it, with pictures and supplied files by name. `handout` is HTML,
    `full` the points of all checks; `digest` changes with the files that grading needs."""

    id: str
    title: str
    folder: Path
    full: float
    handout: str
    starter: str
    pictures: Mapping[str, Path]
    supplied: Mapping[str, str]
    has_hidden_cases: bool
    week: int | None
    may_try_fixes: bool
    digest: str


def find_lessons(course: Path | None) -> dict[str, Lesson]:
    """The exercises of a course's folder, or the grader's own, in the order of the course. Raises
    UsageError if there are none, and SpecError for a broken exercise."""
    folders = list(shipped_exercises()) if course is None else _find_folders(course)
    if not folders:
        raise UsageError(
            f"{course} holds no exercise",
            "Name a folder with exercises/ID/spec.json and starter/ID.cu. `grade new ID` makes"
            " such an exercise; without --course, the server has the grader's exercises.",
        )
    lessons = [each for folder in folders if (each := read_lesson(folder)) is not None]
    lessons.sort(key=lambda each: (each.week is None, each.week or 0, each.id))
    return {each.id: each for each in lessons}


def read_lesson(folder: Path) -> Lesson | None:
    """The exercise in a folder; None if its submissions are folders of several files."""
    exercise = read_exercise(folder)
    program = exercise.program
    if program is not None and len(program.submit) > 1:
        return None
    files = starter_files(root_of(folder), exercise.id)
    starter = next(iter(files.values()), b"").decode("utf-8", "replace")
    names = program.supplied if program is not None else ()
    entry = read_entry(folder)
    handout = folder / HANDOUT_FILE
    text = handout.read_text("utf-8") if handout.is_file() else f"# {exercise.title}\n"
    return Lesson(
        exercise.id,
        exercise.title,
        folder,
        exercise.max_score,
        render_handout(text, exercise.id),
        starter,
        {path.name: path for path in sorted(folder.iterdir()) if is_picture(path.name)},
        {name: (folder / FILES_FOLDER / name).read_text("utf-8", "replace") for name in names},
        bool(exercise.hidden_cases),
        entry.week if entry else None,
        exercise.what_if is not WhatIfMode.OFF,
        hash_files(read_files(exercise)),
    )


def add_any_kernel(lessons: Mapping[str, Lesson]) -> Mapping[str, Lesson]:
    """Also the page for files without an exercise: a guide and an example."""
    handout = render_handout((ANY_FOLDER / HANDOUT_FILE).read_text("utf-8"), ANY_KERNEL)
    starter = (ANY_FOLDER / f"{ANY_KERNEL}.cu").read_text("utf-8")
    texts = ("Any kernel or program", ANY_FOLDER, 0.0, handout, starter)
    return {ANY_KERNEL: Lesson(ANY_KERNEL, *texts, {}, {}, False, None, False, ""), **lessons}


def read_guide(folder: Path) -> str | None:
    """The page on reports, to which the handouts link, as HTML."""
    page = root_of(folder) / REPORT_PAGE
    return render_handout(page.read_text("utf-8"), "") if page.is_file() else None


def render_handout(text: str, exercise: str) -> str:
    """A handout as HTML, with the addresses of this server."""
    return render_markdown(text, functools.partial(_address, exercise=exercise))


def _address(target: str, *, exercise: str) -> str:
    if _OUTSIDE.match(target):
        return target
    path, _, anchor = target.partition("#")
    suffix = f"#{anchor}" if anchor else ""
    if path.endswith(REPORT_PAGE):
        return f"/guide{suffix}"
    if is_picture(path):
        return f"/exercises/{exercise}/pictures/{Path(path).name}"
    if path.endswith(HANDOUT_FILE):
        return f"/exercises/{Path(path).parent.name}"
    return "#"


def _find_folders(course: Path) -> list[Path]:
    """The folders with a spec below `course` or `course/exercises`."""
    if not course.is_dir():
        raise UsageError(f"the course {course} is not a folder", "Name the folder of exercises.")
    specs = [*course.glob(f"exercises/*/{SPEC_FILE}"), *course.glob(f"*/{SPEC_FILE}")]
    return sorted(spec.parent.absolute() for spec in specs)
