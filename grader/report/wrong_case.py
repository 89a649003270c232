"""The places of wrong elements in plain lines: the first wrong element, the worst error, and a map
of the matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from grader.records import CaseResult, Mismatch

_LEGEND: Mapping[str, str] = {
    "·": "right",
    "▒": "some wrong",
    "█": "all wrong",
    "?": "never written",
}


def find_wrong_case(cases: Sequence[CaseResult]) -> CaseResult | None:
    """The first wrong case: of the exercise itself before its parts, and public before hidden,
    since public sizes may be shown."""
    return min(
        (case for case in cases if case.is_wrong),
        key=lambda case: (case.part is not None, case.hidden),
        default=None,
    )


def describe_mismatch(mismatch: Mismatch) -> Iterator[str]:
    """The first wrong element and the worst error."""
    place = "".join(f"[{i}]" for i in mismatch.index or ())
    expected, got = _two_figures(mismatch.expected, mismatch.got)
    yield f"first wrong: {mismatch.buffer}{place}, expected {expected}, got {got}"
    worst = mismatch.worst_error
    yield f"worst error: {f'{worst:.4g}' if math.isfinite(worst) else 'not a finite number'}"


def draw_mismatch(mismatch: Mismatch) -> tuple[str, ...]:
    """The map, a cell two characters wide: about as wide as it is high; then the meaning of its
    signs."""
    picture = mismatch.picture
    if not picture:
        return ()
    used = [
        f"{glyph} {meaning}"
        for glyph, meaning in _LEGEND.items()
        if any(glyph in row for row in picture)
    ]
    return (*("".join(2 * cell for cell in row) for row in picture), ", ".join(used))


def _two_figures(expected: float, got: float) -> tuple[str, str]:
    """Both with as few digits as distinguish them."""
    pairs = ((f"{expected:.{digits}g}", f"{got:.{digits}g}") for digits in (6, 9, 12, 17))
    return next((pair for pair in pairs if pair[0] != pair[1]), (repr(expected), repr(got)))
