"""A plan in the emulated device: the request, a launch that is ready to run, and the outputs in
memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from grader.devices.base import Arrays
from grader.devices.emulated.checked_run import Checking
from grader.devices.gpus import Gpu
from grader.devices.mapped_arrays import find_file
from grader.emulator import GlobalMemory, LaunchOutcome, LaunchSettings, NativeKernel, run_launch
from grader.records import (
    PLAIN,
    POISON_WORD,
    Detail,
    DeviceBuffer,
    Execution,
    Kernel,
    Launch,
    Modelled,
    Program,
    Role,
    RunLimits,
    Sample,
    ShowProgress,
    Unmodelled,
    WarpCycles,
)

COMPARED_BYTES = 1 << 18

Tell = Callable[[int, int], None] | None
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
    memory: GlobalMemory
    settings: LaunchSettings


@dataclass(frozen=True)
class Ran:
    """A launch that has run; see `records.LaunchResult` for all fields except the outcome. `held`:
    sectors of each buffer in L2 at its end, where it is modelled; `cycles`: the stall breakdown, on
    request."""

    outcome: LaunchOutcome
    modelled: Modelled | None = None
    cycles: WarpCycles | None = None
    held: Sequence[float] | None = None
    unmodelled: Unmodelled | None = None
    sample: Sample | None = None


def run_whole(ready: Ready, tell: Tell) -> Ran:
    """Run all blocks."""
    return Ran(run_launch(ready.native, ready.memory, ready.settings, tell))


@dataclass(frozen=True)
class Way:
    """Options for the launches of a plan: `run` runs a launch; `checking` is set in the checked
    mode; `backwards`: see LaunchSettings."""

    run: Callable[[Ready, Tell], Ran] = run_whole
    checking: Checking | None = None
    backwards: bool = False


PLAINLY = Way()


class Runner(Protocol):
    """Runs plans on one emulated GPU: see EmulatedDevice."""

    gpu: Gpu

    def perform(self, plan: Plan, way: Way = ...) -> tuple[Execution, GlobalMemory]: ...

    def perform_in(self, memory: GlobalMemory, plan: Plan, way: Way = ...) -> Execution: ...

    def lay_out(self, plan: Plan, *, sparse: bool = ...) -> GlobalMemory: ...

    def launch_all(self, plan: Plan, memory: GlobalMemory, way: Way = ...) -> Execution: ...


def outputs_of(
    execution: Execution, memory: GlobalMemory, buffers: Sequence[DeviceBuffer]
) -> Arrays:
    """The outputs of a plan; empty where it did not run to its end."""
    if execution.failure is not None:
        return {}
    return {
        buffer.name: _contents(memory, buffer) for buffer in buffers if buffer.role is Role.OUTPUT
    }


def _contents(memory: GlobalMemory, buffer: DeviceBuffer) -> np.ndarray:
    return memory.view(buffer.name).view(np.dtype(buffer.dtype)).reshape(buffer.shape)


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


def same_bytes(now: np.ndarray, before: np.ndarray) -> bool:
    """Whether two arrays of bytes are equal."""
    pieces = range(
        0, len(now), COMPARED_BYTES
    )  # in pieces, because numpy writes the result of a comparison to memory
    return all(
        np.array_equal(now[at : at + COMPARED_BYTES], before[at : at + COMPARED_BYTES])
        for at in pieces
    )
