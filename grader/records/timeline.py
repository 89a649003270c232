"""The timeline of a CUDA program: kernels, copies, fills and waits, each with its start and end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ActivityKind(StrEnum):
    """Kinds of activities; a WAIT is the host's."""

    KERNEL = "kernel"
    COPY = "copy"
    SET = "set"
    HOST_FUNCTION = "host_function"
    WAIT = "wait"


@dataclass(frozen=True)
class TimelineEntry:
    """An activity of a stream. Times in milliseconds from the first CUDA call of the process.

    `name` is the kernel, or the direction of a copy; `stream` None is the host. `bytes` are those
    of a copy or fill; `launch` is the index of a kernel's launch. `process` is set by the program's
    record.
    """

    kind: ActivityKind
    name: str
    device: int
    stream: int | None
    start_ms: float
    end_ms: float
    bytes: int | None = None
    launch: int | None = None
    process: int = 0

    @property
    def ms(self) -> float:
        return self.end_ms - self.start_ms
