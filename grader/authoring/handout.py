"""Makes the students' bundle of an exercise: the same bytes for the same files, and nothing that is
secret.

The bundle's folder is laid out as the grader wants an exercise, so that it can be graded in: with
the public cases only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from grader.authoring.bundles import fill_template, make_zip
from grader.errors import GraderError
from grader.spec.cpu import CPU_FILE, find_cpu_file
from grader.spec.exercise import Exercise
from grader.spec.reader import ORACLE_FILE, SPEC_FILE

HANDOUT_FILE = "README.md"
PICTURES = frozenset({".svg", ".png", ".jpg", ".jpeg", ".gif"})
"""What of the exercise's folder a handout may show."""


def make_bundle(exercise: Exercise) -> bytes:
    """The ZIP archive. GraderError where a file cannot be read, and where the bundle would hold the
    reference."""
    files = _collect(exercise)
    reference = exercise.reference_source.read_bytes() if exercise.reference_source else None
    if leaking := [name for name, content in files.items() if content == reference]:
        message = f"the bundle would hold the hidden reference: {leaking[0]} is the same file"
        raise GraderError(message, "Give the students another starter.")
    named = {f"{exercise.id}/{name}": content for name, content in sorted(files.items())}
    return make_zip(named, compress=False)


def public_spec(document: Mapping[str, Any]) -> dict[str, Any]:
    """The spec without its hidden cases, those of its parts too, and without the path of its
    schema."""
    spec = {field: value for field, value in document.items() if field != "$schema"}
    spec["cases"] = {**spec["cases"], "hidden": []}
    if "parts" in spec:
        spec["parts"] = {
            name: {**part, "cases": {**part["cases"], "hidden": []}}
            for name, part in spec["parts"].items()
        }
    return spec


def _collect(exercise: Exercise) -> dict[str, bytes]:
    """By their names in the bundle, the contents of all of its files."""
    folder, inner = exercise.folder, f"exercises/{exercise.id}"
    starter = exercise.baseline_source.read_bytes()
    spec = public_spec(json.loads((folder / SPEC_FILE).read_text(encoding="utf-8")))
    files = {
        f"{exercise.id}.cu": starter,
        f"starter/{exercise.id}.cu": starter,
        f"{inner}/{SPEC_FILE}": (json.dumps(spec, indent=2, ensure_ascii=False) + "\n").encode(),
        f"{inner}/{ORACLE_FILE}": (folder / ORACLE_FILE).read_bytes(),
        "test.py": _fill("test.py", exercise),
        "HOW_TO_RUN.md": _fill("HOW_TO_RUN.md", exercise),
    }
    if (cpu := find_cpu_file(exercise)) is not None:
        files[f"{inner}/{CPU_FILE}"] = cpu.read_bytes()
    shown = [
        path
        for path in folder.iterdir()
        if path.name == HANDOUT_FILE or path.suffix.lower() in PICTURES
    ]
    return files | {path.name: path.read_bytes() for path in shown}


def _fill(name: str, exercise: Exercise) -> bytes:
    hidden = ", ".join(case.name for case in exercise.hidden_cases) or "none"
    return fill_template(name, id=exercise.id, title=exercise.title, hidden=hidden).encode()
