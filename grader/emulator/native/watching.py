"""What the checked mode has to know of a kernel's instructions beforehand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from grader.emulator.checked_layout import Trait
from grader.emulator.decode import Decoded

_SHARED, _GLOBAL, _BOTH = ("shared",), ("global",), ("global", "shared")
_SPACES = {
    "LDS": _SHARED,
    "STS": _SHARED,
    "ATOMS": _SHARED,
    "LDG": _GLOBAL,
    "STG": _GLOBAL,
    "ATOMG": _GLOBAL,
    "REDG": _GLOBAL,
    "LD": _BOTH,
    "ST": _BOTH,
    "ATOM": _BOTH,
    "RED": _BOTH,
    "LDGSTS": _BOTH,
}
_RETRIED = ("CAS", "CAST", "MIN", "MAX")


def granule_shifts(code: Iterable[Decoded]) -> dict[str, int]:
    """log2 of the smallest access to each space, at most that of a word."""
    shifts = {"shared": 2, "global": 2}
    for instruction in code:
        for space in _SPACES.get(instruction.base, ()):
            shifts[space] = min(shifts[space], instruction.access_bytes.bit_length() - 1)
    return shifts


def traits(code: Iterable[Decoded]) -> np.ndarray:
    """The Trait bits of every instruction."""
    return np.array([_traits(instruction) for instruction in code], dtype=np.uint8)


def _traits(i: Decoded) -> int:
    atomic = i.base in ("ATOMS", "ATOMG", "REDG", "ATOM", "RED")
    found = 0
    if atomic or i.has("STRONG"):
        found |= Trait.ATOMIC
    if atomic:
        found |= Trait.CHANGES
    if atomic and any(i.has(name) for name in _RETRIED):
        found |= Trait.RETRIED
    if i.base in ("ATOMS", "ATOMG", "ATOM"):
        found |= Trait.DRAWS
    if atomic and i.has("EXCH"):
        found |= Trait.EXCHANGES
    if i.base == "LDGSTS":
        found |= Trait.ASYNC
    if atomic or i.base in ("STS", "STG", "ST", "LDGSTS"):
        found |= Trait.STORES
    return found
