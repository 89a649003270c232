"""Fixes of a submission (`grade --what-if`): rewritings that were tried, and the effects of
each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, NamedTuple

from grader.records.bounds import Amount, Count, Figure, MetricName
from grader.records.devices import Source
from grader.statuses import CheckStatus

WHAT_IF_SECONDS = 20.0
"""No fix is tried later than this by default."""


class FixKind(StrEnum):
    """Kinds of fixes; grader.fixes.kinds has a row for each."""

    ROW_LENGTH = "row_length"
    SWIZZLE = "swizzle"
    ARRAY_AXES = "array_axes"
    AXES = "axes"
    THREAD_AXES = "thread_axes"
    STATEMENT_AXES = "statement_axes"
    DIVISION_AXES = "division_axes"
    BLOCK_SHAPE = "block_shape"
    VECTORS = "vectors"


class WhatIfMode(StrEnum):
    """The parts of a fix that an exercise shows to students: none, its effects, or its code too."""

    OFF = "off"
    NUMBERS = "numbers"
    FULL = "full"


ShownMode = Annotated[WhatIfMode, ("enum", ("numbers", "full"))]
"""A score exists in these modes only."""


class Edit(NamedTuple):
    """The characters from `start` up to `end` of a source text are replaced."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Fix:
    """A rewriting of a source text to try. `name` is the array, kernel or loop variable that it
    changes; `was` and `now` are the changed figures: the elements of a row, the threads of a block.
    `line` identifies a statement that has no other name."""

    kind: FixKind
    name: str
    edits: tuple[Edit, ...]
    was: tuple[int, ...] = ()
    now: tuple[int, ...] = ()
    line: int | None = None


@dataclass(frozen=True)
class FixEffect:
    """Value, status and points of a check with a fix."""

    check: str
    """The name of the check."""
    metric: MetricName
    value: Figure | None
    source: Source | None
    status: CheckStatus
    points: float


@dataclass(frozen=True)
class CodeChange:
    """Consecutive lines of the submission, before and after a fix."""

    line: int
    """The first line that changes."""
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class TriedFix:
    """A rewriting of the submission that is right in the public cases."""

    kind: FixKind
    name: str
    """The array or kernel that it changes; empty where the line identifies it."""
    was: tuple[int, ...]
    """The elements of a row, or the threads of a block along x and y, before the fix."""
    now: tuple[int, ...]
    """The same with the fix; of a swizzle the mask of the row."""
    line: int | None
    effects: tuple[FixEffect, ...]
    """On each check that lost points."""
    gain: float
    """Additional points of all checks of figures together, in the public cases."""
    time_ms: float | None
    """The modelled time, where it was modelled."""
    code: tuple[CodeChange, ...] = ()
    """The changes in the file; empty unless the mode is full."""


@dataclass(frozen=True)
class WhatIf:
    """The fixes that were tried."""

    mode: ShownMode
    """What the exercise shows: the effects, or the code too."""
    device: str
    """The emulated GPU that counted and modelled."""
    effects: tuple[FixEffect, ...]
    """The checks that lost points, of the submission as it is, on that device."""
    fixes: tuple[TriedFix, ...]
    """The fixes that bring a check nearer to its goal, the most points first."""
    broken: Count
    """Fixes that do not compile, do not run, or are wrong in a public case."""
    no_better: Count
    """Fixes that are right, and bring no check nearer to its goal."""
    untried: Count
    """Fixes for which there was no time."""
    seconds: Amount
    """Duration of all tries."""
