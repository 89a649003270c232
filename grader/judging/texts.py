"""Compares the output of a program with the expected text: word by word, and numbers within a
tolerance."""

from __future__ import annotations

import math
from itertools import zip_longest

from grader.spec.exercise import Tolerance

_MOST_SHOWN = 60
_MOST_WORDS = 1 << 20


def find_difference(
    got: str, expected: str, tolerance: Tolerance, *, where: str, hidden: bool
) -> str:
    """The first difference as a clause, empty where the texts agree. `where` names the text; for a
    hidden run the clause has nothing of the texts."""
    lines = zip_longest(_lines(got), _lines(expected))
    for number, (have, want) in enumerate(lines, start=1):
        if have is not None and want is not None and _agree(have, want, tolerance):
            continue
        if hidden:
            return f"{where} is wrong"
        if have is None:
            return f"{where} ends before line {number}, {_show(want or '')}"
        if want is None:
            return f"{where} has more lines than expected: line {number} is {_show(have)}"
        return f"line {number} of {where} is {_show(have)}, and not {_show(want)}"
    return ""


def _lines(text: str) -> list[str]:
    """Lines without white space at their ends, and without empty lines at the end of the text."""
    return [line.rstrip() for line in text.rstrip().split("\n")] if text.strip() else []


def _agree(have: str, want: str, tolerance: Tolerance) -> bool:
    if have == want:
        return True
    ours, theirs = have.split(None, _MOST_WORDS), want.split(None, _MOST_WORDS)
    return len(ours) == len(theirs) and all(
        a == b or _is_near(a, b, tolerance) for a, b in zip(ours, theirs, strict=True)
    )


def _is_near(have: str, want: str, tolerance: Tolerance) -> bool:
    got, expected = _number(have), _number(want)
    if got is None or expected is None or tolerance.exact:
        return False
    allowed = tolerance.absolute + tolerance.relative * abs(expected)
    return abs(got - expected) <= allowed


def _number(word: str) -> float | None:
    """A finite number with its punctuation: `3.5,` and `sum=3.5` are words, `3.5` is a number."""
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _show(line: str) -> str:
    cut = line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 3]}..."
    return f"'{cut}'" if cut.strip() else "empty"
