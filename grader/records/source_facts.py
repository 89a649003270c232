"""Faults of a submission before it runs, as facts: a file without source text, an include that is
not allowed, a use that its exercise forbids, and failures of the compilation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from grader.records.tooling import ToolLimits
from grader.statuses import Status

# --- the file -------------------------------------------------------------------------------------


class Unreadable(StrEnum):
    """The reason why a file is not source text."""

    TOO_LARGE = "too_large"
    EMPTY = "empty"
    UTF16 = "utf16"
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    DOCUMENT = "document"


@dataclass(frozen=True)
class NoSource:
    """The file `name` is not source text. `line` is the first line that is not UTF-8, `most_bytes`
    the largest allowed size."""

    name: str
    why: Unreadable
    most_bytes: int
    line: int | None = None
    status: ClassVar[Status] = Status.COMPILE_ERROR


@dataclass(frozen=True)
class ForeignFile:
    """The submission includes a file that is not a header of CUDA or C++; `file` is None where a
    message must not contain its name."""

    file: str | None
    status: ClassVar[Status] = Status.REJECTED


class Evasion(StrEnum):
    """A way to find out about files without a trace in the list of included files."""

    ODD_OPERAND = "odd_operand"
    MADE_NAME = "made_name"
    DEPENDENCY = "dependency"
    MADE_DIRECTIVE = "made_directive"


@dataclass(frozen=True)
class Evaded:
    """The submission uses a construct that could look for files unseen."""

    how: Evasion
    status: ClassVar[Status] = Status.REJECTED


# --- what an exercise forbids ---------------------------------------------------------------------


@dataclass(frozen=True)
class HeaderUse:
    """The included header `name` is `forbidden`, or lies in the folder of that name. `line` is None
    where another header includes it."""

    forbidden: str
    name: str
    line: int | None


@dataclass(frozen=True)
class ScratchUse:
    """With this scratch buffer, all scratch buffers together exceed `most`, a formula of bytes.
    `line` is None in the exercise's own plan."""

    most: str
    declared: str
    line: int | None


@dataclass(frozen=True)
class HeapUse:
    """A kernel can call the device's malloc, although scratch memory is limited to `most`, a
    formula of bytes."""

    most: str
    kernel: str
    line: ClassVar[None] = None


@dataclass(frozen=True)
class VariableUse:
    """A kernel can reach more bytes of `__device__` variables than allowed; `line` declares the
    largest variable."""

    most_bytes: int
    kernel: str
    size_bytes: int
    line: int | None


@dataclass(frozen=True)
class AtomicUse:
    """A kernel has a forbidden atomic; `shared_too`: atomics on shared memory are forbidden too."""

    shared_too: bool
    kernel: str
    opcode: str
    line: int | None


@dataclass(frozen=True)
class Breach:
    """A submission contains a use that its exercise, or the part with this name, forbids. `quoted`
    is the line of the use."""

    use: HeaderUse | ScratchUse | HeapUse | VariableUse | AtomicUse
    part: str | None
    quoted: str
    status: ClassVar[Status] = Status.REJECTED


# --- the compiler ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompileErrors:
    """The compiler found mistakes in the file `name`. `error_text` and `line` belong to the first
    mistake, `quoted` is the list of all with their lines."""

    name: str
    error_text: str
    line: int | None
    quoted: str
    status: ClassVar[Status] = Status.COMPILE_ERROR


class CompilerEnd(StrEnum):
    """The end of a compilation without a message that may be shown."""

    TOO_SLOW = "too_slow"
    LARGE_FILE = "large_file"
    OUT_OF_MEMORY = "out_of_memory"
    MUCH_OUTPUT = "much_output"
    UNSHOWN = "unshown"


@dataclass(frozen=True)
class CompilerEnded:
    """The compilation of the file `name` failed within these limits. `signal` ended a program of
    the compiler; 0 if none did."""

    name: str
    how: CompilerEnd
    limits: ToolLimits
    signal: int = 0

    @property
    def status(self) -> Status:
        """The status of a grading that it ends."""
        return Status.TIMEOUT if self.how is CompilerEnd.TOO_SLOW else Status.COMPILE_ERROR


@dataclass(frozen=True)
class NoKernel:
    """The file `name` has no kernel after compilation; `written`: its text contains
    `__global__`."""

    name: str
    written: bool
    status: ClassVar[Status] = Status.COMPILE_ERROR


@dataclass(frozen=True)
class TooMuchStaticShared:
    """A kernel has more static shared memory than a block can have. `arrays` are the names and
    sizes of its arrays, where they are known."""

    kernel: str
    size_bytes: int
    most_bytes: int
    arrays: tuple[tuple[str, int], ...] = ()
    status: ClassVar[Status] = Status.COMPILE_ERROR


@dataclass(frozen=True)
class TooLargeVariables:
    """The `__device__` variables of the file `name` take more bytes than the tools can handle."""

    name: str
    size_bytes: int
    most_bytes: int
    status: ClassVar[Status] = Status.COMPILE_ERROR


SourceMistake = NoSource | ForeignFile | Evaded | Breach
"""Faults in the text, the launch lines or the machine code."""
CompileMistake = CompileErrors | CompilerEnded | NoKernel | TooMuchStaticShared | TooLargeVariables
"""Reasons why there is no machine code."""
