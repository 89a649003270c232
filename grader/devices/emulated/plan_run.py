"""A plan on its way through the emulated device: what is asked for, a launch that is ready to run,
and what it left in memory."""

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
"""Is told how many of the blocks have run."""


@dataclass(frozen=True)
class Plan:
    """A request: see `devices.base.Device.run`. What `arrays` leaves out is filled with `poison`,
    a 4-byte word. `detail`: how much is kept of its launches. `processor_end` is the processor
    time of this process, in seconds, at which the run ends."""

    program: Program
    arrays: Arrays
    limits: RunLimits
    progress: ShowProgress | None = None
    poison: int = POISON_WORD
    detail: Detail = PLAIN
    processor_end: float = 1e9

    def started(self) -> Plan:
        """The request with all of its processor time left."""
        return replace(self, processor_end=time.process_time() + self.limits.processor_seconds)

    @property
    def unwritten(self) -> tuple[str, ...]:
        """The buffers that hold nothing yet."""
        return tuple(each.name for each in self.program.buffers if each.name not in self.arrays)

    def fill_all(self, memory: GlobalMemory, *, inputs: bool = True) -> None:
        """Put into all buffers what they hold before the run; `inputs`: into these, too."""
        for buffer in self.program.buffers:
            if inputs or buffer.role is not Role.INPUT:
                self.fill(memory, buffer)

    def fill(self, memory: GlobalMemory, buffer: DeviceBuffer, *, sparse: bool = False) -> None:
        """Put into a buffer what it holds before the run; `sparse`: little of it will be
        written."""
        contents = self.arrays.get(buffer.name)
        if contents is None:
            memory.fill(buffer.name, self.poison, sparse=sparse)
        else:
            memory.fill_from(buffer.name, contents, find_file(contents))


@dataclass(frozen=True)
class Ready:
    """A launch that can run."""

    native: NativeKernel
    kernel: Kernel
    launch: Launch
    memory: GlobalMemory
    settings: LaunchSettings


@dataclass(frozen=True)
class Ran:
    """A launch that has run; see `records.LaunchResult` for all but the outcome. `held` are sectors
    of each buffer that the L2 holds at its end, where it is modelled, and `cycles` where its warps'
    cycles go, where that is asked for."""

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
    """How the launches of a plan are run: `run` runs one; `checking` is there in the checked mode;
    `backwards`: see LaunchSettings."""

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
    """What a plan left in its outputs; nothing where it did not run to its end."""
    if execution.failure is not None:
        return {}
    return {
        buffer.name: _contents(memory, buffer) for buffer in buffers if buffer.role is Role.OUTPUT
    }


def _contents(memory: GlobalMemory, buffer: DeviceBuffer) -> np.ndarray:
    return memory.view(buffer.name).view(np.dtype(buffer.dtype)).reshape(buffer.shape)


def modified_inputs(plan: Plan, memory: GlobalMemory) -> tuple[str, ...]:
    """The inputs that hold something else than before."""
    return tuple(
        buffer.name
        for buffer in plan.program.buffers
        if buffer.role is Role.INPUT and _differs(memory, buffer, plan.arrays)
    )


def _differs(memory: GlobalMemory, buffer: DeviceBuffer, arrays: Arrays) -> bool:
    changed = memory.changed(buffer.name, arrays[buffer.name], np.dtype(buffer.dtype))
    return any(len(part) for part in changed)


def same_bytes(now: np.ndarray, before: np.ndarray) -> bool:
    """Whether two rows of bytes are equal."""
    pieces = range(
        0, len(now), COMPARED_BYTES
    )  # in pieces: what numpy compares at once it also writes to memory
    return all(
        np.array_equal(now[at : at + COMPARED_BYTES], before[at : at + COMPARED_BYTES])
        for at in pieces
    )
