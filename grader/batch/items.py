"""The items of a batch: each student's file for each exercise, copied to the batch's folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.batch.choice import choose_students
from grader.batch.collect import HandIn
from grader.batch.matching import Matched, match_files
from grader.batch.whole_files import replace_file
from grader.spec.exercise import Exercise

MAX_BYTES = 1 << 20
"""Limit of a submission. Of a longer file this and another byte are kept: grading refuses it."""
SOURCES, SCORES = "sources", "scores"
_UNSAFE = re.compile(r"[^\w .,@()+-]")
_MAX_NAME = 80


@dataclass(frozen=True)
class Item:
    """A student and an exercise. Without a file `sha256` and `key` are None and `problem` is the
    reason.

    `student` and `submission` are the shown names. `score_path`: the score's path in the batch's
    folder. `handed_in_as`: the platform's name of the file or of the student's folder.
    """

    student: str
    student_id: str | None
    platform: str | None
    exercise: str
    submission: str | None
    sha256: str | None
    key: str | None
    score_path: str
    selected: bool = True
    problem: str = ""
    handed_in_as: str | None = None


def make_items(
    hand_ins: Sequence[HandIn],
    exercises: Sequence[Exercise],
    out: Path,
    *,
    key_of: Callable[[str, str], str],
    only: Sequence[str] = (),
    pseudonyms: dict[str, str] | None = None,
) -> list[Item]:
    """All pairs of student and exercise, ordered by shown name. Copies the files to `out`, because
    the originals may disappear.

    `key_of` makes a key of an exercise's id and a file's SHA-256. `only`: names and patterns of the
    selected students; raises UsageError if a pattern matches no student.
    """
    ids = [exercise.id for exercise in exercises]
    names = pseudonyms or {each.student: each.student for each in hand_ins}
    places = _file_names([names[each.student] for each in hand_ins])
    chosen = choose_students(only, hand_ins, names)
    items = []
    for each in hand_ins:
        shown = names[each.student]
        for exercise, matched in match_files(each, ids).items():
            sha256, problem = (
                (None, matched.problem) if matched.path is None else _keep(matched.path, out)
            )
            items.append(
                Item(
                    student=shown,
                    exercise=exercise,
                    sha256=sha256,
                    problem=problem,
                    selected=each.student in chosen,
                    student_id=None if pseudonyms else each.student_id,
                    platform=None if pseudonyms else each.platform,
                    handed_in_as=None if pseudonyms else _exported_name(each, matched),
                    submission=matched.name and (f"{exercise}.cu" if pseudonyms else matched.name),
                    key=key_of(exercise, sha256) if sha256 else None,
                    score_path=(
                        f"{SCORES}/{exercise + '/' if len(ids) > 1 else ''}{places[shown]}.json"
                    ),
                )
            )
    return sorted(
        items, key=lambda item: (item.student.casefold(), item.student, ids.index(item.exercise))
    )


def _exported_name(hand_in: HandIn, matched: Matched) -> str | None:
    if hand_in.exported_as is not None or hand_in.platform is None:
        return hand_in.exported_as
    return None if matched.path is None else matched.path.name


def source_path(sha256: str) -> str:
    """The path of the copy of a file, in the batch's folder."""
    return f"{SOURCES}/{sha256}.cu"


def _keep(path: Path, out: Path) -> tuple[str | None, str]:
    """Copies a file; returns its SHA-256, or None and the reason why it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        return None, f"the file cannot be read: {error.strerror}"
    sha256 = hashlib.sha256(content).hexdigest()
    copy = out / source_path(sha256)
    if not copy.is_file() or copy.read_bytes() != content:
        replace_file(copy, content)
    return sha256, ""


def _file_names(students: Iterable[str]) -> dict[str, str]:
    """A unique file name for each student: the student's name without unsafe characters."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for student in students:
        name = _UNSAFE.sub("_", student)[:_MAX_NAME].strip(" .") or "_"
        while len(name.encode()) > 2 * _MAX_NAME:
            name = name[:-1]
        if name != student or name.casefold() in taken:
            digest = hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()
            name = f"{name}-{digest[:8]}"
        taken.add(name.casefold())
        names[student] = name
    return names
