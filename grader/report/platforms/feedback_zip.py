"""Feedback for each student, packed for a platform: a page and a Markdown file.

Moodle (the assignment's "Upload multiple feedback files in a zip") finds a student by the folder
`NAME_NUMBER_assignsubmission_file_`, the same as in its own download: NAME without underscores,
NUMBER the participant's. Canvas (Assignments > "Upload submissions") finds a submission by the
first two numbers between underscores of a file's name, the student's and the attachment's, and
shows it under the name of the submitted file.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, count
from pathlib import Path, PurePosixPath

from grader.errors import UsageError
from grader.records import BatchEntry, BatchSummary
from grader.report.feedback import format_feedback, format_nothing
from grader.report.html import read_entry_score, read_source
from grader.report.html.submission import render_submission
from grader.report.platforms.gradebooks import FindRow


class Packing(StrEnum):
    """The names of the files: by the rules of a platform, or in a folder for each student."""

    MOODLE = "moodle"
    CANVAS = "canvas"
    FOLDERS = "folders"


class Content(StrEnum):
    """The files for each student."""

    BOTH = "both"
    PAGE = "page"
    MARKDOWN = "markdown"


@dataclass(frozen=True)
class LeftOut:
    """A submission without feedback, and the reason."""

    entry: BatchEntry
    reason: str


@dataclass(frozen=True)
class PackedFeedback:
    """The zip; `students` have files in it."""

    content: bytes
    students: int
    files: int
    left_out: tuple[LeftOut, ...]


_MOODLE_FOLDER = re.compile(r"(?P<folder>[^_]+_\d+_assignsubmission_file_?)", re.DOTALL)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]")
_NO_NAME = "{platform} did not name its file: give its roster, or pack it as folders"
_DATE = (2000, 1, 1, 0, 0, 0)
"""The modification time of all files: the same feedback makes the same zip."""


def guess_packing(batch: BatchSummary) -> Packing:
    """The platform of the submissions, where all came from one platform that accepts feedback."""
    platforms = {entry.platform for entry in batch.entries if entry.submission}
    known = {packing.value for packing in Packing}
    found = platforms.pop() if len(platforms) == 1 else None
    return Packing(found) if found in known else Packing.FOLDERS


def pack_feedback(
    out: Path,
    batch: BatchSummary,
    packing: Packing,
    *,
    content: Content = Content.BOTH,
    find_row: FindRow | None = None,
    note: Callable[[BatchEntry], Sequence[str]] = lambda entry: (),
) -> PackedFeedback:
    """Feedback on all entries of a batch in its folder `out`. Failed gradings, and students whom
    the platform would not find, are left out.

    `note` gives sentences on an entry's points. Raises UsageError where no student is left.
    """
    titles = {exercise.id: exercise.title for exercise in batch.exercises}
    find = find_row or (lambda student, student_id: {})
    files: dict[str, bytes] = {}
    left_out, students = [], set()
    for entry in batch.entries:
        stem = _name_stem(entry, packing, find)
        reason = _refuse(entry) or ("" if stem else _explain_nameless(entry, packing))
        if reason:
            left_out.append(LeftOut(entry, reason))
            continue
        students.add(entry.student)
        for suffix, text in _write(out, entry, titles[entry.exercise], content, note(entry)):
            files[_unused(f"{stem}{suffix}", files)] = text.encode("utf-8", "replace")
    if not files:
        reason = left_out[0].reason if left_out else "no submissions"
        raise UsageError(f"there is no feedback to pack: {reason}", "Try --format folders.")
    return PackedFeedback(_zip(files), len(students), len(files), tuple(left_out))


def _refuse(entry: BatchEntry) -> str:
    if entry.status is not None and entry.status.is_worth_a_retry:
        return "its grading failed: `grade batch --rerun failed` tries again"
    return entry.message if entry.status is None and entry.submission else ""


def _explain_nameless(entry: BatchEntry, packing: Packing) -> str:
    return _NO_NAME.format(platform=packing.title()) if entry.submission else entry.message


def _write(
    out: Path, entry: BatchEntry, title: str, content: Content, notes: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Endings and texts of an entry's files."""
    score = read_entry_score(out, entry)
    if score is None:
        text = format_nothing(entry.message, student=entry.student, title=title, notes=notes)
        yield ".md", text
        return
    if content is not Content.MARKDOWN:
        text = render_submission(
            score,
            student=entry.student,
            title=title,
            source=read_source(out, entry),
            notes=notes,
            handed_back=True,
        )
        yield ".html", text
    if content is not Content.PAGE:
        yield ".md", format_feedback(score, student=entry.student, title=title, notes=notes)


def _name_stem(entry: BatchEntry, packing: Packing, find_row: FindRow) -> str | None:
    """The files' names without their endings; None where the platform would not find the
    student."""
    name = f"{entry.exercise}-feedback"
    if packing is Packing.FOLDERS:
        path = PurePosixPath(entry.score_path) if entry.score_path else None
        return f"{path.stem if path else _safe(entry.student)}/{name}"
    if packing is Packing.CANVAS:
        own = entry.handed_in_as if entry.platform == packing.value else None
        return _safe(PurePosixPath(own).stem) if own else None
    if entry.platform == packing.value and entry.handed_in_as:
        found = _MOODLE_FOLDER.match(entry.handed_in_as)
        return f"{_safe(found['folder'])}/{name}" if found else None
    row: Mapping[str, str] = find_row(entry.student, entry.student_id)
    number = row.get("Identifier", "").removeprefix("Participant ")
    if not number.isdecimal():
        return None
    shown = _safe(row.get("Full name") or entry.student).replace("_", " ")
    return f"{shown}_{number}_assignsubmission_file_/{name}"


def _safe(name: str) -> str:
    """A name that every system accepts for a file."""
    return _UNSAFE.sub(" ", name).strip(" .") or "unnamed"


def _unused(name: str, files: Mapping[str, bytes]) -> str:
    stem, dot, suffix = name.rpartition(".")
    further = (f"{stem}-{number}{dot}{suffix}" for number in count(2))
    return next(each for each in chain([name], further) if each not in files)


def _zip(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name, _DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)
    return packed.getvalue()
