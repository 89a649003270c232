"""Lists sizes, and finds sizes that a kernel seems to exchange because it is right for squares
only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

Sizes = Mapping[str, int]

_TILE = 32
"""A grid that is rounded up to tiles hides smaller differences."""


def list_sizes(sizes: Sizes) -> str:
    """`rows = 100, cols = 1,075`."""
    return ", ".join(f"{name} = {size:,}" for name, size in sizes.items())


def explain_shapes(right: Sequence[Sizes], wrong: Sequence[Sizes]) -> str:
    """A sentence, or "" where the cases do not support it. All cases are public, so that a relation
    of sizes may be shown.

    Two sizes may be exchanged if they are equal (rounded to tiles) in every right case and differ
    in every wrong case. A right case must be a square of several elements, or else it proves
    nothing.
    """
    if not wrong or not any(
        len(set(sizes.values())) == 1 and max(sizes.values()) > 1 for sizes in right
    ):
        return ""
    pairs = [
        (first, second)
        for first, second in combinations(wrong[0], 2)
        if all(_tiles(sizes[first]) == _tiles(sizes[second]) for sizes in right)
        and all(sizes[first] != sizes[second] for sizes in wrong)
    ]
    if not pairs:
        return ""
    if len(pairs) == 1:
        first, second = pairs[0]
        return (
            f"It is right where {first} = {second}, and goes wrong where they differ: are {first}"
            f" and {second} exchanged somewhere?"
        )
    names = sorted({name for pair in pairs for name in pair}, key=list(wrong[0]).index)
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"It is right where {listed} are equal, and goes wrong where they differ: does one of them"
        " stand in another's place?"
    )


def _tiles(size: int) -> int:
    return -(-size // _TILE)
