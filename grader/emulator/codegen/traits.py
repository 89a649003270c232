"""Facts about a kernel's instructions that the checked mode needs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.program import KernelCode
from grader.emulator.layouts.checked import EXTENT, Trait
from grader.sass import MemoryOperation

_RETRIED = ("CAS", "CAST", "MIN", "MAX")


class CheckedCode:
    """A kernel's code in the checked mode. Per instruction: `traits`, `lines` (0: none) and
    `extents`, see CHECKED_STATE. `shifts`: log2 of the granule size per space. `shared_start`:
    start of a block's own shared memory in the shared window."""

    def __init__(self, kernel: KernelCode, code: tuple[Decoded, ...]) -> None:
        self.code = code
        self.shared_start = kernel.architecture.shared_window
        first = self.shared_start - kernel.shared_base
        self.shifts = _granule_shifts(code)
        self.traits = np.array([_traits(each) for each in code], dtype=np.uint8)
        self.lines = np.array([each.line or 0 for each in code], dtype=np.uint32)
        nothing = (0, 0)
        known = {
            offset: (first + start, first + end)
            for offset, (start, end) in kernel.shared_extents.items()
        }
        extents = [known.get(each.offset, nothing) for each in code]
        self.extents = np.array(extents, dtype=EXTENT)


def _granule_shifts(code: Iterable[Decoded]) -> dict[str, int]:
    """log2 of the narrowest access to each space, at most 2 (a word)."""
    shifts = {"shared": 2, "global": 2}
    for instruction in code:
        for access in instruction.accesses:
            if access.space in shifts:
                size = instruction.access_bytes.bit_length() - 1
                shifts[access.space] = min(shifts[access.space], size)
    return shifts


def _traits(i: Decoded) -> int:
    """The Trait bits of an instruction."""
    atomic = any(access.atomic for access in i.accesses)
    fetches = any(access.kind is MemoryOperation.FETCH for access in i.accesses)
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
