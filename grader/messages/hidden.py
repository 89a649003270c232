"""Says of a hidden case what may be told of it: new words, made of what no size of the case can
change.

What is told is the kind of a mistake, its source line, and the names of a kernel and a buffer. The
words are those of `observations`, `stops`, `plans` and `statuses`; of what else ends a grading, its
status is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from grader.errors import GraderError, SpecError, UsageError, WorkerError
from grader.messages.batches import tell_ungraded
from grader.messages.causes import cause_of_mistake
from grader.messages.compiling import tell_compile_mistake
from grader.messages.observations import tell_observation
from grader.messages.phrases import outline_status
from grader.messages.plans import tell_plan_mistake
from grader.messages.sizes import list_sizes
from grader.messages.sources import tell_source_mistake
from grader.messages.stops import tell_stop
from grader.messages.times import tell_disturbed
from grader.records import (
    CompileMistake,
    Disturbed,
    Fact,
    Failure,
    Finding,
    GivenUp,
    Observation,
    OverBatchLimit,
    PlanMistake,
    SourceMistake,
    Stop,
)
from grader.spec.exercise import Case
from grader.statuses import GRADE_AGAIN


def tell(mistake: Failure | Fact, *, hidden: bool = False) -> Failure:
    """A mistake in words: with all that is known of it, or with what may be told in a hidden
    case."""
    return replace(_tell(mistake, hidden=hidden), cause=cause_of_mistake(mistake))


def _tell(mistake: Failure | Fact, *, hidden: bool) -> Failure:
    if isinstance(mistake, PlanMistake):
        return tell_plan_mistake(mistake, hidden=hidden)
    if isinstance(mistake, Stop):
        return tell_stop(mistake, hidden=hidden)
    return outline_status(mistake.status) if hidden else _tell_whole(mistake)


def tell_failure(mistake: Failure | Fact, case: Case) -> Failure:
    """The failure as it may be told: of a hidden case without anything that the run or the launch
    plan figured out."""
    return name_case(mistake, case) if case.hidden else tell(mistake)


def name_case(mistake: Failure | Fact, case: Case) -> Failure:
    """A failure that says in which case it happened: with its sizes when they are public."""
    told = tell(mistake, hidden=case.hidden)
    sizes = f" ({list_sizes(case.sizes)})" if case.sizes and not case.hidden else ""
    message = f"{told.message.removesuffix('.')}. In case '{case.name}'{sizes}."
    return replace(told, message=message)


def tell_findings(seen: Iterable[Observation], case: Case) -> tuple[Finding, ...]:
    """What was seen as it may be told: of a hidden case without threads, blocks, elements and
    bytes."""
    return tuple(tell_observation(each, hidden=case.hidden) for each in seen)


def _tell_whole(
    mistake: Failure | SourceMistake | CompileMistake | Disturbed | OverBatchLimit | GivenUp,
) -> Failure:
    """What no size of a case has a part in."""
    if isinstance(mistake, Failure):
        return mistake
    if isinstance(mistake, SourceMistake):
        return tell_source_mistake(mistake)
    if isinstance(mistake, CompileMistake):
        return tell_compile_mistake(mistake)
    return tell_disturbed(mistake) if isinstance(mistake, Disturbed) else tell_ungraded(mistake)


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
