"""Patterns in a wrong output, as facts: messages.outputs makes a sentence of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Holds(StrEnum):
    """The content of all wrong elements."""

    ZERO = "zero"
    NOT_FINITE = "not finite"


class Move(StrEnum):
    """The place where the values of the wrong elements belong."""

    UNTRANSPOSED = "untransposed"
    BLOCKS_UNSWAPPED = "blocks unswapped"
    TILES_IN_PLACE = "tiles in place"
    FROM_THE_RIGHT = "from the right"
    FROM_THE_LEFT = "from the left"
    FROM_BELOW = "from below"
    FROM_ABOVE = "from above"


@dataclass(frozen=True)
class Span:
    """Rows or columns from `first` to `last`, both included, of `size`."""

    first: int
    last: int
    size: int

    @property
    def is_all(self) -> bool:
        """Whether it contains all rows or columns."""
        return self.first == 0 and self.last == self.size - 1


@dataclass(frozen=True)
class Diagnosis:
    """A simple explanation of a wrong matrix, if there is one.

    `tile` is the tile size of a `move` of tiles. `off_diagonal`: exactly the tiles of this size off
    the diagonal are wrong. `rows` and `columns` contain all wrong elements; with `ragged`, exactly
    the partial tiles at the lower and at the right edge are wrong.
    """

    all_wrong: bool = False
    holds: Holds | None = None
    move: Move | None = None
    tile: int = 0
    off_diagonal: int | None = None
    rows: Span | None = None
    columns: Span | None = None
    ragged: bool = False
