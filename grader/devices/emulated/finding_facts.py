"""The checked mode of the emulated device: the findings of a run, as facts: the two threads, their
lines and the element.

A read of unwritten memory is a mistake only if the result depends on it: it is a finding if the
outputs change when the memory holds another poison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.emulator import DeviceMemory, GlobalMemory, Hazard, HazardKind
from grader.emulator import Party as EmulatedParty
from grader.records import (
    POISON_WORD,
    Act,
    DeviceBuffer,
    Dim3,
    FindingKind,
    Kernel,
    MeantArray,
    Observation,
    Party,
    Role,
    Spot,
)
from grader.sass import is_block_barrier

SHARED_POISON, OTHER_SHARED_POISON = 0xFF, 0x00
"""Bytes that shared memory holds at the start of a block."""
OTHER_POISON = POISON_WORD ^ 0xFFFFFFFF
"""The poison of unwritten buffers in the second run."""
_ACTS: Mapping[HazardKind, Act] = {
    HazardKind.RACE: Act.RACE,
    HazardKind.COPY_UNDER_WAY: Act.USE_DURING_COPY,
    HazardKind.OVERRUN: Act.OTHER_ARRAY,
    HazardKind.UNWRITTEN: Act.USE_OF_UNWRITTEN,
    HazardKind.ABSENT_LANES: Act.ABSENT_IN_MASK,
    HazardKind.ABSENT_LANE_READ: Act.READ_FROM_ABSENT,
    HazardKind.ENDED_BLOCK: Act.USE_OF_ENDED_BLOCK,
}
_OF_TWO = (Act.RACE, Act.USE_DURING_COPY, Act.USE_OF_ENDED_BLOCK)


@dataclass
class Checking:
    """A run in the checked mode: the initial bytes of shared memory, and the findings so far."""

    shared_poison: int = SHARED_POISON
    hazards: list[tuple[Kernel, Hazard]] = field(default_factory=list)


def same_outputs(
    first: GlobalMemory, second: GlobalMemory, buffers: Sequence[DeviceBuffer]
) -> bool:
    """Whether two runs gave equal outputs in the bytes that the first run wrote."""
    for buffer in buffers:
        if buffer.role is not Role.OUTPUT:
            continue
        written = first.was_written(buffer.name) != 0
        if not np.array_equal(first.view(buffer.name)[written], second.view(buffer.name)[written]):
            return False
    return True


def gather_findings(
    checking: Checking, memory: DeviceMemory, buffers: Sequence[DeviceBuffer], *, certain_only: bool
) -> tuple[Observation, ...]:
    """The findings of a run, one for each kind, kernel and pair of lines; of several races the race
    that needs the wider barrier."""
    found: dict[tuple[object, ...], Observation] = {}
    for kernel, hazard in sorted(checking.hazards, key=lambda pair: pair[1].in_warp):
        if certain_only and not hazard.certain:
            continue
        finding = read_finding(hazard, kernel, memory, buffers)
        lines = sorted(line or 0 for line in (finding.line, finding.other_line))
        found.setdefault((finding.kind, finding.kernel, *lines), finding)
    racing = {
        (finding.kernel, line)
        for finding in found.values()
        if finding.kind is FindingKind.RACE
        for line in _lines(finding)
    }
    return tuple(finding for finding in found.values() if not _is_explained(finding, racing))


def _is_explained(finding: Observation, racing: set[tuple[str | None, int | None]]) -> bool:
    """Whether a race explains a read of unwritten memory: another thread writes it later."""
    return (
        finding.kind is FindingKind.UNINITIALIZED_READ and (finding.kernel, finding.line) in racing
    )


def _lines(finding: Observation) -> tuple[int | None, int | None]:
    return finding.line, finding.other_line


def read_finding(
    found: Hazard, kernel: Kernel, memory: DeviceMemory, buffers: Sequence[DeviceBuffer]
) -> Observation:
    """The observation of a finding in a launch of this kernel. `memory` held the buffers."""
    act = _ACTS[found.kind]
    return Observation(
        act,
        kernel.name,
        _read_party(found.second),
        _read_first(found, act) if act in _OF_TWO else None,
        _find_spot(found, kernel, memory, buffers),
        meant=_find_meant(found, kernel),
        lanes=found.lanes,
        in_warp=found.in_warp,
        barrier_between=_has_barrier_between(found, kernel),
    )


def _read_party(party: EmulatedParty) -> Party:
    block, thread = Dim3(*party.block), Dim3(*party.thread)
    return Party(party.line, block, thread, party.stores, party.atomic)


def _read_first(found: Hazard, act: Act) -> Party:
    """The earlier access. For a race within a warp only the thread of the later access is known,
    not the thread of the earlier access."""
    first = _read_party(found.first)
    same = (found.first.block, found.first.thread) == (found.second.block, found.second.thread)
    if act is Act.RACE and same:
        return Party(first.line, first.block, None, first.stores, first.atomic)
    return first


def _has_barrier_between(found: Hazard, kernel: Kernel) -> bool:
    """Whether there is a barrier of the block between the lines of both accesses."""
    if found.first.line is None or found.second.line is None:
        return False
    upper, lower = sorted((found.first.line, found.second.line))
    return any(
        each.line is not None and upper < each.line < lower and is_block_barrier(each.opcode)
        for each in kernel.instructions
    )


def _find_meant(found: Hazard, kernel: Kernel) -> MeantArray | None:
    """The array that an access to shared memory belongs to, where it reaches another array."""
    array, address = kernel.array_meant_at(found.second.offset), found.address
    if found.kind is not HazardKind.OVERRUN or array is None:
        return None
    return MeantArray(array.name, array.name_byte(address), before=address < array.offset)


def _find_spot(
    found: Hazard, kernel: Kernel, memory: DeviceMemory, buffers: Sequence[DeviceBuffer]
) -> Spot:
    if found.space == "shared":
        array = next((each for each in kernel.shared_arrays if each.holds(found.address)), None)
        element = (
            f"byte {found.address:,} of shared memory"
            if array is None
            else array.name_byte(found.address)
        )
        return Spot(found.space, found.address, offset_bytes=found.address, element=element)
    region = next(
        (
            each
            for each in memory.regions.values()
            if each.offset <= found.address < each.offset + each.size_bytes
        ),
        None,
    )
    if found.space != "global" or region is None:
        return Spot(found.space, found.address)
    offset = found.address - region.offset
    element = name_element(region.name, offset, buffers)
    return Spot(found.space, found.address, region.name, offset, region.size_bytes, element)


def name_element(name: str, offset_bytes: int, buffers: Sequence[DeviceBuffer]) -> str:
    """The element at a byte of a buffer, by its indices; for a variable, its name and the byte."""
    buffer = next((each for each in buffers if each.name == name), None)
    if buffer is None:
        return f"{name.removeprefix('__device__ ')} + {offset_bytes:,} bytes"
    number, indices = offset_bytes // np.dtype(buffer.dtype).itemsize, ""
    for extent in reversed(buffer.shape):
        number, index = divmod(number, extent)
        indices = f"[{index}]{indices}"
    return f"{name}{indices}"
