"""Says of a hidden case what may be told of it: new words, made of what no size of the case can
change.

A message that a device or the reader of launch lines made is never looked at here: it may hold
figures of the run. What is told is the kind of a mistake, its source line, and the names of a
kernel and a buffer. The words are the tables of this file, of `findings` and of `statuses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from grader.errors import GraderError, SpecError, UsageError, WorkerError
from grader.records import Cause, Failure, Finding, Obstacle
from grader.spec.exercise import Case
from grader.statuses import GRADE_AGAIN
from grader.words.findings import hide_figures, plain_name
from grader.words.sizes import list_sizes


def tell_failure(failure: Failure, case: Case) -> Failure:
    """The failure as it may be told: of a hidden case without anything that the run or the launch
    plan figured out."""
    return _tell_failure(failure, case.name) if case.hidden else failure


def name_case(failure: Failure, case: Case) -> Failure:
    """A failure that says in which case it happened: with its sizes when they are public;
    `tell_failure` when they are not."""
    if case.hidden:
        return tell_failure(failure, case)
    where = f"'{case.name}' ({list_sizes(case.sizes)})" if case.sizes else f"'{case.name}'"
    return replace(failure, message=f"{failure.message.removesuffix('.')}. In case {where}.")


def tell_findings(findings: Iterable[Finding], case: Case) -> tuple[Finding, ...]:
    """The findings as they may be told: of a hidden case without threads, blocks, elements and
    bytes."""
    return tuple(hide_figures(finding) if case.hidden else finding for finding in findings)


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
            f"the grader failed in the hidden case '{case.name}'", GRADE_AGAIN
        ) from error


# --- failures -------------------------------------------------------------------------------------


def _tell_failure(failure: Failure, case: str) -> Failure:
    findings = tuple(map(hide_figures, failure.findings))
    if findings:
        cause = Cause(line=findings[0].line, kernel=findings[0].kernel)
        words, advice = findings[0].message, ""  # the advice is that of the kind
    else:
        cause, row = failure.cause or Cause(), failure.status.row
        words, advice = (
            _OBSTACLES[cause.obstacle] if cause.obstacle else (row.unseen, row.unseen_advice)
        )
    column = "" if cause.column is None else f", column {cause.column}"
    place = "" if cause.line is None else f"line {cause.line}{column}: "
    kernel = plain_name(cause.kernel)
    who = f" (kernel {kernel})" if kernel else ""
    message = f"{place}{words}{who}. In case '{case}'."
    return Failure(failure.status, message, advice=advice, findings=findings)


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
