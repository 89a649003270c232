"""Says of a hidden case what may be told of it: new words, made of what no size of the case can
change.

A message that the reader of launch lines made is never looked at here: it may hold figures of the
run. What is told is the kind of a mistake, its source line, and the names of a kernel and a buffer.
The words are the tables of this file, of `observations` and of `statuses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from grader.errors import GraderError, SpecError, UsageError, WorkerError
from grader.records import Cause, Failure, Finding, Observation, Obstacle, Stop
from grader.spec.exercise import Case
from grader.statuses import GRADE_AGAIN
from grader.words.observations import tell_observation
from grader.words.phrases import outline
from grader.words.sizes import list_sizes
from grader.words.stops import outline_status, tell, tell_stop


def tell_failure(mistake: Failure | Stop, case: Case) -> Failure:
    """The failure as it may be told: of a hidden case without anything that the run or the launch
    plan figured out."""
    return name_case(mistake, case) if case.hidden else tell(mistake)


def name_case(mistake: Failure | Stop, case: Case) -> Failure:
    """A failure that says in which case it happened: with its sizes when they are public."""
    told = _outline(mistake) if case.hidden else tell(mistake)
    sizes = f" ({list_sizes(case.sizes)})" if case.sizes and not case.hidden else ""
    message = f"{told.message.removesuffix('.')}. In case '{case.name}'{sizes}."
    return replace(told, message=message)


def tell_findings(seen: Iterable[Observation], case: Case) -> tuple[Finding, ...]:
    """What was seen as it may be told: of a hidden case without threads, blocks, elements and
    bytes."""
    return tuple(tell_observation(each, hidden=case.hidden) for each in seen)


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


def _outline(mistake: Failure | Stop) -> Failure:
    if not isinstance(mistake, Failure):
        return tell_stop(mistake, hidden=True)
    cause, status = mistake.cause or Cause(), mistake.status
    if cause.obstacle is None:
        return outline_status(status, cause.line, cause.column, cause.kernel)
    words, advice = _OBSTACLES[cause.obstacle]
    message = outline(words, cause.line, cause.column, cause.kernel)
    return Failure(status, message, advice=advice)


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
}
