"""The messages between the language server and the child process that grades a file. The server
stays responsive, and ends a grading by ending its child."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.records import WHAT_IF_SECONDS, Progress, Score, WhatIf


@dataclass(frozen=True)
class Settings:
    """The settings of an editor. `exercise`: a folder or a name; None: found for each file.
    `fix_seconds`: no fix is tried later. `seed`: the same for all gradings, so that only changes of
    the file change figures."""

    exercise: str | None = None
    device: str = "auto"
    model: bool = True
    fix_seconds: float = WHAT_IF_SECONDS
    seed: int = 0


@dataclass(frozen=True)
class GradeJob:
    """A file to grade, with its text in the editor."""

    path: Path
    text: str
    settings: Settings


@dataclass(frozen=True)
class NotGraded:
    """No grading is possible. `is_error`: a setting or an exercise is wrong; otherwise the file
    belongs to no exercise."""

    message: str
    is_error: bool = False


@dataclass(frozen=True)
class Graded:
    """A score, and the exercise's name."""

    exercise: str
    score: Score


Answer = Progress | NotGraded | Graded | WhatIf
"""The messages of the child. After `Graded`, the effects of fixes may follow."""
