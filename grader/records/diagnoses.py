"""How a wrong output is wrong: facts, of which words.outputs makes a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Holds(StrEnum):
    """What all wrong elements hold."""

    ZERO = "zero"
    NOT_FINITE = "not finite"


class Move(StrEnum):
    """Where the values that the wrong elements hold belong."""

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
        """Whether nothing is left out."""
        return self.first == 0 and self.last == self.size - 1


@dataclass(frozen=True)
class Diagnosis:
    """What explains a wrong matrix, as far as something simple does.

    `tile` belongs to the `move` of tiles. `off_diagonal`: exactly the tiles of this size off the
    diagonal are wrong. `rows` and `columns` hold all wrong elements; `ragged`: rather, these are
    partial tiles at the lower and at the right edge, and only they are wrong.
    """

    all_wrong: bool = False
    holds: Holds | None = None
    move: Move | None = None
    tile: int = 0
    off_diagonal: int | None = None
    rows: Span | None = None
    columns: Span | None = None
    ragged: bool = False
