"""Copies and fills between launches on the emulated device: their effect on memory, and their
modelled time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from grader.emulator import CONSTANT_MEMORY, VARIABLES_BANK, GlobalMemory, variable_region
from grader.emulator.timing.figures import Figures
from grader.records import Binary, Copy, Fill, Kernel, MemoryPlace, Step

_START_US = {Copy: 2.0, Fill: 0.9}
"""The time of a small copy or fill between two kernels, and the fractions of DRAM's peak that large
copies and fills reach.
Medians of 21 on an H200, cold: copies of 4 B to 256 MB within 13 %, fills within 25 % below 16 MB
and 3 % above."""
_PEAK = {Copy: 0.88, Fill: 0.9}
_ODD_PEAK = 0.53
"""Of a copy between places with different alignment to words."""
_WORD = 4


class Transfers:
    """Executes the copies and fills of a run of a plan. Before the first of them, `__constant__`
    variables hold their initial values."""

    def __init__(self, binary: Binary, memory: GlobalMemory) -> None:
        self._memory = memory
        self._places = {each.name: each for each in binary.constants}
        self._initial = next(
            (
                each.constants[VARIABLES_BANK]
                for each in binary.kernels
                if VARIABLES_BANK in each.constants
            ),
            b"",
        )
        self._bank: bytearray | None = None

    def carry_out(self, step: Copy | Fill) -> None:
        written: np.ndarray | int = 1
        if isinstance(step, Fill):
            data: np.ndarray | int = step.byte
        else:
            data = self._bytes_at(step.source, step.size_bytes).copy()
            written = self._written_at(step.source, step.size_bytes)
        target, size_bytes = step.target, step.size_bytes
        self._bytes_at(target, size_bytes)[:] = data
        mirror = variable_region(CONSTANT_MEMORY)
        if self._bank is not None and mirror in self._memory.regions:
            self._memory.view(mirror)[:] = np.frombuffer(self._bank, dtype=np.uint8)
        if self._memory.written is not None and target.name not in self._places:
            first = target.offset_bytes
            region = self._memory.was_written(_region(target))
            region[first : first + size_bytes] = written

    def filled(self, kernel: Kernel) -> Kernel:
        """The kernel with the present values of `__constant__` variables."""
        if self._bank is None or VARIABLES_BANK not in kernel.constants:
            return kernel
        return replace(kernel, constants={**kernel.constants, VARIABLES_BANK: bytes(self._bank)})

    def _bytes_at(self, place: MemoryPlace, size_bytes: int) -> np.ndarray:
        first = place.offset_bytes
        if place.in_variable and place.name in self._places:
            if self._bank is None:
                self._bank = bytearray(self._initial)
            first += self._places[place.name].offset
            return np.frombuffer(self._bank, dtype=np.uint8)[first : first + size_bytes]
        return self._memory.view(_region(place))[first : first + size_bytes]

    def _written_at(self, place: MemoryPlace, size_bytes: int) -> np.ndarray | int:
        """For each byte whether it was written, in the checked mode."""
        if self._memory.written is None or place.name in self._places:
            return 1
        first = place.offset_bytes
        return self._memory.was_written(_region(place))[first : first + size_bytes].copy()


def _region(place: MemoryPlace) -> str:
    return variable_region(place.name) if place.in_variable else place.name


def modelled_transfers_ms(steps: Iterable[Step], figures: Figures) -> float:
    """The time of all copies and fills of a plan, in milliseconds."""
    return sum(_modelled_us(step, figures) for step in steps if isinstance(step, Copy | Fill)) / 1e3


def _modelled_us(step: Copy | Fill, figures: Figures) -> float:
    share, moved = _PEAK[type(step)], step.size_bytes
    if isinstance(step, Copy):
        moved *= 2
        if (step.target.offset_bytes - step.source.offset_bytes) % _WORD:
            share = _ODD_PEAK
    return _START_US[type(step)] + moved / (share * figures.dram_gbps * 1e3)
