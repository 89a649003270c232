"""A student's mistakes as facts: the thread, the access and the memory, or the launch that is
impossible, with the figures. `grader.messages` makes sentences of them: with the figures for a
public case, without them for a hidden case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import ClassVar, Self

from grader.records.outcomes import FindingKind
from grader.records.requests import Dim3
from grader.records.source_facts import CompileMistake, SourceMistake
from grader.statuses import Status


class Act(StrEnum):
    """A fault of a kernel, as precisely as a device finds it; `kind` is its name in a score.

    For the second group CUDA gives an error code but no place.
    """

    kind: FindingKind

    def __new__(cls, name: str, kind: FindingKind) -> Self:
        act = str.__new__(cls, name)
        act._value_, act.kind = name, kind
        return act

    ACCESS_OUT_OF_BOUNDS = "access_out_of_bounds", FindingKind.OUT_OF_BOUNDS
    OTHER_ARRAY = "other_array", FindingKind.OUT_OF_BOUNDS
    GUARD_BAND = "guard_band", FindingKind.OUT_OF_BOUNDS
    MISALIGNED_ACCESS = "misaligned_access", FindingKind.MISALIGNED
    SKIPPED_BARRIER = "skipped_barrier", FindingKind.BARRIER_DIVERGENCE
    SKIPPED_COLLECTIVE = "skipped_collective", FindingKind.ABSENT_LANES
    ABSENT_IN_MASK = "absent_in_mask", FindingKind.ABSENT_LANES
    READ_FROM_ABSENT = "read_from_absent", FindingKind.ABSENT_LANES
    TOO_MANY_ARRIVALS = "too_many_arrivals", FindingKind.TRAP
    ENDLESS_WAIT = "endless_wait", FindingKind.ENDLESS_WAIT
    STACK_OVERFLOW = "stack_overflow", FindingKind.OUT_OF_BOUNDS
    BAD_FREE = "bad_free", FindingKind.TRAP
    TRAP = "trap", FindingKind.TRAP
    ASSERTION = "assertion", FindingKind.TRAP
    RACE = "race", FindingKind.RACE
    USE_OF_ENDED_BLOCK = "use_of_ended_block", FindingKind.RACE
    USE_DURING_COPY = "use_during_copy", FindingKind.COPY_UNDER_WAY
    USE_OF_UNWRITTEN = "use_of_unwritten", FindingKind.UNINITIALIZED_READ
    TOO_MANY_INSTRUCTIONS = "too_many_instructions", FindingKind.INSTRUCTION_LIMIT
    TOO_LONG = "too_long", FindingKind.WALL_LIMIT

    ILLEGAL_ADDRESS = "illegal_address", FindingKind.OUT_OF_BOUNDS
    MISALIGNED_ADDRESS = "misaligned_address", FindingKind.MISALIGNED
    FAILED_ASSERT = "failed_assert", FindingKind.TRAP
    ILLEGAL_INSTRUCTION = "illegal_instruction", FindingKind.TRAP
    STACK_OVERRUN = "stack_overrun", FindingKind.OUT_OF_BOUNDS
    UNNAMED_FAULT = "unnamed_fault", FindingKind.TRAP
    OTHER_ADDRESS_SPACE = "other_address_space", FindingKind.OUT_OF_BOUNDS
    INVALID_JUMP = "invalid_jump", FindingKind.OUT_OF_BOUNDS
    UNKNOWN_FAULT = "unknown_fault", FindingKind.TRAP
    WATCHDOG = "watchdog", FindingKind.WALL_LIMIT


@dataclass(frozen=True)
class Party:
    """A thread at a line of the source, as far as they are known, and its kind of access there."""

    line: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    stores: bool = False
    atomic: bool = False


@dataclass(frozen=True)
class Spot:
    """A place in memory. `space` is `global`, `shared`, `local` or `constant`; `address` lies in
    it.

    `buffer` is the buffer or variable of `size_bytes` that contains it or lies next to it,
    `offset_bytes` is relative to its start; for shared memory the size is the block's. `element` is
    the place by the array's indices. `array` is the shared array that the access belongs to, as
    declared (`tile[32][33]`).
    """

    space: str | None = None
    address: int | None = None
    buffer: str | None = None
    offset_bytes: int | None = None
    size_bytes: int | None = None
    element: str | None = None
    array: str | None = None

    @property
    def memory(self) -> str | None:
        """The buffer, or the name of a memory without buffers: `shared memory`."""
        if self.buffer is None and self.space in ("shared", "local", "constant"):
            return f"{self.space} memory"
        return self.buffer


@dataclass(frozen=True)
class MeantArray:
    """The shared array of an access that reaches another array, and the element that its index
    would be. `before`: the access is before the array's start."""

    name: str
    element: str
    before: bool


