"""Writes the files of a new exercise: a complete exercise to edit, after a pattern. Files are
written all or none, and never over an existing file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from grader.authoring.bundles import TEMPLATES, fill_template
from grader.cpp.cursor import did_you_mean
from grader.errors import GraderError, UsageError

PATTERNS: Mapping[str, str] = {
    "elementwise": "a sum of two vectors: coalesced accesses",
    "reduction": "the sum of every row: shuffles, shared memory, bandwidth",
    "stencil": "five points of a matrix: a shared tile with a frame",
    "matrix": "a matrix product: shared tiles, a tolerance for sums of floats",
    "histogram": "counts by atomics: bins in shared memory, two launches",
    "graph": "sums over neighbours: inputs that functions of the oracle draw, a warp a vertex",
    "program": "a program with host code: allocations, copies, a launch, and checked calls",
}
"""The patterns, and the subject of each. The files are in `templates/patterns`."""

FILES: Mapping[str, str] = {
    "exercises/@id@/spec.json": "spec.json",
    "exercises/@id@/oracle.py": "oracle.py",
    "exercises/@id@/cpu.c": "cpu.c",
    "exercises/@id@/README.md": "README.md",
    "exercises/@id@/files/main.cu": "main.cu",
    "exercises/@id@/files/@id@.h": "header.h",
    "starter/@id@.cu": "starter.cu",
    "solutions/@id@.cu": "solution.cu",
}
"""The path of each file, and its template. `@id@` is the exercise's id, in names and in texts. A
pattern may lack the `cpu.c`, and only a program has supplied files."""

SCHEMA_FILE = "spec.schema.json"
"""For editors, beside the exercises; an existing file is not replaced."""
MAX_ID_LENGTH = 60
_ID = re.compile(r"[a-z][a-z0-9_]*")


def write_new_exercise(id_: str, root: Path, *, like: str = "elementwise") -> tuple[Path, ...]:
    """Writes the files of an exercise below `root` after a pattern; returns their paths.
    UsageError, without a written file, for an invalid id, an unknown pattern or an existing
    file."""
    _check_id(id_)
    if like not in PATTERNS:
        raise UsageError(
            f"there is no pattern {like!r}{did_you_mean(like, PATTERNS)}",
            f"The patterns are {', '.join(PATTERNS)}.",
        )
    files = {
        root / place.replace("@id@", id_): text.encode()
        for place, text in _fill_pattern(like, id_).items()
    }
    schema = root / "exercises" / SCHEMA_FILE
    if not schema.exists():
        shipped = resources.files("grader") / "schemas" / SCHEMA_FILE
        files[schema] = shipped.read_bytes()
    write_new_files(
        files, otherwise="Choose another id or another --folder, or move the old files away."
    )
    return tuple(files)


def _fill_pattern(pattern: str, id_: str) -> dict[str, str]:
    """The texts of a pattern's files, by their paths."""
    parts = {
        name: fill_template(f"{name}.md", id=id_).rstrip("\n") + "\n" for name in ("run", "reading")
    }
    there = {path.name for path in (TEMPLATES / "patterns" / pattern).iterdir()}
    return {
        place: fill_template(
            f"patterns/{pattern}/{name}", **parts, id=id_, schema=f"../{SCHEMA_FILE}"
        )
        for place, name in FILES.items()
        if f"{name}.template" in there
    }


def _check_id(id_: str) -> None:
    if not _ID.fullmatch(id_) or len(id_) > MAX_ID_LENGTH:
        raise UsageError(
            f"{id_!r} cannot be the id of an exercise: it names folders and files",
            f"Use lower-case letters, digits and _, a letter first, at most {MAX_ID_LENGTH} of"
            " them, for example gemm_tiled.",
        )


def write_new_files(files: Mapping[Path, bytes], *, otherwise: str) -> None:
    """Writes the files and their folders. UsageError, with the advice `otherwise`, if a file
    exists; GraderError if a file cannot be written. In both cases only new folders are left
    behind."""
    taken = [path for path in files if path.exists() or path.is_symlink()]
    if taken:
        raise UsageError(
            f"nothing was written, for {'this file is' if len(taken) == 1 else 'these files are'}"
            f" there already: {', '.join(map(str, taken))}",
            otherwise,
        )
    written: list[Path] = []
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:  # "x": what somebody else made meanwhile stays as it is
                written.append(path)
                file.write(content)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise GraderError(
            f"cannot write {error.filename}: {error.strerror}",
            "Give --folder a folder that you may write to.",
        ) from error
