"""Says of a hidden case what may be told of it: new words, made of what no size of the case can
change.

A message that a device or the reader of launch lines made is never looked at here: it may hold
figures of the run. What is told is the kind of a mistake, its source line, and the names of a
kernel and a buffer. The words are the tables of this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from grader.errors import GraderError, SpecError, UsageError, WorkerError
from grader.records import Cause, Failure, Finding, FindingKind, Obstacle, Status
from grader.spec.exercise import Case

MEMORIES = ("shared memory", "local memory", "constant memory")
"""What a finding has as its buffer where it is in none."""


def tell_failure(failure: Failure, case: Case) -> Failure:
    """The failure as it may be told: of a hidden case without anything that the run or the launch
    plan figured out."""
    return _tell_failure(failure, case.name) if case.hidden else failure


def name_case(failure: Failure, case: Case) -> Failure:
    """A failure that says in which case it happened: with its sizes when they are public;
    `tell_failure` when they are not."""
    if case.hidden:
        return tell_failure(failure, case)
    sizes = ", ".join(f"{name} = {size:,}" for name, size in case.sizes.items())
    where = f"'{case.name}' ({sizes})" if sizes else f"'{case.name}'"
    return replace(failure, message=f"{failure.message.removesuffix('.')}. In case {where}.")


def tell_findings(findings: Iterable[Finding], case: Case) -> tuple[Finding, ...]:
    """The findings as they may be told: of a hidden case without threads, blocks, elements and
    bytes."""
    return tuple(_tell_finding(finding) if case.hidden else finding for finding in findings)


@contextmanager
def telling_errors(case: Case) -> Iterator[None]:
    """Around all that runs a case: what the grader or the worker says of its own failure in a
    hidden one may hold sizes, too."""
    try:
        yield
    except (UsageError, SpecError):
        raise  # the exercise's author's and the caller's, before any submission has a say
    except (GraderError, MemoryError) as error:
        if not case.hidden:
            raise
        raise WorkerError(
            f"the grader failed in the hidden case '{case.name}'", _GRADE_AGAIN
        ) from error


_GRADE_AGAIN = (
    "This is not the submission's doing: grade it again, and report it with the score's seed if it"
    " comes back."
)


# --- failures -------------------------------------------------------------------------------------


def _tell_failure(failure: Failure, case: str) -> Failure:
    findings = tuple(map(_tell_finding, failure.findings))
    if findings:
        first = findings[0]
        cause, words, advice = (
            Cause(line=first.line, kernel=first.kernel),
            first.message,
            "",
        )  # that of the kind (words.hints)
    else:
        cause = failure.cause or Cause()
        words, advice = (
            _OBSTACLES[cause.obstacle]
            if cause.obstacle
            else (_ENDS[failure.status], _ADVICE.get(failure.status, ""))
        )
    place = (
        ""
        if cause.line is None
        else (
            f"line {cause.line}: "
            if cause.column is None
            else f"line {cause.line}, column {cause.column}: "
        )
    )
    kernel = _plain(cause.kernel)
    who = f" (kernel {kernel})" if kernel else ""
    return Failure(
        failure.status, f"{place}{words}{who}. In case '{case}'.", advice=advice, findings=findings
    )


_ENDS: Mapping[Status, str] = {
    Status.LAUNCH_ERROR: "the launch plan does not hold at the sizes of this case",
    Status.RUNTIME_ERROR: "a kernel did not end well",
    Status.TIMEOUT: "the kernels did not end in time",
    Status.UNSUPPORTED: "the emulated device does not know what a kernel does there",
    Status.REJECTED: "the submission was rejected",
    Status.INCONCLUSIVE: "the run says nothing",
    Status.GRADER_ERROR: "the grader failed",
}
"""What a failure without a finding and without a known obstacle is."""

_ADVICE: Mapping[Status, str] = {
    Status.LAUNCH_ERROR: (
        "Work the launch line through for one row, one column, a prime and a large size."
    ),
    Status.UNSUPPORTED: (
        "This is the grader's limit, not your mistake: grade it on a GPU, or write the line another"
        " way."
    ),
    Status.GRADER_ERROR: _GRADE_AGAIN,
}

_OBSTACLES: Mapping[Obstacle, tuple[str, str]] = {
    Obstacle.DIVISION_BY_ZERO: ("division by zero", "Give the divisor a value at every size."),
    Obstacle.BEYOND_64_BITS: (
        "the value fits no integer type",
        "Multiply fewer sizes with each other.",
    ),
    Obstacle.NO_INSTANCE: (
        "there is no instance of the kernel with these template arguments",
        (
            "Give template arguments that do not depend on the sizes, or add the missing"
            " instantiations."
        ),
    ),
    Obstacle.ARGUMENT_TOO_WIDE: (
        "an argument does not fit the kernel's parameter",
        "Use a wider parameter, such as long long.",
    ),
    Obstacle.EXTENT_TOO_SMALL: (
        "the grid and the block must be at least one thread wide at every size",
        "Divide with ceil_div(a, b), which rounds up.",
    ),
    Obstacle.EXTENT_TOO_LARGE: (
        "the grid or the block is larger than what can be launched",
        "Let each thread do more, or spread it over x, y and z.",
    ),
    Obstacle.TOO_MANY_THREADS: (
        "the block has more threads than can be launched",
        "Use a smaller block, and let each thread compute several elements.",
    ),
    Obstacle.BEYOND_LAUNCH_BOUNDS: (
        "the block has more threads than the kernel's __launch_bounds__",
        "Use a smaller block, or raise the kernel's __launch_bounds__.",
    ),
    Obstacle.NEGATIVE_SHARED_MEMORY: (
        "the dynamic shared memory is negative",
        "Give no bytes, or more.",
    ),
    Obstacle.TOO_MUCH_SHARED_MEMORY: (
        "a block needs more shared memory than the device has",
        "Use smaller tiles, or fewer of them.",
    ),
    Obstacle.TOO_MANY_REGISTERS: (
        "a block needs more registers than the device has",
        "Use a smaller block, or write __launch_bounds__ before the kernel's name.",
    ),
    Obstacle.EMPTY_SCRATCH: ("a scratch buffer has no elements", "Declare at least one element."),
    Obstacle.TOO_MUCH_SCRATCH: (
        "the scratch buffers take more bytes than they may",
        "Declare as many elements as the kernels use.",
    ),
    Obstacle.OUT_OF_MEMORY: (
        "out of device memory",
        "Ask for less scratch memory, and for smaller __device__ and local arrays.",
    ),
    Obstacle.REFUSED: (
        "the GPU refused the launch",
        "Compare grid, block and shared memory with what the GPU allows.",
    ),
}


# --- findings -------------------------------------------------------------------------------------


def _tell_finding(finding: Finding) -> Finding:
    told = Finding(
        finding.kind,
        "",
        kernel=_plain(finding.kernel),
        line=finding.line,
        buffer=_plain(finding.buffer),
        other_line=finding.other_line,
    )
    before = None if finding.offset_bytes is None else finding.offset_bytes < 0
    return replace(told, message=_FINDINGS[finding.kind](told, before))


def _out_of_bounds(told: Finding, before: bool | None) -> str:
    if told.buffer is None:
        return "access out of bounds, at an address that belongs to no buffer"
    if before is None or told.buffer in MEMORIES:
        return f"access out of bounds of {_at(told.buffer)}"
    return (
        f"access out of bounds, {'before the start' if before else 'past the end'} of"
        f" {_at(told.buffer)}"
    )


def _at(buffer: str | None, otherwise: str = "memory") -> str:
    return otherwise if buffer is None else buffer if buffer in MEMORIES else f"buffer {buffer}"


def _barrier(told: Finding, _: bool | None) -> str:
    return f"__syncthreads() that not all threads reach: some wait at it, others {_elsewhere(told)}"


def _elsewhere(told: Finding) -> str:
    return "have gone another way" if told.other_line is None else f"are at line {told.other_line}"


def _race(told: Finding, _: bool | None) -> str:
    lines = (
        "threads"
        if told.other_line is None
        else f"the access of line {told.other_line} and that of line {told.line}"
    )
    return f"race on {_at(told.buffer)}: {lines} meet without having waited for each other"


def _unwritten(told: Finding, _: bool | None) -> str:
    return (
        f"an element of {_at(told.buffer)} is used that nothing was written to before, and the"
        " result depends on it"
    )


def _copy_under_way(told: Finding, _: bool | None) -> str:
    source = (
        "an asynchronous copy"
        if told.other_line is None
        else f"the asynchronous copy of line {told.other_line}"
    )
    return f"{_at(told.buffer)} is used while {source} may still be under way"


_FINDINGS: Mapping[FindingKind, Callable[[Finding, bool | None], str]] = {
    FindingKind.OUT_OF_BOUNDS: _out_of_bounds,
    FindingKind.MISALIGNED: lambda told, _: (
        f"access to {_at(told.buffer)} at an address that is no multiple of its size"
    ),
    FindingKind.BARRIER_DIVERGENCE: _barrier,
    FindingKind.INSTRUCTION_LIMIT: lambda told, _: (
        "the limit of executed warp instructions is spent"
    ),
    FindingKind.WALL_LIMIT: lambda told, _: (
        "the kernels had not ended when the time limit of this exercise was over"
    ),
    FindingKind.TRAP: lambda told, _: (
        "the kernel was stopped, by itself (__trap(), assert()) or by a fault"
    ),
    FindingKind.INPUT_MODIFIED: lambda told, _: (
        f"the kernel wrote to {_at(told.buffer, 'an input')}"
    ),
    FindingKind.RACE: _race,
    FindingKind.UNINITIALIZED_READ: _unwritten,
    FindingKind.COPY_UNDER_WAY: _copy_under_way,
    FindingKind.ABSENT_LANES: lambda told, _: (
        "an operation of a warp's lanes that not all lanes of its mask reach"
    ),
    FindingKind.ORDER_DEPENDENT: lambda told, _: (
        "the result depends on the order in which blocks and warps run"
    ),
}
"""The words for each kind: of the told finding, and of whether the access lies before its buffer
(None: not known)."""

_MANGLED = re.compile(r"(?:\A|\s)_Z")


def _plain(name: str | None) -> str | None:
    """A kernel's or a buffer's own name without template arguments, which a launch line may make of
    the sizes; None for a mangled one."""
    return None if name is None or _MANGLED.search(name) else name.partition("<")[0]
