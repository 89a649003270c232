"""Unpacks a zip of submissions: nothing outside of the target folder, no links, no more than so many files and bytes."""

from __future__ import annotations

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from grader.errors import UsageError

MAX_FILES = 100_000
MAX_FILE_BYTES = 16 << 20
MAX_TOTAL_BYTES = 2 << 30
WANTED = frozenset({".cu", ".cuh", ".yml", ".zip"})
"""What grading may need of an export; all else stays packed. `.cuh` only so that a student without a .cu can be told."""
_CHUNK_BYTES = 1 << 20
_ADVICE = "Unpack it yourself, take out what is no submission, and name the folder."


def extract_zip(archive: Path, target: Path) -> None:
    """Unpack the wanted files of `archive` into `target`, an empty folder.

    Raises UsageError for a file that is no zip, a member whose path leads out of the target, and for too many or too large ones.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [member for member in opened.infolist() if _is_wanted(member)]
            if len(members) > MAX_FILES:
                raise UsageError(f"{archive} holds {len(members):,} files; {MAX_FILES:,} are the most", _ADVICE)
            room = MAX_TOTAL_BYTES
            for member in members:
                room -= _extract(opened, member, target, archive, room)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"{archive} is no zip that can be read: {error}", "Pack it again, or unpack it and name the folder.") from error


def _is_wanted(member: zipfile.ZipInfo) -> bool:
    """Regular files of the wanted kinds; not the resource forks that macOS packs beside them."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    path = PurePosixPath(member.filename)
    return not member.is_dir() and kind in (0, stat.S_IFREG) and path.suffix.lower() in WANTED and "__MACOSX" not in path.parts


def _extract(opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, archive: Path, room: int) -> int:
    """Unpack one member; returns its size. What the archive says of the size is not trusted."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in member.filename or ":" in path.parts[0]:
        raise UsageError(f"{archive} holds {member.filename!r}, which leads out of it", "Grade no such archive: it is made to harm.")
    place = target.joinpath(*path.parts)
    written = 0
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with opened.open(member) as source, place.open("xb") as file:
            while chunk := source.read(_CHUNK_BYTES):
                written += len(chunk)
                if written > min(room, MAX_FILE_BYTES):
                    most = f"{MAX_FILE_BYTES >> 20} MiB a file and {MAX_TOTAL_BYTES >> 20} MiB together are the most"
                    raise UsageError(f"{archive}: {member.filename!r} is too large: {most}", _ADVICE)
                file.write(chunk)
    except (FileExistsError, IsADirectoryError, NotADirectoryError, ValueError) as error:
        raise UsageError(f"{archive} holds {member.filename!r} twice, or as a file and a folder", _ADVICE) from error
    except OSError as error:
        raise UsageError(f"{archive}: {member.filename!r} cannot be unpacked: {error.strerror}", _ADVICE) from error
    return written
