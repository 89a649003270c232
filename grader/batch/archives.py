"""Unpacks a zip of submissions: only below the target folder, without links, within limits of files
and bytes.

A member that cannot be unpacked does not stop the others: it is listed by name, and an empty file
takes its place, so that its owner is still found (collect).
"""

from __future__ import annotations

import contextlib
import errno
import lzma
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.errors import UsageError

MAX_FILES = 100_000
MAX_FILE_BYTES = 16 << 20
MAX_TOTAL_BYTES = 2 << 30
WANTED = frozenset({".cu", ".cuh", ".yml", ".zip"})
"""Unpacked file types. A `.cuh` is never graded: it shows that a student handed in no .cu file."""
_ADVICE = "Unpack it, remove all files that are not submissions, and name the folder."
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    OSError,
    OverflowError,
)
"""Exceptions of zipfile for a broken or encrypted member, or an unknown compression."""
_TAKEN_NAMES = (errno.EEXIST, errno.EISDIR, errno.ENOTDIR)
_BAD_NAMES = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST_PART_BYTES = 180
"""Limit of a name in the target: leaves bytes for a number (Linux allows 255)."""
_MOST_PARTS = 12


@dataclass(frozen=True)
class SetAside:
    """A member that was not unpacked: its name in the archive, the reason, and the empty file in
    its place (None: its owner is unknown)."""

    name: str
    reason: str
    place: Path | None


class _BadMemberError(Exception):
    """The reason why a member cannot be unpacked."""


def extract_zip(archive: Path, target: Path) -> tuple[SetAside, ...]:
    """Unpacks the wanted files into `target`, an empty folder; returns the members that were left
    out. UsageError if the file is no zip, has too many files, or the target cannot be written."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [member for member in opened.infolist() if _is_wanted(member)]
            if len(members) > MAX_FILES:
                message = f"{archive} holds {len(members):,} files; {MAX_FILES:,} are the most"
                raise UsageError(message, _ADVICE)
            return _extract_all(opened, members, target)
    except _UNREADABLE as error:
        raise UsageError(
            f"{archive} is not a readable zip: {error}",
            "Pack it again, or unpack it and name the folder.",
        ) from error


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    """Whether a member has a wanted type or no name. The resource forks of macOS are not wanted."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if member.filename.endswith("/") or "__MACOSX" in path.parts:
        return False
    return path.suffix.lower() in WANTED or not path.name


def _extract_all(
    opened: zipfile.ZipFile, members: list[zipfile.ZipInfo], target: Path
) -> tuple[SetAside, ...]:
    set_aside: list[tuple[zipfile.ZipInfo, str]] = []
    bytes_left = MAX_TOTAL_BYTES
    for member in members:
        try:
            content = _read(opened, member, bytes_left)
            _write(target, _parts(member.filename), content)
        except _BadMemberError as reason:
            set_aside.append((member, str(reason)))
        else:
            bytes_left -= len(content)
    # After all others: an empty file must not take the place of a good member.
    return tuple(
        SetAside(member.filename, reason, _stand_in(target, member.filename, number))
        for number, (member, reason) in enumerate(set_aside, start=2)
    )


def _read(opened: zipfile.ZipFile, member: zipfile.ZipInfo, bytes_left: int) -> bytes:
    """A member's content. zipfile enforces the size in the member's header as a limit."""
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise _BadMemberError("it is a link or another special file")
    if member.file_size > MAX_FILE_BYTES:
        raise _BadMemberError(f"it is too large: {MAX_FILE_BYTES >> 20} MiB a file are the most")
    if member.file_size > bytes_left:
        raise _BadMemberError(
            f"the archive is too large: {MAX_TOTAL_BYTES >> 20} MiB together are the most"
        )
    if member.flag_bits & 0x1:
        raise _BadMemberError("it is encrypted")
    try:
        return opened.read(member)
    except _UNREADABLE as error:
        raise _BadMemberError(f"it cannot be unpacked: {error}") from error


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a member's path, relative to the target."""
    path = PurePosixPath(name.replace("\\", "/"))
    if not path.name:
        raise _BadMemberError("it has no name")
    if path.is_absolute() or ".." in path.parts or _DRIVE.match(path.parts[0]):
        raise _BadMemberError("its path leads out of the archive")
    return path.parts


def _write(target: Path, parts: tuple[str, ...], content: bytes) -> Path:
    """Writes a new file below the target."""
    place = target.joinpath(*parts)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.write(content)
    except OSError as error:
        if error.errno in _TAKEN_NAMES:
            message = "another member has its name, or is a file with the name of its folder"
            raise _BadMemberError(message) from error
        if error.errno in _BAD_NAMES:
            raise _BadMemberError(f"it cannot have this name here: {error.strerror}") from error
        raise UsageError(
            f"the archive cannot be unpacked: {error.strerror}",
            "Make room in the folder for temporary files.",
        ) from error
    return place


def _stand_in(target: Path, name: str, number: int) -> Path | None:
    """Writes an empty .cu file with this or a similar name; None for any other path."""
    try:
        parts = _parts(name)
    except _BadMemberError:
        return None
    if PurePosixPath(parts[-1]).suffix.lower() != ".cu":
        return None
    *folders, last = (_shortened(part) for part in parts[-_MOST_PARTS:])
    another = f"{_shortened(last[:-3])} ({number}).cu"
    # The name may exist, and a folder may be a file.
    for tried in ((*folders, last), (*folders, another), (another,)):
        with contextlib.suppress(_BadMemberError):
            return _write(target, tried, b"")
    return None


def _shortened(part: str) -> str:
    """A part of a path; a long part is cut before its suffix."""
    encoded = part.encode("utf-8", "replace")
    if len(encoded) <= _LONGEST_PART_BYTES:
        return encoded.decode()
    return encoded[:_LONGEST_PART_BYTES].decode("utf-8", "ignore") + PurePosixPath(part).suffix[:4]
