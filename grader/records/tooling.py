"""Progress, the programs that the grader runs, and questions that only the compiler can answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol


@dataclass(frozen=True)
class Progress:
    """A step of long work: `stage` names it, `done` of `total` steps are finished; total None when
    unknown.

    `unkept`: the number of steps of machine code that the device made and could not keep in the
    cache, because it is confined.
    """

    stage: str
    done: int = 0
    total: int | None = None
    unkept: int = 0


ShowProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class ToolLimits:
    """Limits of a tool (nvcc, nvdisasm, ...). `output_bytes` bounds each of stdout and stderr,
    `file_bytes` each written file, `cpu_seconds` the processor time of each process (None: as
    `wall_seconds`). `stop` ends it once it is set."""

    wall_seconds: float = 60.0
    cpu_seconds: float | None = None
    memory_bytes: int = 6 << 30
    file_bytes: int = 64 << 20
    output_bytes: int = 4 << 20
    stop: Event | None = None


@dataclass(frozen=True)
class Completed:
    """A tool that ended. `limit` names the limit that ended it (`time`, `output`, `stop`), or
    None. `cpu_seconds` is the processor time of its processes when they reached a limit."""

    returncode: int
    stdout: str
    stderr: str
    limit: str | None = None
    cpu_seconds: float = 0.0


class RunTool(Protocol):
    """Runs a tool in a process group of its own, under limits, with a scrubbed environment."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        limits: ToolLimits = ...,
        env: dict[str, str] | None = None,
    ) -> Completed: ...


@dataclass(frozen=True)
class Question:
    """A name, or `sizeof(T)`; `may_be_type`: a type is an answer too."""

    text: str
    may_be_type: bool


@dataclass(frozen=True)
class NoConstant:
    """A question without an answer, and the compiler's message."""

    text: str
    error_text: str
