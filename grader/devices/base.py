"""What a device is: one protocol that the emulated device, the GPU and the remote end of a worker
process satisfy."""

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
    """Under which name the arrays of a sample hold the places of an output's elements that its
    blocks wrote: their indices in the flat buffer, as unsigned words of 4 bytes. Under the output's
    own name they hold the values there, in the same order; where blocks of several groups wrote an
    element it is there again, and the last one counts."""
    return f"{output} places"  # no buffer has a name with a space


class Device(Protocol):
    """Runs programs. What it cannot run at all (an unknown instruction) is a failure, too."""

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
        dtype and shape. What it leaves out holds nothing yet, and is filled with poison
        (POISON_WORD). Returns what happened and the contents of the output buffers afterwards
        (empty when it failed; of a sample of the blocks what it wrote, see `places_of`). A
        student's mistake (fault, limit, unknown instruction) is `Execution.failure`. GraderError
        where the device has no such mode.
        """
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
        """The best of several own copy kernels in GB/s, bytes read plus bytes written. Never
        cudaMemcpy, which takes other ways than a kernel."""
        ...
