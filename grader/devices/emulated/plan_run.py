"""A plan in the emulated device: the request, a launch that is ready to run, its counters, and the
outputs in memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from grader.devices.base import Arrays
from grader.devices.emulated.finding_facts import Checking
from grader.devices.gpus import Gpu
from grader.devices.mapped_arrays import find_file, map_array, seal
from grader.devices.parameter_space import make_result
from grader.emulator import (
    DeviceMemory,
    GlobalMemory,
    InstructionCounts,
    LaunchOutcome,
    LaunchSettings,
    NativeKernel,
    run_launch,
)
from grader.records import (
    PLAIN,
    POISON_WORD,
    Detail,
    DeviceBuffer,
    Execution,
    Kernel,
    Launch,
    LaunchResult,
    LineCounters,
    Modelled,
    Program,
    Progress,
    Role,
    RunLimits,
    Sample,
    ShowProgress,
    Uncounted,
    Unmodelled,
    WarpCycles,
)
from grader.records.counters import count_accesses
from grader.sass import BULK_LOAD, BULK_STORE, REMOTE

OnProgress = Callable[[int, int], None] | None
"""A callback for progress: the finished part and the whole, in blocks or groups of blocks."""


@dataclass(frozen=True)
class Plan:
    """A request: see `devices.base.Device.run`. Buffers that are not in `arrays` are filled with
    `poison`, a 4-byte word. `detail`: the additional results of its launches. `processor_end` is
    the processor time of this process, in seconds, at which the run ends."""

    program: Program
    arrays: Arrays
    limits: RunLimits
    progress: ShowProgress | None = None
    poison: int = POISON_WORD
    detail: Detail = PLAIN
    processor_end: float = 1e9

    def started(self) -> Plan:
        """The request at the start of its processor time."""
        return replace(self, processor_end=time.process_time() + self.limits.processor_seconds)

    def show(self, kernel: str) -> OnProgress:
        """Reports the progress of a launch, in blocks or groups of blocks."""
        if self.progress is None:
            return None
        show = self.progress
        return lambda done, total: show(Progress(f"emulating {kernel}", done, total))

    @property
    def unwritten(self) -> tuple[str, ...]:
        """The buffers without contents before the run."""
        return tuple(each.name for each in self.program.buffers if each.name not in self.arrays)

    def fill_all(self, memory: GlobalMemory, *, inputs: bool = True) -> None:
        """Fill all buffers with their contents before the run; `inputs`: also the inputs."""
        for buffer in self.program.buffers:
            if inputs or buffer.role is not Role.INPUT:
                self.fill(memory, buffer)

    def fill(self, memory: GlobalMemory, buffer: DeviceBuffer, *, sparse: bool = False) -> None:
        """Fill a buffer with its contents before the run; `sparse`: little of it will be
        written."""
        contents = self.arrays.get(buffer.name)
        if contents is None:
            memory.fill(buffer.name, self.poison, sparse=sparse)
        else:
            memory.fill_from(buffer.name, contents, find_file(contents))


@dataclass(frozen=True)
class Ready:
    """A launch that is ready to run."""

    native: NativeKernel
    kernel: Kernel
    launch: Launch
    memory: DeviceMemory
    settings: LaunchSettings


@dataclass(frozen=True)
class LaunchRun:
    """A launch that has run; see `records.LaunchResult` for all fields except the outcome. `held`:
    sectors of each buffer in L2 at its end, where it is modelled; `cycles`: the stall breakdown, on
    request."""

    outcome: LaunchOutcome
    modelled: Modelled | None = None
    cycles: WarpCycles | None = None
    held: Sequence[float] | None = None
    unmodelled: Unmodelled | None = None
    sample: Sample | None = None


def run_whole(ready: Ready, on_progress: OnProgress) -> LaunchRun:
    return LaunchRun(run_launch(ready.native, ready.memory, ready.settings, on_progress))


@dataclass(frozen=True)
class RunOptions:
    """Options for the launches of a plan: `run` runs a launch; `checking` is set in the checked
    mode; `backwards`: see LaunchSettings."""

    run: Callable[[Ready, OnProgress], LaunchRun] = run_whole
    checking: Checking | None = None
    backwards: bool = False


DEFAULT_OPTIONS = RunOptions()


class Runner(Protocol):
    """Runs plans on one emulated GPU: see EmulatedDevice."""

    def perform(self, plan: Plan, options: RunOptions = ...) -> tuple[Execution, GlobalMemory]: ...

    def perform_in(
        self, memory: GlobalMemory, plan: Plan, options: RunOptions = ...
    ) -> Execution: ...

    def lay_out(self, plan: Plan, *, sparse: bool = ...) -> GlobalMemory: ...

    def launch_all(
        self, plan: Plan, memory: GlobalMemory, options: RunOptions = ...
    ) -> Execution: ...


def outputs_of(
    execution: Execution, memory: GlobalMemory, buffers: Sequence[DeviceBuffer]
) -> Arrays:
    """The outputs of a plan; empty where it did not run to its end."""
    if execution.failure is not None:
        return {}
    outputs = (buffer for buffer in buffers if buffer.role is Role.OUTPUT)
    return {buffer.name: _contents_of(memory, buffer) for buffer in outputs}


def _contents_of(memory: GlobalMemory, buffer: DeviceBuffer) -> np.ndarray:
    descriptor, dtype = memory.take_file(buffer.name), np.dtype(buffer.dtype)
    if descriptor is None:
        return memory.view(buffer.name).view(dtype).reshape(buffer.shape)
    seal(descriptor)
    return map_array(descriptor, buffer.shape, dtype)


def modified_inputs(plan: Plan, memory: GlobalMemory) -> tuple[str, ...]:
    """The inputs whose contents changed."""
    return tuple(
        buffer.name
        for buffer in plan.program.buffers
        if buffer.role is Role.INPUT and _differs(memory, buffer, plan.arrays)
    )


def _differs(memory: GlobalMemory, buffer: DeviceBuffer, arrays: Arrays) -> bool:
    changed = memory.changed(buffer.name, arrays[buffer.name], np.dtype(buffer.dtype))
    return any(len(part) for part in changed)


def count_launch(
    gpu: Gpu, kernel: Kernel, launch: Launch, ran: LaunchRun, detail: Detail = PLAIN
) -> LaunchResult:
    counts = list(ran.outcome.counts.by_line())
    lines: dict[int | None, list[InstructionCounts]] = {}
    for each in counts:
        lines.setdefault(each.line, []).append(each)
    ordered = [
        LineCounters(line, count_accesses(lines[line]))
        for line in sorted(lines, key=lambda number: number or 0)
    ]
    return replace(
        make_result(gpu, kernel, launch, count_accesses(counts), ordered),
        printed=ran.outcome.printed,
        modelled=ran.modelled,
        unmodelled=ran.unmodelled,
        sample=ran.sample,
        waited=ran.outcome.waited or ran.outcome.lengths.mostly_awaited,
        executed=_count_instructions(kernel, ran) if detail.instructions else (),
        cycles=ran.cycles,
        uncounted=_find_uncounted(counts),
    )


def _count_instructions(kernel: Kernel, ran: LaunchRun) -> tuple[int, ...]:
    """The number of warps that executed each of the kernel's instructions."""
    executed = [0] * len(kernel.instructions)
    for counts in ran.outcome.counts.records:
        executed[counts.index] += counts.executed
    return tuple(executed)


def _find_uncounted(counts: Sequence[InstructionCounts]) -> Uncounted:
    """Data of instructions that no counter includes."""
    return Uncounted(
        sum(each.bytes for each in counts if each.space == BULK_LOAD),
        sum(each.bytes for each in counts if each.space == BULK_STORE),
        sum(each.elsewhere + each.requests * (each.space == REMOTE) for each in counts),
    )
