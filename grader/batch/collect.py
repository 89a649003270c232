"""Finds the students and their files in a folder of files or a folder per student, as platforms
export them.

Canvas exports one folder of files `doejane_LATE_4711_815_transpose-1.cu`; Moodle a folder per
student `Jane Doe_4711_assignsubmission_file_` (or files of such names); Gradescope folders
`submission_4711` and a `submission_metadata.yml` that names the students. For other names the
student is the name of the file or folder: `jane.cu`, `jane/`.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import UsageError

SUFFIX = ".cu"
METADATA = "submission_metadata.yml"
_ADVICE = "Name a folder of .cu files, a folder with one folder per student, or a zip of either."
_CANVAS = re.compile(r"(?P<student>[^_]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)", re.DOTALL)
_MOODLE = re.compile(r"(?P<student>.+)_(?P<id>\d+)_assignsubmission_file_?(?P<file>.*)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_(?P<id>\d+)")
_BLOCK = re.compile(r"^(submission_\d+):[ \t]*$(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"^[ \t]*-?[ \t]*:name:[ \t]*(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class HandIn:
    """The files of one student: `files` maps shown names to paths, `set_aside` names of files that
    cannot be graded to reasons. `exported_as`: the student's folder in the platform's export.
    `absent`: the student is in the roster but handed in nothing."""

    student: str
    student_id: str | None = None
    platform: str | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    set_aside: Mapping[str, str] = field(default_factory=dict)
    exported_as: str | None = None
    absent: bool = False


def collect(folder: Path, set_aside: Mapping[Path, str] | None = None) -> list[HandIn]:
    """All students of a folder in order of their unique names. `set_aside`: the empty files of
    members that were not unpacked, with reasons (archives). Links, pipes and hidden files are set
    aside too. Raises UsageError if the folder cannot be read or has no .cu file."""
    try:
        root = _unwrap(folder)
        entries = sorted(root.iterdir())
        metadata = _read_metadata(root)
        every = (*_folders(entries, metadata), *_files(entries))
        found = [_without(each, set_aside or {}) for each in every]
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}", _ADVICE) from error
    if not any(each.files or each.set_aside for each in found):
        raise UsageError(f"there is no {SUFFIX} file in {folder}", _ADVICE)
    return name_uniquely(found)


def _without(hand_in: HandIn, set_aside: Mapping[Path, str]) -> HandIn:
    """Moves the files that cannot be graded to `set_aside`."""
    reasons = {name: set_aside.get(path) or _refuse(path) for name, path in hand_in.files.items()}
    good = {name: path for name, path in hand_in.files.items() if not reasons[name]}
    bad = {name: why for name, why in reasons.items() if why}
    return replace(hand_in, files=good, set_aside=bad)


def _refuse(path: Path) -> str:
    """The reason why a file or a folder is not graded; empty if it is."""
    if path.name.startswith("."):
        return "its name begins with a dot"
    try:
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            next(path.iterdir(), None)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if stat.S_ISLNK(mode):
        return "it is a symbolic link, and links are not followed"
    return "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else "it is a pipe, a socket or a device"


def _unwrap(folder: Path) -> Path:
    """The folder, or its only subfolder if that contains several students: many exports have an
    extra folder around them."""
    while True:
        entries = [
            entry for entry in folder.iterdir() if not entry.name.startswith((".", "__MACOSX"))
        ]
        if len(entries) != 1 or not entries[0].is_dir() or entries[0].is_symlink():
            return folder
        inner = [entry for entry in entries[0].iterdir() if not entry.name.startswith(".")]
        several = sum(entry.is_dir() or entry.suffix.lower() == SUFFIX for entry in inner) > 1
        if not several and not any(
            entry.name == METADATA or _MOODLE.fullmatch(entry.name) for entry in inner
        ):
            return folder
        folder = entries[0]


def _folders(entries: list[Path], metadata: Mapping[str, str]) -> Iterator[HandIn]:
    for entry in entries:
        if not entry.is_dir() or entry.name == "__MACOSX":
            continue
        files = {
            path.relative_to(entry).as_posix(): path
            for path in sorted(entry.rglob("*"))
            if _is_source(path) or (path.is_dir() and _refuse(path).startswith("it cannot"))
        }
        if reason := _refuse(entry):
            if files or not reason.startswith("its name"):  # not the folders of git and editors
                yield HandIn(entry.name.lstrip("."), files={entry.name: entry})
            continue
        name = entry.name
        if moodle := _MOODLE.fullmatch(name):
            yield HandIn(moodle["student"], moodle["id"], "moodle", files, exported_as=name)
        elif gradescope := _GRADESCOPE.fullmatch(name):
            yield HandIn(metadata.get(name) or name, gradescope["id"], "gradescope", files)
        else:
            yield HandIn(name, files=files)


def _files(entries: list[Path]) -> Iterator[HandIn]:
    """The students of files without folders: files of the same owner form a hand-in."""
    owned: dict[tuple[str, str | None, str | None], dict[str, Path]] = {}
    for path in filter(_is_source, entries):
        owner: tuple[str, str | None, str | None]
        shown = path.name.lstrip("._") if path.name.startswith(".") else path.name
        if moodle := _MOODLE.fullmatch(shown):
            owner, name = (moodle["student"], moodle["id"], "moodle"), moodle["file"]
        elif canvas := _CANVAS.fullmatch(shown):
            owner, name = (canvas["student"], canvas["id"], "canvas"), canvas["file"]
        else:
            owner, name = (Path(shown).stem, None, None), path.name
        owned.setdefault(owner, {})[name] = path
    for (student, student_id, platform), files in owned.items():
        yield HandIn(student, student_id, platform, files)


def _is_source(path: Path) -> bool:
    """Whether a path has the name of a source file and is no folder."""
    return path.suffix.lower() == SUFFIX and "__MACOSX" not in path.parts and not path.is_dir()


def _read_metadata(root: Path) -> dict[str, str]:
    """Gradescope's submitters by folder. Reads only these entries, line by line."""
    path = root / METADATA
    if not path.is_file() or path.is_symlink():
        return {}
    blocks = _BLOCK.findall(path.read_text(encoding="utf-8", errors="replace"))
    return {
        folder: ", ".join(name.strip().strip("\"'") for name in _NAME.findall(block))
        for folder, block in blocks
    }


def name_uniquely(found: list[HandIn]) -> list[HandIn]:
    """Adds the id, else a number, to the names of students with equal names."""
    unique: dict[str, HandIn] = {}
    for each in sorted(
        found, key=lambda each: (each.student.casefold(), each.student, each.student_id or "")
    ):
        name = each.student.strip() or "unnamed"
        if name in unique and each.student_id:
            name = f"{name} ({each.student_id})"
        base, count = name, 2
        while name in unique:
            name, count = f"{base} ({count})", count + 1
        unique[name] = replace(each, student=name)
    return list(unique.values())
