"""The checked mode's functions of one module, and what it has to know of a kernel's instructions
beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from llvmlite import ir

from grader.emulator.decode import Decoded
from grader.emulator.native.counting import AccessKind
from grader.emulator.native.overruns import define_stay
from grader.emulator.native.shadow import Watched, define_watch
from grader.emulator.native.shadow_layout import Trait

_RETRIED = ("CAS", "CAST", "MIN", "MAX")


class Watching:
    """Defines each watch function once a module. `shifts` maps a space to log2 of its granule.

    `extents`: which bytes of shared memory an instruction (its offset) may access, from the first
    one to behind the last one.
    """

    def __init__(
        self,
        module: ir.Module,
        warp_type: np.dtype,
        shifts: Mapping[str, int],
        extents: Mapping[int, tuple[int, int]],
    ) -> None:
        self.extents = extents
        self._module = module
        self._warp_type = warp_type
        self._shifts = shifts
        self._functions: dict[Watched, ir.Function] = {}
        self._stays: dict[int, ir.Function] = {}

    def function(
        self, kind: AccessKind, *, asynchronous: bool, strong: bool, draws: bool
    ) -> ir.Function:
        """See `shadow.define_watch`."""
        watched = Watched(kind, self._shifts[kind.space], asynchronous, strong, draws)
        if watched not in self._functions:
            self._functions[watched] = define_watch(self._module, self._warp_type, watched)
        return self._functions[watched]

    def stay(self, width: int) -> ir.Function:
        """See `overruns.define_stay`."""
        if width not in self._stays:
            self._stays[width] = define_stay(self._module, self._warp_type, width)
        return self._stays[width]


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
    present = {
        Trait.ATOMIC: atomic or i.has("STRONG"),
        Trait.CHANGES: atomic,
        Trait.RETRIED: atomic and any(i.has(name) for name in _RETRIED),
        Trait.ASYNC: any(access.asynchronous for access in i.accesses),
        Trait.STORES: any(access.changes for access in i.accesses),
    }
    return sum(trait for trait, holds in present.items() if holds)
