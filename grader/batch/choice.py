"""The students that `--only` selects, by names, ids or patterns."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Mapping, Sequence

from grader.batch.collect import HandIn
from grader.errors import UsageError

_MOST_NAMES = 5


def choose_students(
    patterns: Sequence[str], hand_ins: Sequence[HandIn], shown: Mapping[str, str]
) -> set[str]:
    """The students that the patterns select; without patterns all. `shown`: their names in the
    results.

    A pattern that equals a name or an id selects this student. Else `*`, `?` and `[...]` match as
    in file names. Case is ignored. Raises UsageError, with similar names, if a pattern matches no
    student.
    """
    if not patterns:
        return {each.student for each in hand_ins}
    names = {
        each.student: _fold_all((each.student, shown[each.student], each.student_id))
        for each in hand_ins
    }
    chosen: set[str] = set()
    for pattern in patterns:
        wanted = pattern.casefold()
        found = {student for student, own in names.items() if wanted in own}
        found = found or {
            student
            for student, own in names.items()
            if any(fnmatch.fnmatchcase(name, wanted) for name in own)
        }
        if not found:
            raise UsageError(
                f"--only {pattern!r} matches no student", _advise(wanted, shown.values())
            )
        chosen |= found
    return chosen


def _fold_all(names: Iterable[str | None]) -> set[str]:
    return {name.casefold() for name in names if name}


def _advise(wanted: str, shown: Iterable[str]) -> str:
    """Similar names, else the form of a pattern."""
    names = {name.casefold(): name for name in shown}
    plain = wanted.strip("*?")
    near = [name for name in names if plain and plain in name][:_MOST_NAMES]
    near = near or difflib.get_close_matches(plain, list(names), n=_MOST_NAMES)
    if near:
        return f"Did you mean {' or '.join(repr(names[name]) for name in near)}?"
    return "Give a name or an id from `grade show`, or a pattern such as 'doe*'."
