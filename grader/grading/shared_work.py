"""The work that gradings of one exercise share if they have the same seed and follow one another:
`grade --watch` grades each save so."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from grader.plumbing.identity import hash_files
from grader.spec.exercise import Exercise
from grader.spec.own_files import read_files
from grader.spec.reader import read_exercise

Made = TypeVar("Made")


@dataclass
class SharedWork:
    """The exercise, and values by name: inputs and expected outputs at the benchmark sizes, and
    compiled baselines. `ran_whole`: the last timed run executed all blocks."""

    ran_whole: bool = False
    _exercise: Exercise | None = None
    _files: str = ""
    _made: dict[Hashable, Any] = field(default_factory=dict)

    def read_exercise(self, folder: Path) -> Exercise:
        """The exercise in a folder, at the start of a grading. It is read again, and all values
        are obsolete, if a file of it has changed."""
        if self._exercise is None or not self._files or self._files != _digest(self._exercise):
            self._exercise = read_exercise(folder)
            self._files = _digest(self._exercise)
            self._made.clear()
        return self._exercise

    def once(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """The value of this name, which is made at the first call."""
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made


def _digest(exercise: Exercise) -> str:
    """A hash of the exercise's files; empty if one of them is missing."""
    try:
        return hash_files(read_files(exercise))
    except OSError:
        return ""
