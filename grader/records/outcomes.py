"""Findings of a run, printed text, and failures with their messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from grader.records.bounds import LATER, LineNumber, Named
from grader.records.requests import Dim3
from grader.statuses import Status


class FindingKind(StrEnum):
    """Kinds of faults that a device finds while it runs a kernel."""

    OUT_OF_BOUNDS = "out_of_bounds"
    MISALIGNED = "misaligned"
    BARRIER_DIVERGENCE = "barrier_divergence"
    ENDLESS_WAIT = "endless_wait"
    INSTRUCTION_LIMIT = "instruction_limit"
    WALL_LIMIT = "wall_limit"
    TRAP = "trap"
    INPUT_MODIFIED = "input_modified"
    RACE = "race"
    UNINITIALIZED_READ = "uninitialized_read"
    COPY_UNDER_WAY = "copy_under_way"
    ABSENT_LANES = "absent_lanes"
    ORDER_DEPENDENT = "order_dependent"


@dataclass(frozen=True)
class Finding:
    """Something that a device found wrong in a run. Of a race, other_ is the access that came
    first."""

    kind: FindingKind
    message: Named
    kernel: str | None = None
    line: LineNumber = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    buffer: str | None = None
    offset_bytes: int | None = None
    """From the buffer's start; negative before it. null for a hidden case."""
    other_line: LineNumber = None
    """Of a race: the access that came first."""
    other_block: Dim3 | None = None
    other_thread: Dim3 | None = None
    element: str | None = None
    """The element that both access, by the indices of its array: `tile[3][17]`."""
    case: Annotated[str | None, LATER] = None
    """The correctness case in which it was made first."""


@dataclass(frozen=True)
class Printed:
    """Output of a launch's `printf`: untrusted text, to be escaped where it is shown."""

    kernel: str | None
    """null where the device cannot separate the output of a plan's launches."""
    text: Annotated[str, ("maxLength", 4096)]
    cut: bool = False
    """Whether it printed more than is kept."""


@dataclass(frozen=True)
class Failure:
    """A student's mistake that ends the grading, as text: a value, not an exception.

    `message` is a sentence with the mistake and its place; `detail` may quote a tool at length;
    `advice` is the next step. `printed` is the output of `printf` until then. `line` is the faulty
    line of the source, where no finding has it. `cause` is the key of its kind (messages.causes),
    the same for all submissions that fail like this.
    """

    status: Status
    message: str
    detail: str = ""
    advice: str = ""
    findings: tuple[Finding, ...] = ()
    printed: tuple[Printed, ...] = ()
    line: int | None = None
    cause: str = ""
