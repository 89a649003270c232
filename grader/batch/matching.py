"""Assigns a student's files to exercises."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.batch.collect import HandIn

_RESUBMITTED = re.compile(r"(?:-(\d+)| \((\d+)\))(?=\.cu\Z)", re.IGNORECASE)
"""The number that Canvas or a browser adds to the name of a resubmitted file."""


@dataclass(frozen=True)
class Matched:
    """The file for an exercise, or the reason why there is none."""

    name: str | None
    path: Path | None
    problem: str = ""


def match_files(hand_in: HandIn, exercises: Sequence[str]) -> dict[str, Matched]:
    """The student's file for each exercise.

    A single file belongs to a single exercise. Else a file belongs to the
    longest exercise id in its name. Of several versions of a name the last submitted is taken.
    """
    claimed: dict[str, list[str]] = {exercise: [] for exercise in exercises}
    for name in hand_in.files:
        if (owner := _claim(name, exercises)) is not None:
            claimed[owner].append(name)
    return {
        exercise: _choose(hand_in, exercise, claimed[exercise], alone=len(exercises) == 1)
        for exercise in exercises
    }


def _claim(name: str, exercises: Sequence[str]) -> str | None:
    plain = _plain(Path(name).name)
    return max(
        (exercise for exercise in exercises if _plain(exercise) in plain), key=len, default=None
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _choose(hand_in: HandIn, exercise: str, claimed: Sequence[str], *, alone: bool) -> Matched:
    names = list(claimed) or (list(hand_in.files) if alone else [])
    exact = [name for name in names if Path(name).name == f"{exercise}.cu"]
    latest = _latest(exact if len(exact) == 1 else names)
    if len(latest) == 1:
        return Matched(latest[0], hand_in.files[latest[0]])
    if latest:
        shown = ", ".join(latest[:5]) + (", ..." if len(latest) > 5 else "")
        return Matched(
            None,
            None,
            f"several files could be for {exercise}: {shown}; keep only one, or name it"
            f" {exercise}.cu",
        )
    return Matched(None, None, _why_none(hand_in, exercise))


def _why_none(hand_in: HandIn, exercise: str) -> str:
    if hand_in.absent:
        return "nothing was handed in"
    if hand_in.set_aside:
        return "; ".join(
            f"{name} was set aside: {reason}" for name, reason in [*hand_in.set_aside.items()][:5]
        )
    return "no .cu file" if not hand_in.files else f"no file named after {exercise}"


def _latest(names: Sequence[str]) -> list[str]:
    """The names without those that a later file of the same name replaces."""
    newest: dict[str, tuple[int, str]] = {}
    for name in names:
        found = _RESUBMITTED.search(name)
        number = int(found[1] or found[2]) if found else 0
        base = _RESUBMITTED.sub("", name)
        newest[base] = max(newest.get(base, (-1, "")), (number, name))
    return [name for _, name in newest.values()]
