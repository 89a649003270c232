"""A plan on its way through the emulated device: what is asked for, a launch that is ready to run,
and what it left in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from grader.devices.base import Arrays
from grader.devices.rehearsal import Observer
from grader.emulator import GlobalMemory, LaunchOutcome, LaunchSettings, NativeKernel, run_launch
from grader.records import (
    POISON_WORD,
    DeviceBuffer,
    Execution,
    Kernel,
    Launch,
    Modelled,
    Role,
    RunLimits,
    Sample,
    ShowProgress,
)

COMPARED_BYTES = 1 << 18

Tell = Callable[[int, int], None] | None
"""Is told how many of the blocks have run."""


@dataclass(frozen=True)
class Plan:
    """A request: see `devices.base.Device.execute`."""

    launches: tuple[Launch, ...]
    buffers: tuple[DeviceBuffer, ...]
    arrays: Arrays
    limits: RunLimits
    progress: ShowProgress | None = None


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
    """A launch that has run; see `records.LaunchResult` for all but the outcome."""

    outcome: LaunchOutcome
    modelled: Modelled | None = None
    unmodelled: str = ""
    finished: bool = True
    sample: Sample | None = None


def run_whole(ready: Ready, tell: Tell) -> Ran:
    """Run all blocks."""
    return Ran(run_launch(ready.native, ready.memory, ready.settings, tell))


@dataclass(frozen=True)
class Way:
    """How the launches of a plan are run: `run` runs one; `observer` is there in the checked mode;
    `backwards`: see LaunchSettings."""

    run: Callable[[Ready, Tell], Ran] = run_whole
    observer: Observer | None = None
    backwards: bool = False


PLAINLY = Way()


def observe(observer: Observer) -> Way:
    """In the checked mode."""
    return Way(observer=observer, backwards=observer.rehearsal.backwards)


def size_bytes(buffer: DeviceBuffer) -> int:
    """Bytes of a buffer."""
    return math.prod(buffer.shape) * np.dtype(buffer.dtype).itemsize


def fill(view: np.ndarray, contents: np.ndarray | None) -> None:
    """Put the contents into a buffer, or poison."""
    if contents is not None:
        view[:] = contents.reshape(-1).view(np.uint8)
        return
    words = len(view) // 4 * 4
    view[:words].view("<u4")[:] = POISON_WORD
    view[words:] = np.frombuffer(POISON_WORD.to_bytes(4, "little"), dtype=np.uint8)[
        : len(view) - words
    ]


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
        for buffer in plan.buffers
        if buffer.role is Role.INPUT and _differs(memory, buffer, plan.arrays)
    )


def _differs(memory: GlobalMemory, buffer: DeviceBuffer, arrays: Arrays) -> bool:
    return not same_bytes(memory.view(buffer.name), arrays[buffer.name].reshape(-1).view(np.uint8))


def same_bytes(now: np.ndarray, before: np.ndarray) -> bool:
    """Whether two rows of bytes are equal."""
    pieces = range(
        0, len(now), COMPARED_BYTES
    )  # in pieces: what numpy compares at once it also writes to memory
    return all(
        np.array_equal(now[at : at + COMPARED_BYTES], before[at : at + COMPARED_BYTES])
        for at in pieces
    )