@dataclass(frozen=True)
class Observation:
    """A fault of a kernel that a device found.

    `other` is the earlier access, or the place of the threads that do not arrive at a barrier.
    `lanes` take part in an operation of a warp. For a race, `in_warp`: both accesses are by lanes
    of one warp, and `barrier_between`: there is a barrier between their lines. `error_text` is the
    text of CUDA's error, or of the kernel's assertion. For an endless wait, `resident_blocks` and
    `unstarted_blocks` are numbers of blocks on the GPU and not yet on it. `threads` is the size of
    a block in the launch of `launch_line`. `loop_lines` are the first and the last line of a loop
    that had not ended. The limits are the spent ones; `of_processor`: seconds of processor time,
    else of wall time; `limit_of_exercise`: see RunLimits.
    """

    act: Act
    kernel: str | None = None
    by: Party = Party()
    other: Party | None = None
    spot: Spot = Spot()
    width_bytes: int = 0
    meant: MeantArray | None = None
    lanes: tuple[int, ...] = ()
    in_warp: bool = False
    barrier_between: bool = False
    error_text: str = ""
    unstarted_blocks: int = 0
    resident_blocks: int = 0
    threads: Dim3 | None = None
    launch_line: int | None = None
    loop_lines: tuple[int, int] | None = None
    limit_instructions: int = 0
    limit_seconds: float = 0.0
    of_processor: bool = False
    limit_of_exercise: bool = True

    @property
    def kind(self) -> FindingKind:
        return self.act.kind

    @property
    def line(self) -> int | None:
        return self.by.line

    @property
    def other_line(self) -> int | None:
        return self.other.line if self.other is not None else None


@dataclass(frozen=True)
class Faulted:
    """A kernel had a fault or exceeded a limit. `others`: earlier findings of the checked mode.
    `quoted`: the launch lines, or a tool's output."""

    observation: Observation
    others: tuple[Observation, ...] = ()
    quoted: str = ""

    @property
    def status(self) -> Status:
        """The status of a grading that it ends."""
        limits = (FindingKind.INSTRUCTION_LIMIT, FindingKind.WALL_LIMIT)
        endless = (*limits, FindingKind.ENDLESS_WAIT)
        return Status.TIMEOUT if self.observation.kind in endless else Status.RUNTIME_ERROR

    @property
    def findings(self) -> tuple[Observation, ...]:
        return (self.observation, *self.others)


@dataclass(frozen=True)
class NotEmulated:
    """The emulated device does not support something: `what` names it; if empty, it is a form of
    the instruction `opcode`."""

    kernel: str
    line: int | None
    what: str = ""
    opcode: str = ""
    status: ClassVar[Status] = Status.UNSUPPORTED


@dataclass(frozen=True)
class Refused:
    """CUDA refused a launch with the error `error_text`; `quoted` is the launch's line."""

    kernel: str
    line: int | None
    error_text: str
    quoted: str
    status: ClassVar[Status] = Status.LAUNCH_ERROR


@dataclass(frozen=True)
class OutOfMemory:
    """The submission requests more than the emulated device's memory: `most_bytes` or, where that
    is None, the free memory of this machine."""

    scratch_bytes: int
    variable_bytes: int
    local_bytes: int = 0
    most_bytes: int | None = None
    status: ClassVar[Status] = Status.LAUNCH_ERROR


