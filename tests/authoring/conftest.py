from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.authoring.new import write_new_exercise

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def timed_exercise(tmp_path: Path) -> Path:
    """The folder of a new exercise, timed at a size that takes a second to model instead of
    four."""
    folder = write_new_exercise("add_up", tmp_path)[0].parent
    edit_spec(folder, lambda spec: spec["benchmark"]["gpu"].update(n=1 << 24))
    return folder


@pytest.fixture
def exercise(timed_exercise: Path) -> Path:
    """The same without the check that asks for a time: nothing is modelled."""
    handout = timed_exercise / "README.md"
    lines = handout.read_text().replace("| 40 | **Corr", "| 60 | **Corr").splitlines(keepends=True)
    left_out = ("Performance: PASSED", "**Performance**")
    handout.write_text("".join(line for line in lines if not any(map(line.count, left_out))))
    edit_spec(timed_exercise, lambda spec: spec["checks"].pop())
    edit_spec(timed_exercise, lambda spec: spec["checks"][0].update(points=60))
    return timed_exercise


def edit_spec(folder: Path, change: Change) -> None:
    """Apply a change to the spec of an exercise."""
    path = folder / "spec.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
