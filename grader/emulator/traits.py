"""What the checked mode has to know of a kernel's instructions beforehand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from grader.emulator.checked_layout import Trait
from grader.emulator.decode import Decoded
from grader.sass import Way

_RETRIED = ("CAS", "CAST", "MIN", "MAX")


def granule_shifts(code: Iterable[Decoded]) -> dict[str, int]:
    """log2 of the smallest access to each space, at most that of a word."""
    shifts = {"shared": 2, "global": 2}
    for instruction in code:
        for access in instruction.accesses:
            size = instruction.access_bytes.bit_length() - 1
            shifts[access.space] = min(shifts[access.space], size)
    return shifts


def traits(code: Iterable[Decoded]) -> np.ndarray:
    """The Trait bits of every instruction."""
    return np.array([_traits(instruction) for instruction in code], dtype=np.uint8)


def _traits(i: Decoded) -> int:
    atomic = any(access.atomic for access in i.accesses)
    fetches = any(access.way is Way.FETCH for access in i.accesses)
    present = {
        Trait.ATOMIC: atomic or i.has("STRONG"),
        Trait.CHANGES: atomic,
        Trait.RETRIED: atomic and any(i.has(name) for name in _RETRIED),
        Trait.DRAWS: fetches,
        Trait.EXCHANGES: atomic and i.has("EXCH"),
        Trait.ASYNC: any(access.asynchronous for access in i.accesses),
        Trait.STORES: any(access.changes for access in i.accesses),
    }
    return sum(trait for trait, holds in present.items() if holds)
