"""What is wrong with a submission before anything of it runs, as facts: no source text, a file that
it must not read, a thing that its exercise forbids, and what keeps the compiler from an end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from grader.records.tooling import ToolLimits
from grader.statuses import Status

# --- the file -------------------------------------------------------------------------------------


class Unreadable(StrEnum):
    """Why a file is no source text."""

    TOO_LARGE = "too_large"
    EMPTY = "empty"
    UTF16 = "utf16"
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    DOCUMENT = "document"


@dataclass(frozen=True)
class NoSource:
    """The file `name` is no source text. `line` is the first that is no UTF-8, `most_bytes` what a
    file may have."""

    name: str
    why: Unreadable
    most_bytes: int
    line: int | None = None
    status: ClassVar[Status] = Status.COMPILE_ERROR


@dataclass(frozen=True)
class ForeignFile:
    """The submission includes a file that is no header of CUDA or C++; `file` is None where its
    name must stay unsaid."""

    file: str | None
    status: ClassVar[Status] = Status.REJECTED


class Evasion(StrEnum):
    """How a submission could learn of files without a trace in the list of included ones."""

    ODD_OPERAND = "odd_operand"
    MADE_NAME = "made_name"
    DEPENDENCY = "dependency"
    MADE_DIRECTIVE = "made_directive"


@dataclass(frozen=True)
class Evaded:
    """The submission does what could look for files unseen."""

    how: Evasion
    status: ClassVar[Status] = Status.REJECTED


# --- what an exercise forbids ---------------------------------------------------------------------


@dataclass(frozen=True)
class HeaderUse:
    """A header is included, `name`, that is `forbidden` or lies in the folder of that name. `line`
    is None where another header includes it."""

    forbidden: str
    name: str
    line: int | None


@dataclass(frozen=True)
class ScratchUse:
    """A scratch buffer is declared with which all take more bytes than `most`, a formula. `line` is
    None in the exercise's own plan."""

    most: str
    declared: str
    line: int | None


@dataclass(frozen=True)
class HeapUse:
    """A kernel can call the device's malloc, where no more than `most` bytes of memory, a formula,
    may be taken."""

    most: str
    kernel: str
    line: ClassVar[None] = None


@dataclass(frozen=True)
class VariableUse:
    """A kernel can reach more bytes of `__device__` variables than it may; `line` declares the
    largest."""

    most_bytes: int
    kernel: str
    size_bytes: int
    line: int | None


@dataclass(frozen=True)
class AtomicUse:
    """A kernel has a forbidden atomic; `shared_too`: those on shared memory are forbidden, too."""

    shared_too: bool
    kernel: str
    opcode: str
    line: int | None


@dataclass(frozen=True)
class Breach:
    """A submission uses what its exercise forbids, or the part of this name. `quoted` is the line
    of the use."""

    use: HeaderUse | ScratchUse | HeapUse | VariableUse | AtomicUse
    part: str | None
    quoted: str
    status: ClassVar[Status] = Status.REJECTED


# --- the compiler ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompileErrors:
    """The compiler found mistakes in the file `name`. `said` and `line` are those of the first one,
    `quoted` shows them with their lines."""

    name: str
    said: str
    line: int | None
    quoted: str
    status: ClassVar[Status] = Status.COMPILE_ERROR


class CompilerEnd(StrEnum):
    """How the compiler ended without a message that may be shown."""

    TOO_SLOW = "too_slow"
    LARGE_FILE = "large_file"
    OUT_OF_MEMORY = "out_of_memory"
    MUCH_OUTPUT = "much_output"
    CRASH = "crash"
    UNSHOWN = "unshown"


@dataclass(frozen=True)
class CompilerEnded:
    """The compiler made nothing of the file `name`, within these limits. `signal` ended it where it
    crashed."""

    name: str
    how: CompilerEnd
    limits: ToolLimits
    signal: int = 0

    @property
    def status(self) -> Status:
        """How a grading ends that meets it."""
        return Status.TIMEOUT if self.how is CompilerEnd.TOO_SLOW else Status.COMPILE_ERROR


@dataclass(frozen=True)
class NoKernel:
    """The file `name` compiles to no kernel; `written`: it does hold the word `__global__`."""

    name: str
    written: bool
    status: ClassVar[Status] = Status.COMPILE_ERROR


@dataclass(frozen=True)
class TooMuchStaticShared:
    """A kernel has more static shared memory than a block can have. `arrays` are names and bytes of
    those that take it, where the file tells them."""

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
"""What shows in the text, the launch lines or the machine code."""
CompileMistake = CompileErrors | CompilerEnded | NoKernel | TooMuchStaticShared | TooLargeVariables
"""Why there is no machine code."""
