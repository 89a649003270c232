"""The public part of an exercise: all files except the hidden cases and the reference.

It needs only the standard library, since `setup.py` makes the wheel's exercises with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPEC_FILE = "spec.json"
ORACLE_FILE = "oracle.py"
HANDOUT_FILE = "README.md"
CPU_FILE = "cpu.c"
REPORT_PAGE = "docs/report.md"
"""The page that the handouts link to, below the root. It links to no other file."""
FILES_FOLDER = "files"
"""The supplied files of an exercise that grades programs."""
PICTURES = frozenset({".svg", ".png", ".jpg", ".jpeg", ".gif"})
"""Files of the exercise's folder that a handout may contain."""


def public_exercises(root: Path) -> dict[str, bytes]:
    """The public files of all exercises in `root`, their starters and the page that the handouts
    link to, by their paths below it."""
    page = root / REPORT_PAGE
    files = {REPORT_PAGE: page.read_bytes()} if page.is_file() else {}
    for spec in sorted((root / "exercises").glob(f"*/{SPEC_FILE}")):
        id_ = spec.parent.name
        for name, content in public_files(spec.parent).items():
            files[f"exercises/{id_}/{name}"] = content
        files |= starter_files(root, id_)
    return files


def starter_files(root: Path, id_: str) -> dict[str, bytes]:
    """The starter's file, or the files of its folder, by their paths below `root`."""
    single, folder = root / "starter" / f"{id_}.cu", root / "starter" / id_
    paths = [single] if single.is_file() else sorted(folder.glob("**/*.*"))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def public_files(folder: Path) -> dict[str, bytes]:
    """The contents of an exercise's public files by their names, the spec without hidden cases."""
    spec = public_spec(json.loads((folder / SPEC_FILE).read_text(encoding="utf-8")))
    others = (
        path
        for path in sorted(folder.iterdir())
        if path.name in (ORACLE_FILE, HANDOUT_FILE, CPU_FILE) or is_picture(path.name)
    )
    text = json.dumps(spec, indent=2, ensure_ascii=False) + "\n"
    supplied = (f"{FILES_FOLDER}/{name}" for name in spec.get("program", {}).get("supplied", []))
    return {
        SPEC_FILE: text.encode(),
        **{path.name: path.read_bytes() for path in others},
        **{name: (folder / name).read_bytes() for name in supplied},
    }


def is_picture(name: str) -> bool:
    """Whether a handout may show the file."""
    return Path(name).suffix.lower() in PICTURES


def public_spec(document: Mapping[str, Any]) -> dict[str, Any]:
    """The spec without hidden cases, also in its parts, and without the path of its schema."""
    spec = {field: value for field, value in document.items() if field != "$schema"}
    if "program" in spec:
        program = spec["program"]
        return {**spec, "program": {**program, "runs": _public_cases(program["runs"])}}
    spec["cases"] = _public_cases(spec["cases"])
    if "parts" in spec:
        spec["parts"] = {
            name: {**part, "cases": _public_cases(part["cases"])}
            for name, part in spec["parts"].items()
        }
    return spec


def _public_cases(cases: Mapping[str, Any]) -> dict[str, Any]:
    """The public cases, and a mark that hidden cases exist."""
    left_out = bool(cases["hidden"]) or cases.get("hidden_left_out", False)
    return {**cases, "hidden": [], **({"hidden_left_out": True} if left_out else {})}


@dataclass(frozen=True)
class CourseEntry:
    """The title of an exercise, and its place in a course: `hours` and `topics` are texts. Without
    a place, `week` is None and the texts are empty."""

    title: str
    week: int | None = None
    hours: str = ""
    topics: str = ""


def read_entry(folder: Path) -> CourseEntry | None:
    """The entry of the exercise in the folder; None if its spec cannot be read."""
    try:
        spec = json.loads((folder / SPEC_FILE).read_text(encoding="utf-8"))
        place = spec.get("course") or {}
        week = place.get("week")
        texts = (str(place.get(field, "")) for field in ("hours", "topics"))
        return CourseEntry(str(spec["title"]), week if isinstance(week, int) else None, *texts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
