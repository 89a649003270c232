"""What the checked mode found in a student's words: who met whom at which element, and what is
missing between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from grader.emulator import GlobalMemory, Hazard, HazardKind, Party
from grader.records import DeviceBuffer, Dim3, Finding, FindingKind, Kernel
from grader.sass import is_block_barrier


def describe_hazard(
    hazard: Hazard, kernel: Kernel, memory: GlobalMemory, buffers: Sequence[DeviceBuffer]
) -> Finding:
    """The finding that a hazard of a launch of this kernel is. `memory` held the buffers."""
    place = _Place(hazard, kernel, memory, buffers)
    kind, words = _DESCRIPTIONS[hazard.kind]
    two = hazard.kind in (HazardKind.RACE, HazardKind.COPY_UNDER_WAY)
    known = two and not _is_unknown_lane(hazard)
    return Finding(
        kind=kind,
        message=words(hazard, place),
        kernel=kernel.name,
        line=hazard.second.line,
        block=Dim3(*hazard.second.block),
        thread=Dim3(*hazard.second.thread),
        buffer=place.buffer,
        offset_bytes=place.offset_bytes,
        other_line=hazard.first.line if two else None,
        other_block=Dim3(*hazard.first.block) if two else None,
        other_thread=Dim3(*hazard.first.thread) if known else None,
        element=place.element,
    )


class _Place:
    """Where a hazard is: `buffer` and the byte in it, and `element` in the array's own indices;
    `meant` is the array that was meant."""

    def __init__(
        self, hazard: Hazard, kernel: Kernel, memory: GlobalMemory, buffers: Sequence[DeviceBuffer]
    ) -> None:
        self.buffer: str | None = None
        self.offset_bytes: int | None = None
        self.element: str | None = None
        use = kernel.shared_uses.get(hazard.second.offset)
        self.meant = use.array if use is not None else None
        self.barrier_lines = [
            each.line
            for each in kernel.instructions
            if each.line is not None and is_block_barrier(each.opcode)
        ]
        if hazard.space == "shared":
            self._find_shared(hazard.address, kernel)
        elif hazard.space == "global":
            self._find_global(hazard.address, memory, {buffer.name: buffer for buffer in buffers})

    def _find_shared(self, offset: int, kernel: Kernel) -> None:
        self.buffer, self.offset_bytes = "shared memory", offset
        array = next((array for array in kernel.shared_arrays if array.holds(offset)), None)
        self.element = (
            array.name_byte(offset) if array is not None else f"byte {offset:,} of shared memory"
        )

    def _find_global(
        self, offset: int, memory: GlobalMemory, buffers: Mapping[str, DeviceBuffer]
    ) -> None:
        region = next(
            (
                each
                for each in memory.regions.values()
                if each.offset <= offset < each.offset + each.size_bytes
            ),
            None,
        )
        if region is None:
            return
        self.buffer, self.offset_bytes = region.name, offset - region.offset
        buffer = buffers.get(region.name)
        if buffer is None:
            self.element = (
                f"{region.name.removeprefix('__device__ ')} + {self.offset_bytes:,} bytes"
            )
            return
        index = np.unravel_index(self.offset_bytes // np.dtype(buffer.dtype).itemsize, buffer.shape)
        self.element = region.name + "".join(f"[{int(number)}]" for number in index)

    def __str__(self) -> str:
        return self.element or "memory"


def _race(hazard: Hazard, place: _Place) -> str:
    first, second = hazard.first, hazard.second
    another = "another lane of its warp" if _is_unknown_lane(hazard) else _who(first, second)
    return (
        f"race on {place}: {another} {_does(first)} it at line {first.line}, and"
        f" {_who(second, first)} {_does(second)} it at line {second.line} without having waited;"
        f" {_missing(hazard, place.barrier_lines)}"
    )


def _missing(hazard: Hazard, barrier_lines: Sequence[int]) -> str:
    """What would order the two."""
    first, second = hazard.first, hazard.second
    if first.block != second.block:
        return (
            "blocks run in any order: use an atomic operation, or a launch of its own for the"
            " second step"
        )
    barrier = "__syncwarp()" if hazard.in_warp else "__syncthreads()"
    if first.line is None or second.line is None:
        return f"a {barrier} is missing between the two"
    if first.line == second.line:
        if first.stores and second.stores:
            return "only one of them should, or it should be an atomic operation"
        return (
            f"a {barrier} is missing between the two accesses of line {first.line}: write the line"
            " as two"
        )
    if hazard.in_warp:  # lanes of a warp run in the order of the program, warps do not
        return f"a {barrier} is missing between line {first.line} and line {second.line}"
    upper, lower = sorted((first.line, second.line))
    if any(
        upper < line < lower for line in barrier_lines
    ):  # the order in which they ran tells nothing: they ran in one interval
        return (
            f"a {barrier} is missing behind line {lower}, before the loop comes round to line"
            f" {upper}"
        )
    return f"a {barrier} is missing between line {upper} and line {lower}"


def _is_unknown_lane(hazard: Hazard) -> bool:
    """Whether the first access was some other lane's of the second one's warp."""
    return (
        hazard.kind is HazardKind.RACE
        and hazard.first.block == hazard.second.block
        and hazard.first.thread == hazard.second.thread
    )


def _does(party: Party) -> str:
    if party.atomic:
        return "changes" if party.stores else "reads"
    return "stores" if party.stores else "reads"


def _who(party: Party, other: Party) -> str:
    thread = f"thread {Dim3(*party.thread)}"
    return thread if party.block == other.block else f"{thread} of block {Dim3(*party.block)}"


def _copy_under_way(hazard: Hazard, place: _Place) -> str:
    return (
        f"{place} is used at line {hazard.second.line} while the asynchronous copy of line"
        f" {hazard.first.line} may still be under way: wait for it (cp.async.wait_group,"
        " __pipeline_wait_prior), then for the other threads (__syncthreads)"
    )


def _overrun(hazard: Hazard, place: _Place) -> str:
    array = place.meant
    verb = "changed" if hazard.second.atomic else "stored" if hazard.second.stores else "read"
    who, line = _who(hazard.second, hazard.second), hazard.second.line
    if array is None or place.offset_bytes is None:
        return f"{place} is {verb} by {who} at line {line}, which means another array"
    where = "before the start" if place.offset_bytes < array.offset else "behind the end"
    return (
        f"{array.name_byte(place.offset_bytes)} is {verb} by {who} at line {line}: it lies {where}"
        f" of {array.name}, at {place}"
    )


def _unwritten(hazard: Hazard, place: _Place) -> str:
    verb = "changed" if hazard.second.stores else "read"
    where = " in shared memory" if hazard.space == "shared" else ""
    return (
        f"{place}{where} is {verb} at line {hazard.second.line}, but nothing was written there"
        " before, and the result depends on it"
    )


def _absent_lanes(hazard: Hazard, place: _Place) -> str:
    verb = "does" if len(hazard.lanes) == 1 else "do"
    return (
        f"the mask of the operation at line {hazard.second.line} names {_lanes(hazard.lanes)} of"
        f" the warp, which {verb} not get there"
    )


def _absent_lane_read(hazard: Hazard, place: _Place) -> str:
    return (
        f"the shuffle at line {hazard.second.line} gives {_lanes(hazard.lanes)} of the warp the"
        " value of a lane that takes no part in it, and the result depends on it"
    )


def _lanes(lanes: Sequence[int]) -> str:
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if list(lanes) == list(range(lanes[0], lanes[-1] + 1)):
        return f"lanes {lanes[0]} to {lanes[-1]}"
    return "lanes " + ", ".join(map(str, lanes[:4])) + (" ..." if len(lanes) > 4 else "")


_DESCRIPTIONS: Mapping[HazardKind, tuple[FindingKind, Callable[[Hazard, _Place], str]]] = {
    HazardKind.RACE: (FindingKind.RACE, _race),
    HazardKind.COPY_UNDER_WAY: (FindingKind.COPY_UNDER_WAY, _copy_under_way),
    HazardKind.OVERRUN: (FindingKind.OUT_OF_BOUNDS, _overrun),
    HazardKind.UNWRITTEN: (FindingKind.UNINITIALIZED_READ, _unwritten),
    HazardKind.ABSENT_LANES: (FindingKind.ABSENT_LANES, _absent_lanes),
    HazardKind.ABSENT_LANE_READ: (FindingKind.ABSENT_LANES, _absent_lane_read),
}