@dataclass(frozen=True)
class OutOfGpuMemory:
    """The buffers and variables do not fit the GPU's memory."""

    buffer_bytes: int
    variable_bytes: int
    status: ClassVar[Status] = Status.LAUNCH_ERROR


Stop = Faulted | NotEmulated | Refused | OutOfMemory | OutOfGpuMemory
"""Why a run stopped early."""


class Obstacle(StrEnum):
    """The reason why a launch of a plan is impossible at some sizes."""

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
    OUTSIDE_BUFFER = "outside_buffer"
    OUTSIDE_COPY = "outside_copy"
    OVERLAPPING_COPY = "overlapping_copy"
    UNEQUAL_SWAP = "unequal_swap"
    BEYOND_VARIABLE = "beyond_variable"
    TOO_MANY_STEPS = "too_many_steps"
    TOO_MANY_LAUNCHES = "too_many_launches"
    TOO_MANY_BYTES = "too_many_bytes"
    NO_LAUNCH = "no_launch"


class Syntax(Enum):
    """A mistake in the text of a launch line or an expression; `messages.syntax` has a row for
    each."""

    ADDRESS_OPERATOR = auto()
    BUFFER_AS_INTEGER = auto()
    DIM3_ARGUMENTS = auto()
    ELEMENT = auto()
    FUNCTION_ARGUMENTS = auto()
    GROUP_AS_INTEGER = auto()
    MISSING_SIZE = auto()
    NESTED_TOO_DEEP = auto()
    NOT_A_CHARACTER = auto()
    NOT_A_CONDITION = auto()
    NOT_A_NUMBER = auto()
    NOT_A_POINTER = auto()
    NOT_AN_ADDRESS = auto()
    NOT_AN_INTEGER = auto()
    NOT_CONVERTIBLE = auto()
    NOT_FINITE = auto()
    NUMBERS_ONLY = auto()
    ROUNDED_UP = auto()
    SHIFT_COUNT = auto()
    TEXT_TOO_LONG = auto()
    TOO_DEEP = auto()
    UNCALLABLE = auto()
    UNEXPECTED = auto()
    UNKNOWN_NAME = auto()
    UNKNOWN_TYPE = auto()
    VOID_POINTER = auto()
    WITHOUT_FLOATS = auto()
    WRONG_OPERAND = auto()


Problem = Obstacle | Syntax
"""The kind of a mistake in a launch line, or in another expression."""


@dataclass(frozen=True)
class PlanMistake:
    """A wrong launch or scratch line. `line` is None in the exercise's own plan; `quoted` marks the
    place with a caret.

    The sentence on a `problem` is made from its `figures`; an obstacle depends on the sizes. For
    other mistakes the reader of the line gives the `message`. `advice` is the general one.
    """

    line: int | None
    column: int
    message: str
    advice: str
    quoted: str
    problem: Problem | None = None
    figures: Mapping[str, int | str] = field(default_factory=dict)
    status: ClassVar[Status] = Status.LAUNCH_ERROR


@dataclass(frozen=True)
class Disturbed:
    """No measurement is fit for a verdict; `how` is a clause on the last one. `measurements` is
    their number."""

    measurements: int
    how: str
    status: ClassVar[Status] = Status.GRADER_ERROR


@dataclass(frozen=True)
class OverBatchLimit:
    """A grading took longer than the batch's user allows."""

    seconds: float
    status: ClassVar[Status] = Status.TIMEOUT


@dataclass(frozen=True)
class GivenUp:
    """A batch has no score of a submission after `tries` tries. `error_text` is the grader's
    message or, where its process was `lost`, the reason; `quoted` and `advice` are the grader's,
    too."""

    tries: int
    error_text: str
    quoted: str = ""
    advice: str = ""
    lost: bool = False
    status: ClassVar[Status] = Status.GRADER_ERROR


Mishap = Disturbed | OverBatchLimit | GivenUp
"""Ends of a grading that are not a mistake in the submission."""
Fact = Stop | PlanMistake | SourceMistake | CompileMistake | Mishap
"""The end of a grading, before a message is made of it."""
