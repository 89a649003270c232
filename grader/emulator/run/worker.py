"""The memory of a host thread that runs blocks of a launch: a context, the warps of a block, shared
and local memory, slots, counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.codegen.shapes import BANK_OF_LAUNCH
from grader.emulator.isa.flow import find_lines
from grader.emulator.isa.program import INSTRUCTION_BYTES
from grader.emulator.layouts.blocks import (
    BUDGET_STRETCH,
    CHUNK,
    CHUNK_WORDS,
    CYCLES_IN_4_NS,
    WRITTEN,
)
from grader.emulator.layouts.execution import (
    CONTEXT,
    COUNTS_PER_BLOCK,
    SLOT,
    WARP_LANES,
    FaultCode,
    zeros_in_lines,
)
from grader.emulator.run.block_traces import BlockTrace, Lengths, TraceBuffers
from grader.emulator.run.checked_launch import CheckedLaunch
from grader.emulator.run.counts import Tally, totals_of
from grader.emulator.run.faults import Fault, FaultKind, describe_stop
from grader.emulator.run.host import HostFunctions
from grader.emulator.run.launch import LaunchSettings, block_number, make_warps
from grader.emulator.run.lazy_pages import make_zeros
from grader.emulator.run.memory import WINDOW, DeviceMemory

LATE_CYCLES = 1 << 14
"""Shorter blocks (10 us) leave no late trace."""
LATE_WORDS, MOST_LATE_WORDS = 8_000_000, 2_000_000
"""Size of late traces in 4-byte words, per host thread and at most per warp. A block that fills it
takes a quarter of a millisecond."""


class Worker:
    """The memory of a host thread: a context, the warps of a block, shared memory, slots, counts.
    `bank`: constant bank 0. `alone`: its blocks do not wait for other blocks."""

    def __init__(
        self,
        kernel: NativeKernel,
        memory: DeviceMemory,
        settings: LaunchSettings,
        bank: np.ndarray,
        *,
        alone: bool,
    ) -> None:
        self.kernel = kernel
        self.alone = alone
        self.settings = settings
        self.shared_bytes = kernel.code.shared_bytes(settings.dynamic_shared_bytes)
        self.shared = np.zeros(kernel.code.shared_base + self.shared_bytes + 64, dtype=np.uint8)
        self.slots = zeros_in_lines(max(1, len(kernel.slots)), SLOT)
        self.block_counts = np.zeros((len(kernel.flow.blocks), COUNTS_PER_BLOCK), dtype=np.uint64)
        self.local_bytes = -(-kernel.code.local_bytes // 16) * 16
        self.local = np.zeros(max(16, local_bytes(kernel, settings)), dtype=np.uint8)
        self.banks = {BANK_OF_LAUNCH: bank} | kernel.banks
        self.buffers = memory.buffers
        self.warps = make_warps(kernel.warp_type, settings.block)
        self.memory = memory
        self.host_functions = HostFunctions(kernel.warp_type, memory, settings.print_limit)
        self.checked: CheckedLaunch | None = None
        if settings.checked:
            self.checked = CheckedLaunch(
                kernel.checked_code,
                memory,
                shared_bytes=self.shared_bytes,
                grid=settings.grid,
                block=settings.block,
            )
        self.context = zeros_in_lines(1, CONTEXT)
        self.traces: list[BlockTrace] = []
        self.traced: list[TraceBuffers] = []
        late_words = min(MOST_LATE_WORDS, LATE_WORDS // len(self.warps))
        self.late = TraceBuffers(0, len(self.warps), late_words) if settings.trace_words else None
        self._fill_context()

    def _fill_context(self) -> None:
        context = self.context[0]
        context["constants"] = self.banks[BANK_OF_LAUNCH].ctypes.data
        context["shared_base"] = self.kernel.code.shared_base
        context["shared_bytes"] = self.shared_bytes
        self._fill_system_shared(context)
        context["shared_host"] = self.shared.ctypes.data
        context["global_window"] = WINDOW
        context["global_host"] = self.memory.host_base % (1 << 64)
        context["local_host"] = self.local.ctypes.data
        context["local_bytes"] = self.local_bytes
        context["buffers"] = self.buffers.ctypes.data
        context["buffer_count"] = len(self.buffers)
        context["textures"] = self.settings.textures.ctypes.data
        context["texture_count"] = len(self.settings.textures)
        context["host_wait"] = int(1e9 * self.settings.host_wait)
        context["timer_start"] = self.settings.start_ns
        context["clock_start"] = self.settings.start_ns * CYCLES_IN_4_NS // 4
        context["converged"] = self.kernel.converged.ctypes.data
        context["diverged"] = self.kernel.diverged.ctypes.data
        context["entries"] = self.kernel.entries.ctypes.data
        for table, places in enumerate(self.kernel.jump_tables):
            context["jump_tables"][table] = places.ctypes.data
            context["jump_counts"][table] = len(places)
        for bank, data in self.banks.items():
            context["banks"][bank] = data.ctypes.data
            context["bank_bytes"][bank] = data.nbytes
        context["host_functions"] = self.host_functions.entry
        context["heap"] = self.memory.heap_host
        context["slots"] = self.slots.ctypes.data
        context["block_counts"] = self.block_counts.ctypes.data
        context["budget"] = min(self.settings.budget, BUDGET_STRETCH)
        context["reserve"] = self.settings.budget - context["budget"]
        context["processor_end"] = int(1e9 * self.settings.processor_end)
        if self.checked is not None:
            context["checked_state"] = self.checked.record.ctypes.data
        together = self.settings.together if self.kernel.ordered else self.settings.blocks
        context["reversed"] = together if self.settings.backwards else 0
        context["most_resident"] = 0 if self.alone else self.settings.together
        context["late_from"] = np.iinfo(np.int64).max
        if self.late is not None:
            context["late_traces"] = self.late.records.ctypes.data
            context["late_bytes"] = self.late.bytes_per_warp
            context["late_from"] = LATE_CYCLES
        self._fill_waits(context)
        context["shared_poison"] = self.settings.shared_poison
        context["multiprocessors"] = self.settings.multiprocessors
        context["warps"] = self.warps.ctypes.data
        context["warp_count"] = len(self.warps)
        context["warp_bytes"] = self.warps.itemsize
        context["code_blocks"] = self.kernel.code_blocks.ctypes.data
        for axis, name in enumerate("xyz"):
            context[f"grid_{name}"] = self.settings.grid[axis]
            context[f"block_{name}"] = self.settings.block[axis]
            context[f"cluster_{name}"] = self.kernel.code.cluster[axis]
        context["cluster_blocks"] = self.kernel.code.cluster_blocks

    def _fill_waits(self, context: Any) -> None:  # noqa: ANN401 - a NumPy record
        context["may_wait"] = self.kernel.code_blocks["shared_read"].any()
        self.waits_in = np.zeros(len(self.kernel.flow.blocks), dtype=np.uint8)
        context["waits_in"] = self.waits_in.ctypes.data
        if self.kernel.ordered and not self.alone:
            end = int(self.buffers["end"].max(initial=0))  # a kernel may have no buffer at all
            self.written = make_zeros(end // 4, WRITTEN, sparse=True)
            context["written"] = self.written.ctypes.data
            context["written_words"] = len(self.written)
            self.chunks = np.zeros(len(self.written) // CHUNK_WORDS + 1, dtype=CHUNK)
            context["chunks"] = self.chunks.ctypes.data

    def forget_writes(self) -> None:
        """Forgets when blocks wrote words of global memory: another launch begins."""
        if self.context[0]["written"]:
            for chunk in np.flatnonzero(self.chunks["kept"]).tolist():
                self.written[chunk * CHUNK_WORDS :][:CHUNK_WORDS] = 0
            self.chunks[:] = 0

    def _fill_system_shared(self, context: Any) -> None:  # noqa: ANN401 - a NumPy record
        code, dynamic_bytes = self.kernel.code, self.settings.dynamic_shared_bytes
        context["shared_allocated"] = code.allocated_shared_bytes(dynamic_bytes)
        if code.uses_system_shared:
            context["system_shared_first"] = code.system_shared_start(dynamic_bytes)
            context["system_shared_bytes"] = code.architecture.system_shared_bytes

    def follow(self, memory: DeviceMemory) -> None:
        """Uses memory with other regions from now on. Keeps the counters, and forgets the buffers
        of accesses."""
        self.memory, self.buffers = memory, memory.buffers
        totals, worst = self.tally.totals.copy(), self.slots["worst"].copy()
        self.slots.view(np.uint8)[:] = 0
        totals_of(self.slots)[:] = totals
        self.slots["worst"] = worst
        self.host_functions.memory = memory

    @property
    def tally(self) -> Tally:
        """Its counters, which the next blocks change."""
        return Tally(self.block_counts, totals_of(self.slots), self.slots["worst"])

    @property
    def executed(self) -> int:
        """Warp instructions so far."""
        return self.settings.budget - int(self.context[0]["reserve"] + self.context[0]["budget"])

    @property
    def wait_loops(self) -> Iterator[int]:
        """The instructions of the loops in which its warps waited."""
        for waits, block in zip(self.waits_in, self.kernel.flow.blocks, strict=True):
            if waits:
                yield from (i.index for i in block.instructions)

    @property
    def follows_waits(self) -> bool:
        """Whether blocks waited for each other, in loops that do not count their rounds, and for
        writes that are all known."""
        context = self.context[0]
        unknown = context["counting"] or context["reads_lost"]
        return bool(context["block_waits"] > 0 and not unknown)

    @property
    def lengths(self) -> Lengths:
        """Durations of its blocks so far."""
        context, late = self.context[0], self.late
        names = ("blocks_begun", "cycles", "longest", "longest_block", "finished", "awaited")
        blocks, total, longest, block, finished, awaited = (int(context[name]) for name in names)
        known = Lengths(blocks, total, longest, block, finished, awaited, self.settings.together)
        if late is None or not late.ended:
            return known
        trace = replace(late.read(), block=int(context["late_block"]))
        return replace(known, late=trace, late_from=int(late.records["end"][-1]))

    def run(self, first: int, end: int) -> int:
        """Runs blocks; returns a FaultCode. After a fault, the worker runs no more blocks."""
        if self.context[0]["fault_code"]:
            return int(self.context[0]["fault_code"])
        for traced in [each for each in self.settings.traced if first <= each < end]:
            code = self._run_blocks(first, traced) or self._run_traced(traced)
            if code:
                return code
            first = traced + 1
        return self._run_blocks(first, end)

    def _run_blocks(self, first: int, end: int) -> int:
        return self.kernel.runtime.run_blocks(self.context.ctypes.data, first, end)

    def _run_traced(self, block: int) -> int:
        """Runs a block with trace buffers for its warps."""
        traced = TraceBuffers(block, len(self.warps), self.settings.trace_words)
        self.traced.append(traced)
        self.context[0]["traces"] = traced.records.ctypes.data
        code = self._run_blocks(block, block + 1)
        self.context[0]["traces"] = 0
        self._gather()
        return code

    def _gather(self) -> None:
        """Collects the traces of blocks that have ended."""
        self.traces += [traced.read() for traced in self.traced if traced.ended]
        self.traced = [traced for traced in self.traced if not traced.ended]

    def finish(self) -> None:
        """Runs waiting blocks to their end, and collects traces. Raises MemoryError."""
        code = self.kernel.runtime.finish_blocks(self.context.ctypes.data)
        if self.host_functions.error is not None:
            raise self.host_functions.error
        if code == FaultCode.OUT_OF_MEMORY:
            raise MemoryError
        self._gather()


def local_bytes(kernel: NativeKernel, settings: LaunchSettings) -> int:
    """Bytes of local memory of a block, in whole warps."""
    threads = settings.block[0] * settings.block[1] * settings.block[2]
    return -(-kernel.code.local_bytes // 16) * 16 * WARP_LANES * -(-threads // WARP_LANES)


def first_fault(
    kernel: NativeKernel, settings: LaunchSettings, workers: Sequence[Worker]
) -> Fault | None:
    """The fault of the lowest block. If only all workers together exceed the budget, that is an
    instruction limit without a place."""
    faulty = [worker for worker in workers if worker.context[0]["fault_code"]]
    if faulty:
        first = min(faulty, key=lambda worker: block_number(worker.context[0]))
        fault = describe_stop(kernel, settings, first.context[0], first.host_functions)
        if fault.kind is not FaultKind.INSTRUCTION_LIMIT:
            return fault
        if first.context[0]["reserve"] > 0:  # the time ended the launch
            fault = replace(fault, kind=FaultKind.TIME_LIMIT)
        index, executions = fault.offset // INSTRUCTION_BYTES, first.block_counts[:, 0].tolist()
        return replace(fault, loop_lines=find_lines(kernel.flow, executions, index))
    if sum(worker.executed for worker in workers) > settings.budget:
        return Fault(FaultKind.INSTRUCTION_LIMIT, None, "", (0, 0, 0), (0, 0, 0))
    return None
