"""The faults and findings of the emulated device as facts: threads, lines and element.

The checked mode has findings. A read of unwritten memory is a mistake only if the result depends on
it: it is a finding if the outputs change when the memory holds another poison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.emulator import DeviceMemory, Fault, FaultKind, GlobalMemory, Hazard, HazardKind
from grader.emulator import Party as EmulatedParty
from grader.emulator.run.memory import Region
from grader.records import (
    POISON_WORD,
    Act,
    DeviceBuffer,
    Dim3,
    Faulted,
    FindingKind,
    Kernel,
    Launch,
    MeantArray,
    NotEmulated,
    Observation,
    Party,
    Role,
    RunLimits,
    Spot,
)
from grader.sass import is_block_barrier

SHARED_POISON, OTHER_SHARED_POISON = 0xFF, 0x00
"""Bytes that shared memory holds at the start of a block."""
OTHER_POISON = POISON_WORD ^ 0xFFFFFFFF
"""The poison of unwritten buffers in the second run."""
_FAULTS: Mapping[FaultKind, Act] = {
    FaultKind.OUT_OF_BOUNDS: Act.ACCESS_OUT_OF_BOUNDS,
    FaultKind.MISALIGNED: Act.MISALIGNED_ACCESS,
    FaultKind.BARRIER_DIVERGENCE: Act.SKIPPED_BARRIER,
    FaultKind.ABSENT_LANES: Act.SKIPPED_COLLECTIVE,
    FaultKind.ENDLESS_WAIT: Act.ENDLESS_WAIT,
    FaultKind.INSTRUCTION_LIMIT: Act.TOO_MANY_INSTRUCTIONS,
    FaultKind.TIME_LIMIT: Act.TOO_LONG,
    FaultKind.TOO_MANY_ARRIVALS: Act.TOO_MANY_ARRIVALS,
    FaultKind.BAD_FREE: Act.BAD_FREE,
    FaultKind.TRAP: Act.TRAP,
    FaultKind.ASSERT: Act.ASSERTION,
}
_HAZARDS: Mapping[HazardKind, Act] = {
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


def read_fault(
    fault: Fault,
    kernel: Kernel,
    memory: DeviceMemory,
    limits: RunLimits,
    launch: Launch | None = None,
) -> Faulted | NotEmulated:
    """The reason why a launch stopped. `memory` held the buffers."""
    if fault.kind is FaultKind.UNSUPPORTED:
        return NotEmulated(kernel.name, fault.line, fault.message, fault.opcode)
    by = Party(fault.line, Dim3(*fault.block), Dim3(*fault.thread), fault.store)
    if kernel.stack_unknown and fault.space == "local" and fault.address & 1 << 31:
        spot = Spot("local", size_bytes=kernel.local_bytes)
        return Faulted(Observation(Act.STACK_OVERFLOW, kernel.name, by, spot=spot))
    other = None if fault.other_line is None else Party(fault.other_line)
    observation = Observation(
        _FAULTS[fault.kind],
        kernel.name,
        by,
        other,
        _find_spot_of_fault(fault, kernel, memory),
        width_bytes=fault.width,
        error_text=fault.message,
        resident_blocks=fault.resident,
        unstarted_blocks=fault.unstarted,
        threads=None if launch is None else launch.block,
        launch_line=None if launch is None else launch.line,
        loop_lines=fault.loop_lines,
        lanes=fault.lanes,
        limit_instructions=limits.warp_instructions,
        limit_seconds=limits.processor_seconds,
        of_processor=True,
        limit_of_exercise=limits.of_exercise,
    )
    return Faulted(observation)


def _find_spot_of_fault(fault: Fault, kernel: Kernel, memory: DeviceMemory) -> Spot:
    if fault.space == "shared":
        spot = Spot(fault.space, fault.address, size_bytes=fault.shared_bytes)
        array = kernel.array_meant_at(fault.offset)
        if array is None:
            return spot
        return replace(spot, element=array.name_byte(fault.address), array=str(array))
    if fault.space != "global":
        return Spot(fault.space, fault.address, size_bytes=fault.shared_bytes)
    located = memory.nearest(fault.address)
    if located is None:
        return Spot(fault.space, fault.address)
    region, offset = located
    return Spot(fault.space, fault.address, region.name, offset, region.size_bytes)


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
        for line in (finding.line, finding.other_line)
    }
    # a race explains a read of unwritten memory: another thread writes it later
    return tuple(
        finding
        for finding in found.values()
        if finding.kind is not FindingKind.UNINITIALIZED_READ
        or (finding.kernel, finding.line) not in racing
    )


def read_finding(
    found: Hazard, kernel: Kernel, memory: DeviceMemory, buffers: Sequence[DeviceBuffer]
) -> Observation:
    """The observation of a finding in a launch of this kernel. `memory` held the buffers."""
    act = _HAZARDS[found.kind]
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
    region = find_region(memory, found.address)
    if found.space != "global" or region is None:
        return Spot(found.space, found.address)
    offset = found.address - region.offset
    element = name_element(region.name, offset, buffers)
    return Spot(found.space, found.address, region.name, offset, region.size_bytes, element)


def find_region(memory: DeviceMemory, offset: int) -> Region | None:
    """The region that contains the byte at this offset of the memory."""
    regions = memory.regions.values()
    return next((each for each in regions if 0 <= offset - each.offset < each.size_bytes), None)


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
