from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.authoring.new import write_new_exercise

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def exercise(tmp_path: Path) -> Path:
    """The folder of a new exercise."""
    return write_new_exercise("add_up", tmp_path)[0].parent


def edit_spec(folder: Path, change: Change) -> None:
    """Apply a change to the spec of an exercise."""
    path = folder / "spec.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
