"""What a device is: one protocol that the emulated device, the GPU and the remote end of a worker
process satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from grader.records import (
    Binary,
    ClockState,
    DeviceBuffer,
    DeviceInfo,
    Execution,
    GradedRun,
    Launch,
    Program,
    Rehearsal,
    RunLimits,
    ShowProgress,
    TimedLaunch,
    TimedStep,
)

Arrays = dict[str, np.ndarray]
"""Contents of buffers by name: C-contiguous, of the buffer's dtype and shape."""


class Device(Protocol):
    """Runs launch plans of compiled submissions.

    `load` comes first; what the device cannot run at all (an unknown instruction) is told by
    `execute`.
    """

    @property
    def info(self) -> DeviceInfo: ...

    def load(self, binary: Binary) -> None:
        """Keep the binary as the one that `execute` takes its kernels from."""
        ...

    def execute(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        *,
        limits: RunLimits,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """Run the launches in order once.

        `arrays` holds the contents of the buffers before the run, C-contiguous, of the buffer's
        dtype and shape; outputs and scratch hold poison (POISON_WORD), which the device fills in
        where they are left out. Returns what happened and the contents of the output buffers
        afterwards (empty when it failed). A student's mistake (fault, limit, unknown instruction)
        is `Execution.failure`.
        """
        ...


@runtime_checkable
class RehearsingDevice(Device, Protocol):
    """A device with a checked mode."""

    def rehearse(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        *,
        limits: RunLimits,
        rehearsal: Rehearsal,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """As `execute`, in the checked mode: `Execution.findings` tells races, and reads of what
        nobody wrote."""
        ...


@runtime_checkable
class GradingDevice(RehearsingDevice, Protocol):
    """A device that models times."""

    def run_graded(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        *,
        limits: RunLimits,
        graded: GradedRun,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """As `execute`, with what `graded` asks for. Where the last launch is a sample, elements
        that it did not write hold poison."""
        ...


@runtime_checkable
class TimingDevice(Device, Protocol):
    """A device with a clock. What is timed and in which order is the caller's choice; the device
    only carries it out."""

    @property
    def uuid(self) -> str | None:
        """What the lock of this device is named by; None for a device that needs none."""
        ...

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        """Hold all programs and input sets on the device, and run the program labelled `submission`
        once on each set.

        Returns what happened, and the outputs per input set, for the caller to check; `time`
        compares every later output of the submission with these by a digest taken on the device.
        """
        ...

    def time(
        self, steps: Sequence[TimedStep], *, progress: ShowProgress | None = None
    ) -> tuple[tuple[TimedLaunch, ...], ClockState]:
        """Carry out the steps in order: each with poisoned outputs, a flushed L2 and persisting
        lines reset, between two CUDA events.

        A step of the submission that does not end well is not right, takes NaN milliseconds, and
        ends the steps.
        """
        ...

    def copy_bandwidth(self) -> float:
        """The best of several own copy kernels in GB/s, bytes read plus bytes written (never
        cudaMemcpy: notes/measuring B2)."""
        ...
