"""Places the labels of points so that no label covers another label, a point or a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, hypot

LABEL_HEIGHT, LETTER_WIDTH = 15.0, 7.0
"""Pixels: the height of a line of text, and the largest average width of a letter."""
_ASIDE, _STEP = 12.0, 8.0
_FARTHEST = 30


@dataclass(frozen=True)
class Box:
    """In pixels: `y` grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the boxes share more than an edge."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: Box) -> bool:
        """Whether the other box lies in this box."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


@dataclass(frozen=True)
class Placed:
    """The start of a label, or its end (`anchor`), and its box. `moved`: not directly beside its
    point, so that a line should lead there."""

    x: float
    baseline: float
    anchor: str
    box: Box
    moved: bool

    @property
    def middle(self) -> float:
        return (self.box.top + self.box.bottom) / 2


def text_box(x: float, baseline: float, text: str, anchor: str) -> Box:
    """The largest box of a level text."""
    width = LETTER_WIDTH * len(text)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return Box(left, baseline - 0.8 * LABEL_HEIGHT, left + width, baseline + 0.2 * LABEL_HEIGHT)


def boxes_along(x0: float, y0: float, x1: float, y1: float, thick: float) -> Iterator[Box]:
    """Squares that cover a line between two points."""
    count = max(1, ceil(hypot(x1 - x0, y1 - y0) / thick))
    for number in range(count + 1):
        x, y = x0 + (x1 - x0) * number / count, y0 + (y1 - y0) * number / count
        yield Box(x - thick / 2, y - thick / 2, x + thick / 2, y + thick / 2)


def place_labels(
    points: Sequence[tuple[float, float, str]], *, within: Box, around: Iterable[Box], size: float
) -> list[Placed]:
    """A place for the label of each point (x, y, text), in their order; markers are `size` wide,
    and no label may cover the boxes `around`. Without a free place, the last candidate."""
    taken = [
        *around,
        *(Box(x - size / 2, y - size / 2, x + size / 2, y + size / 2) for x, y, _ in points),
    ]
    placed = []
    for x, y, text in points:
        for each in _candidates(x, y, text):
            if within.holds(each.box) and not any(each.box.overlaps(other) for other in taken):
                break
        placed.append(each)
        taken.append(each.box)
    return placed


def _candidates(x: float, y: float, text: str) -> Iterator[Placed]:
    """Beside the point, then farther and farther above and below it."""
    for number in range(_FARTHEST):
        for down in (0.0,) if number == 0 else (number * _STEP, -number * _STEP):
            for anchor, aside in (("start", _ASIDE), ("end", -_ASIDE), ("middle", 0.0)):
                if anchor == "middle" and abs(down) < 2 * _STEP:
                    continue
                baseline = y + 4 + down
                box = text_box(x + aside, baseline, text, anchor)
                yield Placed(x + aside, baseline, anchor, box, abs(down) > 2 * _STEP)
