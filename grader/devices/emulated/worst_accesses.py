"""For each source line the access with the largest excess (wavefronts or bytes beyond its need),
with the names of the source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from grader.devices.emulated.finding_facts import name_element
from grader.devices.emulated.plan_run import LaunchRun, OnProgress, Plan, Ready, RunOptions
from grader.emulator.run.memory import WINDOW, DeviceMemory
from grader.emulator.run.worst import WorstRequest, list_wavefronts
from grader.records import Dim3, Memory, Operation, SharedArray, WarpAccess
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
    active = [address for address in request.addresses if address is not None]
    fewest = -(-request.bytes // SECTOR_BYTES)  # the counter's ideal counts equal words twice
    passes = len(wavefronts) if shared else len({address // 32 for address in active})
    if passes != request.passes:
        return None
    if shared:
        start = ready.native.code.architecture.shared_window
        addresses = [None if each is None else each - start for each in request.addresses]
        arrays, elements = _name_shared(addresses, ready.kernel.shared_arrays)
    else:
        arrays, elements = _name_global(request.addresses, ready.memory, plan)
        addresses = [None if each is None else WINDOW << 32 | each for each in request.addresses]
    return WarpAccess(
        line=request.line or 0,
        kernel=ready.kernel.name,
        launch=found.launch,
        memory=Memory(request.space),
        operation=found.operation,
        width_bytes=request.width,
        array=next(iter(arrays)) if len(arrays) == 1 else None,
        block=_unravel(request.block, ready.launch.grid),
        block_size=ready.launch.block,
        warp=request.warp,
        addresses=tuple(addresses),
        elements=tuple(elements),
        passes=request.passes,
        passes_ideal=request.passes_ideal if shared else min(request.passes_ideal, fewest),
        bytes_used=request.bytes,
        wavefronts=wavefronts,
    )


def _name_shared(
    addresses: Iterable[int | None], arrays: Iterable[SharedArray]
) -> tuple[set[str | None], list[str | None]]:
    """The declarations of the arrays that contain the addresses, and the element at each
    address."""
    declared: set[str | None] = set()
    elements: list[str | None] = []
    for address in addresses:
        array = next((each for each in arrays if address is not None and each.holds(address)), None)
        if address is not None:
            declared.add(None if array is None else str(array))
        elements.append(None if array is None or address is None else array.name_byte(address))
    return declared, elements


def _name_global(
    addresses: Iterable[int | None], memory: DeviceMemory, plan: Plan
) -> tuple[set[str | None], list[str | None]]:
    regions, buffers = list(memory.regions.values()), plan.program.buffers
    shapes: Mapping[str, str] = {
        each.name: each.name + "".join(f"[{extent}]" for extent in each.shape) for each in buffers
    }
    declared: set[str | None] = set()
    elements: list[str | None] = []
    for address in addresses:
        if address is None:
            elements.append(None)
            continue
        region = next(
            (each for each in regions if each.offset <= address < each.offset + each.size_bytes),
            None,
        )
        if region is None:
            declared.add(None)
            elements.append(None)
            continue
        declared.add(shapes.get(region.name, region.name.removeprefix("__device__ ")))
        elements.append(name_element(region.name, address - region.offset, buffers))
    return declared, elements


def _unravel(block: int, grid: Dim3) -> Dim3:
    z, y, x = np.unravel_index(block, (grid.z, grid.y, grid.x))
    return Dim3(int(x), int(y), int(z))
