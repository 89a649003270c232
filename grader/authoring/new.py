"""Writes the files of a new exercise: a complete vector addition to edit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from grader.authoring.bundles import fill_template
from grader.authoring.new_files import write_new_files
from grader.errors import UsageError

FILES: Mapping[str, str] = {
    "exercises/@id@/spec.json": "spec.json",
    "exercises/@id@/oracle.py": "oracle.py",
    "exercises/@id@/cpu.c": "cpu.c",
    "exercises/@id@/README.md": "README.md",
    "starter/@id@.cu": "starter.cu",
    "solutions/@id@.cu": "solution.cu",
}
"""Where each file goes, and its template in `templates/`. `@id@` is the exercise's id, in names and
in texts."""

MAX_ID_LENGTH = 60
_ID = re.compile(r"[a-z][a-z0-9_]*")


def write_new_exercise(id_: str, root: Path) -> tuple[Path, ...]:
    """Write the files of the exercise `id_` below `root`; returns their paths.

    UsageError for an id that is none, and where one of the files is there already: nothing is
    written then.
    """
    _check_id(id_)
    texts = {
        root / place.replace("@id@", id_): fill_template(name, id=id_).encode()
        for place, name in FILES.items()
    }
    write_new_files(
        texts, otherwise="Choose another id or another --folder, or move the old files away."
    )
    return tuple(texts)


def _check_id(id_: str) -> None:
    if not _ID.fullmatch(id_) or len(id_) > MAX_ID_LENGTH:
        raise UsageError(
            f"{id_!r} cannot be the id of an exercise: it names folders and files",
            f"Use lower-case letters, digits and _, a letter first, at most {MAX_ID_LENGTH} of"
            " them: gemm_tiled, say.",
        )
