"""The fault that stopped a launch of the emulated device, as facts: thread, line, access and
buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.emulator import DeviceMemory, Fault, FaultKind
from grader.records import (
    Act,
    Dim3,
    Faulted,
    Kernel,
    Launch,
    NotEmulated,
    Observation,
    Party,
    RunLimits,
    Spot,
)

_ACTS: Mapping[FaultKind, Act] = {
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
    if kernel.stack_unknown and fault.space == "local" and fault.address & 1 << 31:
        by = Party(fault.line, Dim3(*fault.block), Dim3(*fault.thread), fault.store)
        spot = Spot("local", size_bytes=kernel.local_bytes)
        return Faulted(Observation(Act.STACK_OVERFLOW, kernel.name, by, spot=spot))
    other = None if fault.other_line is None else Party(fault.other_line)
    observation = Observation(
        _ACTS[fault.kind],
        kernel.name,
        Party(fault.line, Dim3(*fault.block), Dim3(*fault.thread), fault.store),
        other,
        _find_spot(fault, kernel, memory),
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


def _find_spot(fault: Fault, kernel: Kernel, memory: DeviceMemory) -> Spot:
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
