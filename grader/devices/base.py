"""The protocol of devices: the emulated device, the GPU and the remote end of a worker process
satisfy it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from grader.records import (
    COUNTING,
    ClockState,
    DeviceInfo,
    Execution,
    Mode,
    Program,
    RunLimits,
    ShowProgress,
    TimedLaunch,
    TimedStep,
)

Arrays = dict[str, np.ndarray]
"""Contents of buffers by name: C-contiguous, of the buffer's dtype and shape."""


def places_of(output: str) -> str:
    """The name under which the arrays of a sample hold the places of the written elements: their
    indices in the flat buffer, as unsigned words of 4 bytes. The array with the output's own name
    holds the values, in the same order. An element that blocks of several groups wrote is repeated;
    the last value counts."""
    return f"{output} places"  # no buffer has a name with a space


class Device(Protocol):
    """Runs programs. A program that it cannot run (an unknown instruction) is a failure too."""

    @property
    def info(self) -> DeviceInfo: ...

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """Run the program's launches in order.

        `arrays` holds the contents of the buffers before the run, C-contiguous, of the buffer's
        dtype and shape. Other buffers are filled with poison (POISON_WORD). Returns the outcome and
        the contents of the output buffers afterwards (empty after a failure; for a sample of the
        blocks only the written elements, see `places_of`). A student's mistake (fault, limit,
        unknown instruction) is `Execution.failure`. Raises GraderError where the device does not
        have the mode.
        """
        ...


@runtime_checkable
class TimingDevice(Device, Protocol):
    """A device with a clock. The caller chooses the programs and their order; the device only
    executes the steps."""

    @property
    def uuid(self) -> str | None:
        """The name for the lock of this device; None for a device without a lock."""
        ...

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        """Hold all programs and input sets on the device, and run the program labelled `submission`
        once on each set.

        Returns the outcome, and the outputs per input set, for the caller to check; `time` compares
        every later output of the submission with these by a digest that the device computes.
        """
        ...

    def time(
        self, steps: Sequence[TimedStep], *, progress: ShowProgress | None = None
    ) -> tuple[tuple[TimedLaunch, ...], ClockState]:
        """Execute the steps in order: each with poisoned outputs, a flushed L2 and persisting lines
        reset, between two CUDA events.

        A step of the submission that does not end well is not right, takes NaN milliseconds, and
        ends the steps.
        """
        ...

    def copy_bandwidth(self) -> float:
        """The best of the grader's copy kernels in GB/s, bytes read plus bytes written. Never
        cudaMemcpy, which does not copy like a kernel."""
        ...
