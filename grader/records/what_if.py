"""What if: rewritings of a submission that were tried, and what each would give."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from grader.records.sources import Source
from grader.statuses import CheckStatus

WHAT_IF_SECONDS = 20.0
"""No mend is begun later than this, unless somebody says otherwise."""


class MendKind(StrEnum):
    """What a mend changes; grader.fixes.kinds has a row for each."""

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
    """What an exercise lets students see of mends: nothing, their effects, or their code too."""

    OFF = "off"
    NUMBERS = "numbers"
    FULL = "full"


class Edit(NamedTuple):
    """The characters from `start` up to `end` of a source text are replaced."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Mend:
    """A rewriting of a source text that may serve. `name` is that of the array, kernel or loop
    variable that it is about; `was` and `now` are the figures that it changes: the elements of a
    row, the threads of a block. `line` is that of a statement which is named by nothing else."""

    kind: MendKind
    name: str
    edits: tuple[Edit, ...]
    was: tuple[int, ...] = ()
    now: tuple[int, ...] = ()
    line: int | None = None


@dataclass(frozen=True)
class MendEffect:
    """What a check that lost points would come to; `value` is None where it could not be told."""

    check: str
    metric: str
    value: float | None
    source: Source | None
    status: CheckStatus
    points: float


@dataclass(frozen=True)
class CodeChange:
    """A stretch of lines of the submission, from `line` on, and what a mend makes of it."""

    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class TriedMend:
    """A mend that is right in the public cases, and better. `gain` is what it adds to the points of
    the checks that lost some, less what it costs others; `code` is empty unless the exercise shows
    it."""

    kind: MendKind
    name: str
    was: tuple[int, ...]
    now: tuple[int, ...]
    line: int | None
    effects: tuple[MendEffect, ...]
    gain: float
    time_ms: float | None
    code: tuple[CodeChange, ...] = ()


@dataclass(frozen=True)
class WhatIf:
    """What was tried. `device` is the emulated GPU that counted and modelled, `effects` what it
    makes of the submission as it is, `mends` what is better, the most points first. Of the others,
    `broken` do not compile, do not run, or are wrong; `no_better` bring no check nearer to its
    goal; for `untried` there was no time."""

    mode: WhatIfMode
    device: str
    effects: tuple[MendEffect, ...]
    mends: tuple[TriedMend, ...]
    broken: int
    no_better: int
    untried: int
    seconds: float
