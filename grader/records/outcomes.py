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
    INSTRUCTION_LIMIT = "instruction_limit"
    WALL_LIMIT = "wall_limit"
    TRAP = "trap"
    INPUT_MODIFIED = "input_modified"
    RACE = "race"
    UNINITIALIZED_READ = "uninitialized_read"
    COPY_UNDER_WAY = "copy_under_way"
    ABSENT_LANES = "absent_lanes"
    ORDER_DEPENDENT = "order_dependent"


class Obstacle(StrEnum):
    """What keeps a launch of a plan from being made at some sizes."""

    DIVISION_BY_ZERO = "division_by_zero"
    BEYOND_64_BITS = "beyond_64_bits"
    NO_INSTANCE = "no_instance"
    ARGUMENT_TOO_WIDE = "argument_too_wide"
    EXTENT_TOO_SMALL = "extent_too_small"
    EXTENT_TOO_LARGE = "extent_too_large"
    TOO_MANY_THREADS = "too_many_threads"
    BEYOND_LAUNCH_BOUNDS = "beyond_launch_bounds"
    NEGATIVE_SHARED_MEMORY = "negative_shared_memory"
    TOO_MUCH_SHARED_MEMORY = "too_much_shared_memory"
    TOO_MANY_REGISTERS = "too_many_registers"
    EMPTY_SCRATCH = "empty_scratch"
    TOO_MUCH_SCRATCH = "too_much_scratch"


@dataclass(frozen=True)
class Cause:
    """Why a plan could not be launched, without a figure of the run: `line` and `column` are those
    of the submission's text.

    `obstacle` None: it is none of the known ones.
    """

    obstacle: Obstacle | None = None
    line: int | None = None
    column: int | None = None
    kernel: str | None = None


@dataclass(frozen=True)
class Finding:
    """Something a device found wrong, in words, as precisely as it may be told. `offset_bytes` is
    relative to the buffer's start.

    Of a race, `other_` is the access that came first; `element` is what both meet at, in the
    array's own indices.
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
    Messages, detail and advice may hold figures of the run; the `cause` is what words.hidden makes
    other words of where the sizes of the run are secret.
    """

    status: Status
    message: str
    detail: str = ""
    advice: str = ""
    findings: tuple[Finding, ...] = ()
    printed: tuple[Printed, ...] = ()
    cause: Cause | None = None
