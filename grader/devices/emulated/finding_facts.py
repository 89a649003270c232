"""Findings of the checked mode, as facts: the two threads, their lines and the element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grader.emulator import GlobalMemory, Hazard, HazardKind
from grader.emulator import Party as EmulatedParty
from grader.records import (
    Act,
    DeviceBuffer,
    Dim3,
    Kernel,
    MeantArray,
    Observation,
    Party,
    Spot,
)
from grader.sass import is_block_barrier

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


def read_finding(
    found: Hazard, kernel: Kernel, memory: GlobalMemory, buffers: Sequence[DeviceBuffer]
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
    found: Hazard, kernel: Kernel, memory: GlobalMemory, buffers: Sequence[DeviceBuffer]
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
