"""The items of a batch: each chosen student's file for each exercise, copied to the batch's
folder."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.batch.collect import HandIn
from grader.batch.whole_files import replace_file
from grader.errors import UsageError
from grader.spec.exercise import Exercise

MAX_BYTES = 1 << 20
"""Limit of a submission. Of a longer file this and another byte are kept: grading refuses it."""
SOURCES, SCORES = "sources", "scores"
_UNSAFE = re.compile(r"[^\w .,@()+-]")
_MAX_NAME = 80
_MOST_NAMES = 5
_RESUBMITTED = re.compile(r"(?:-(\d+)| \((\d+)\))(?=\.cu\Z)", re.IGNORECASE)
"""The number that Canvas or a browser adds to the name of a resubmitted file."""


@dataclass(frozen=True)
class Item:
    """A student and an exercise. Without a file `sha256` and `key` are None and `problem` is the
    reason. `student` and `submission` are the shown names. `handed_in_as`: the platform's name of
    the file or of the student's folder."""

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
    the originals may disappear. `key_of` makes a key of an exercise's id and a file's SHA-256.
    `only`: as for `choose_students`."""
    ids = [exercise.id for exercise in exercises]
    names = pseudonyms or {each.student: each.student for each in hand_ins}
    places = _file_names([names[each.student] for each in hand_ins])
    chosen = choose_students(only, hand_ins, names)
    folders = {exercise: f"{exercise}/" if len(ids) > 1 else "" for exercise in ids}
    items = []
    for each in hand_ins:
        shown = names[each.student]
        for exercise, matched in match_files(each, ids).items():
            sha256, problem = _keep(matched.path, out) if matched.path else (None, matched.problem)
            file = matched.path.name if matched.path and each.platform else None
            items.append(
                Item(
                    student=shown,
                    exercise=exercise,
                    sha256=sha256,
                    problem=problem,
                    selected=each.student in chosen,
                    student_id=None if pseudonyms else each.student_id,
                    platform=None if pseudonyms else each.platform,
                    handed_in_as=None if pseudonyms else each.exported_as or file,
                    submission=matched.name and (f"{exercise}.cu" if pseudonyms else matched.name),
                    key=key_of(exercise, sha256) if sha256 else None,
                    score_path=f"{SCORES}/{folders[exercise]}{places[shown]}.json",
                )
            )
    items.sort(key=lambda each: (each.student.casefold(), each.student, ids.index(each.exercise)))
    return items


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


def choose_students(
    patterns: Sequence[str], hand_ins: Sequence[HandIn], shown: Mapping[str, str]
) -> set[str]:
    """The students whose name, shown name or id equals a pattern, or else matches it as in file
    names; without patterns all. Case is ignored. Raises UsageError, with similar names, if a
    pattern matches no student."""
    if not patterns:
        return {each.student for each in hand_ins}
    names = {}
    for each in hand_ins:
        own = (each.student, shown[each.student], each.student_id)
        names[each.student] = {name.casefold() for name in own if name}
    chosen: set[str] = set()
    for pattern in patterns:
        wanted = pattern.casefold()
        found = {student for student, own in names.items() if wanted in own}
        found = found or {student for student, own in names.items() if fnmatch.filter(own, wanted)}
        if not found:
            advice = _advise(wanted, shown.values())
            raise UsageError(f"--only {pattern!r} matches no student", advice)
        chosen |= found
    return chosen


def _advise(wanted: str, shown: Iterable[str]) -> str:
    """Similar names, else the form of a pattern."""
    names = {name.casefold(): name for name in shown}
    plain = wanted.strip("*?")
    near = [name for name in names if plain and plain in name][:_MOST_NAMES]
    near = near or difflib.get_close_matches(plain, list(names), n=_MOST_NAMES)
    if near:
        return f"Did you mean {' or '.join(repr(names[name]) for name in near)}?"
    return "Give a name or an id from `grade show`, or a pattern such as 'doe*'."


@dataclass(frozen=True)
class Matched:
    """The file for an exercise, or the reason why there is none."""

    name: str | None
    path: Path | None
    problem: str = ""


def match_files(hand_in: HandIn, exercises: Sequence[str]) -> dict[str, Matched]:
    """The student's file for each exercise. A file belongs to the longest exercise id in its name;
    without such names, to a single exercise. Of several versions the last submitted is taken."""
    claimed: dict[str, list[str]] = {exercise: [] for exercise in exercises}
    for name in hand_in.files:
        if (owner := _claim(name, exercises)) is not None:
            claimed[owner].append(name)
    return {
        exercise: _choose(hand_in, exercise, claimed[exercise], alone=len(exercises) == 1)
        for exercise in exercises
    }


def _claim(name: str, exercises: Sequence[str]) -> str | None:
    plain = _plain(Path(name).name)
    return max((each for each in exercises if _plain(each) in plain), key=len, default=None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _choose(hand_in: HandIn, exercise: str, claimed: Sequence[str], *, alone: bool) -> Matched:
    names = list(claimed) or (list(hand_in.files) if alone else [])
    exact = [name for name in names if Path(name).name == f"{exercise}.cu"]
    latest = _latest(exact if len(exact) == 1 else names)
    if len(latest) == 1:
        return Matched(latest[0], hand_in.files[latest[0]])
    if latest:
        shown = ", ".join(latest[:5]) + (", ..." if len(latest) > 5 else "")
        problem = f"several files could be for {exercise}: {shown}; keep only one, or name it"
        return Matched(None, None, f"{problem} {exercise}.cu")
    return Matched(None, None, _why_none(hand_in, exercise))


def _why_none(hand_in: HandIn, exercise: str) -> str:
    if hand_in.absent:
        return "nothing was handed in"
    if first := [*hand_in.set_aside.items()][:5]:
        return "; ".join(f"{name} was set aside: {reason}" for name, reason in first)
    return "no .cu file" if not hand_in.files else f"no file named after {exercise}"


def _latest(names: Sequence[str]) -> list[str]:
    """The names without those that a later file of the same name replaces."""
    newest: dict[str, tuple[int, str]] = {}
    for name in names:
        found = _RESUBMITTED.search(name)
        number = int(found[1] or found[2]) if found else 0
        base = _RESUBMITTED.sub("", name)
        newest[base] = max(newest.get(base, (-1, "")), (number, name))
    return [name for _, name in newest.values()]
