"""For each source line the access with the largest excess (wavefronts or bytes beyond its need),
with the names of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.devices.emulated.finding_facts import find_region, name_element
from grader.devices.emulated.plan_run import LaunchRun, OnProgress, Plan, Ready, RunOptions
from grader.emulator.run.memory import WINDOW, DeviceMemory
from grader.emulator.run.worst import WorstRequest, list_wavefronts
from grader.records import DeviceBuffer, Dim3, Memory, Operation, SharedArray, WarpAccess
from grader.records.accesses import SECTOR_BYTES

MOST_LINES = 64
"""The lines of a plan with the largest excess are reported."""
_Key = tuple[str, int, str, Operation]


@dataclass(frozen=True)
class _Candidate:
    ready: Ready
    launch: int
    request: WorstRequest
    operation: Operation

    @property
    def excess(self) -> int:
        request = self.request
        if request.space == Memory.SHARED:
            return request.passes - request.passes_ideal
        return 32 * request.passes - request.bytes


class WorstAccesses:
    """Collects the worst accesses over all launches of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._found: dict[_Key, _Candidate] = {}
        self._launches = 0

    def watch(self, options: RunOptions) -> RunOptions:
        """The options with a `run` that collects them; a run in the opposite order does not."""
        if options.backwards:
            return options

        def run(ready: Ready, on_progress: OnProgress) -> LaunchRun:
            ran = options.run(ready, on_progress)
            self._keep(ready, ran.outcome.counts.worst_requests())
            return ran

        return replace(options, run=run)

    def _keep(self, ready: Ready, requests: Iterable[WorstRequest]) -> None:
        self._launches += 1
        for request in requests:
            if request.line is None:
                continue
            operation = _operation(request)
            candidate = _Candidate(ready, self._launches, request, operation)
            key = (ready.kernel.symbol, request.line, request.space, operation)
            known = self._found.get(key)
            if known is None or candidate.excess > known.excess:
                self._found[key] = candidate

    def accesses(self) -> tuple[WarpAccess, ...]:
        """The worst accesses, in the order of the lines."""
        kept = sorted(self._found.values(), key=lambda each: -each.excess)[:MOST_LINES]
        named = (_name(each, self._plan) for each in kept)
        return tuple(
            sorted(
                (each for each in named if each is not None),
                key=lambda each: (each.line, each.kernel, each.memory),
            )
        )


def _operation(request: WorstRequest) -> Operation:
    if request.atomic:
        return Operation.ATOMIC
    return Operation.LOAD if request.load else Operation.STORE


def _name(found: _Candidate, plan: Plan) -> WarpAccess | None:
    """The record; None where its addresses do not explain the counted passes."""
    request, ready = found.request, found.ready
    shared = request.space == Memory.SHARED
    wavefronts = list_wavefronts(request) if shared else ()
    active = {address for address in request.addresses if address is not None}
    fewest = -(-request.bytes // SECTOR_BYTES)  # the counter's ideal counts equal words twice
    passes = len(wavefronts) if shared else len({address // 32 for address in active})
    if passes != request.passes:
        return None
    if shared:
        start = ready.native.code.architecture.shared_window
        arrays = ready.kernel.shared_arrays
        places = {each: each - start for each in active}
        names = {each: _name_shared(place, arrays) for each, place in places.items()}
    else:
        places = {each: WINDOW << 32 | each for each in active}
        names = {each: _name_global(each, ready.memory, plan.program.buffers) for each in active}
    declared = {array for array, _ in names.values()}
    return WarpAccess(
        line=request.line or 0,
        kernel=ready.kernel.name,
        launch=found.launch,
        memory=Memory(request.space),
        operation=found.operation,
        width_bytes=request.width,
        array=declared.pop() if len(declared) == 1 else None,
        block=_unravel(request.block, ready.launch.grid),
        block_size=ready.launch.block,
        warp=request.warp,
        addresses=tuple(None if each is None else places[each] for each in request.addresses),
        elements=tuple(None if each is None else names[each][1] for each in request.addresses),
        passes=request.passes,
        passes_ideal=request.passes_ideal if shared else min(request.passes_ideal, fewest),
        bytes_used=request.bytes,
        wavefronts=wavefronts,
    )


def _name_shared(address: int, arrays: Iterable[SharedArray]) -> tuple[str | None, str | None]:
    """The declaration of the array that contains the address, and the element there."""
    array = next((each for each in arrays if each.holds(address)), None)
    return (None, None) if array is None else (str(array), array.name_byte(address))


def _name_global(
    address: int, memory: DeviceMemory, buffers: Sequence[DeviceBuffer]
) -> tuple[str | None, str | None]:
    """The declaration of the buffer or variable at the address, and the element there."""
    region = find_region(memory, address)
    if region is None:
        return None, None
    buffer = next((each for each in buffers if each.name == region.name), None)
    extents = () if buffer is None else buffer.shape
    declared = region.name.removeprefix("__device__ ") + "".join(f"[{each}]" for each in extents)
    return declared, name_element(region.name, address - region.offset, buffers)


def _unravel(block: int, grid: Dim3) -> Dim3:
    z, y, x = np.unravel_index(block, (grid.z, grid.y, grid.x))
    return Dim3(int(x), int(y), int(z))
