"""What a device is: one protocol that the emulated device, the GPU and the remote end of a worker process satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from grader.records import Binary, DeviceBuffer, DeviceInfo, Execution, Launch, RunLimits, ShowProgress

Arrays = dict[str, np.ndarray]


class Device(Protocol):
    """Runs launch plans of compiled submissions.

    `load` comes first; what the device cannot run at all (an unknown instruction) is told by `execute`.
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

        `arrays` holds the contents of every buffer before the run, C-contiguous, of the buffer's dtype and shape;
        outputs and scratch hold poison. Returns what happened and the contents of the output buffers afterwards
        (empty when it failed). A student's mistake (fault, limit, unknown instruction) is `Execution.failure`.
        """
        ...
