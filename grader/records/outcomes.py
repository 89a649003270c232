"""What a run found, what keeps a launch from being made, and what a failure says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.records.requests import Dim3
from grader.statuses import Status


class FindingKind(StrEnum):
    """What a device found wrong while it ran a kernel."""

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
    """Something a device found wrong, in words, as precisely as it may be told. `offset_bytes` is
    relative to the buffer's start.

    Of a race, `other_` is the access that came first; `element` is what both meet at, in the
    array's own indices. `case` is the name of the correctness case in which it was made first.
    """

    kind: FindingKind
    message: str
    kernel: str | None = None
    line: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    buffer: str | None = None
    offset_bytes: int | None = None
    other_line: int | None = None
    other_block: Dim3 | None = None
    other_thread: Dim3 | None = None
    element: str | None = None
    case: str | None = None


@dataclass(frozen=True)
class Printed:
    """What a launch printed with `printf`: the submission's own words, never the grader's. `cut`:
    there was more.

    `kernel` is None where the device cannot tell the launches of a plan apart.
    """

    kernel: str | None
    text: str
    cut: bool = False


@dataclass(frozen=True)
class Failure:
    """A student's mistake that ends the grading, in words: a value, not an exception.

    `message` is one sentence that says what is wrong and where; `detail` may quote a tool at
    length; `advice` says what to try next. `printed` is what the run had printed until then.
    `line` is the line of the source that is at fault, where no finding says it. `cause` is the key
    of its kind (words.causes), the same for all submissions that fail like this.
    """

    status: Status
    message: str
    detail: str = ""
    advice: str = ""
    findings: tuple[Finding, ...] = ()
    printed: tuple[Printed, ...] = ()
    line: int | None = None
    cause: str = ""
