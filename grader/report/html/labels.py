"""Places the labels of points so that none lies on another one, on a point or on a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, hypot

LABEL_HEIGHT, LETTER_WIDTH = 15.0, 7.0
"""Pixels of a line of text, and at the most of a letter on average."""
_ASIDE, _STEP = 12.0, 8.0
_FARTHEST = 30


@dataclass(frozen=True)
class Box:
    """Upright, in pixels: `y` grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they have more than an edge in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: Box) -> bool:
        """Whether the other one lies in this one."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


@dataclass(frozen=True)
class Placed:
    """Where a label begins, or ends (`anchor`), and the box that it fills. `moved`: not right
    beside its point, so that a line should lead there."""

    x: float
    baseline: float
    anchor: str
    box: Box
    moved: bool

    @property
    def middle(self) -> float:
        """Half of its height."""
        return (self.box.top + self.box.bottom) / 2


def text_box(x: float, baseline: float, text: str, anchor: str) -> Box:
    """What a level text fills, at most."""
    width = LETTER_WIDTH * len(text)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return Box(left, baseline - 0.8 * LABEL_HEIGHT, left + width, baseline + 0.2 * LABEL_HEIGHT)


def boxes_along(x0: float, y0: float, x1: float, y1: float, thick: float) -> Iterator[Box]:
    """Squares that cover a line from one point to another."""
    count = max(1, ceil(hypot(x1 - x0, y1 - y0) / thick))
    for number in range(count + 1):
        x, y = x0 + (x1 - x0) * number / count, y0 + (y1 - y0) * number / count
        yield Box(x - thick / 2, y - thick / 2, x + thick / 2, y + thick / 2)


def place_labels(
    points: Sequence[tuple[float, float, str]], *, within: Box, around: Iterable[Box], size: float
) -> list[Placed]:
    """A place for the label of each point (x, y, text), in their order; markers are `size` wide,
    and `around` lies what no label may cover. Where there is no free place, the last one tried."""
    taken = [
        *around,
        *(Box(x - size / 2, y - size / 2, x + size / 2, y + size / 2) for x, y, _ in points),
    ]
    placed = []
    for x, y, text in points:
        for each in _candidates(x, y, text):
            if within.holds(each.box) and not any(each.box.meets(other) for other in taken):
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
