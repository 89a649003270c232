"""The protocol of devices: the emulated device, the GPU and the remote end of a worker process
satisfy it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from grader.records import (
    COUNTING,
    ClockState,
    DeviceBuffer,
    DeviceInfo,
    Execution,
    Mode,
    Program,
    Role,
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


def find_nonsense(execution: Execution, got: Arrays, program: Program) -> str | None:
    """The fault in the arrays of a run, or of a sample, that ran to its end; None if they are the
    program's outputs."""
    outputs = [buffer for buffer in program.buffers if buffer.role is Role.OUTPUT]
    if execution.launches and execution.launches[-1].sample is not None:
        return _check_sample(got, outputs)
    wanted = {buffer.name: (np.dtype(buffer.dtype), tuple(buffer.shape)) for buffer in outputs}
    if {name: (array.dtype, array.shape) for name, array in got.items()} != wanted:
        return "outputs of another name, type or shape than the exercise's"
    return None


def _check_sample(got: Arrays, outputs: list[DeviceBuffer]) -> str | None:
    names = [name for each in outputs for name in (each.name, places_of(each.name))]
    if sorted(got) != sorted(names):
        return "a sample of other outputs than the exercise's"
    for each in outputs:
        values, places = got[each.name], got[places_of(each.name)]
        kinds = values.dtype == np.dtype(each.dtype) and places.dtype == np.dtype(np.uint32)
        if not kinds or places.ndim != 1 or values.shape != places.shape:
            return "a sample of another type or shape than the exercise's"
        if places.size and int(places.max()) >= each.size_bytes // values.itemsize:
            return "a sample of elements that the output does not have"
    return None
