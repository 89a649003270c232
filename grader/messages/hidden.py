"""Messages of hidden cases: new sentences, made only of facts that no size of the case can change.

These facts are the kind of a mistake, its source line, and the names of a kernel and a buffer. The
sentences are in `observations`, `plans` and `statuses`; any other end of a grading is described by
its status.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from grader.errors import GraderError, SpecError, UsageError, WorkerError
from grader.messages.causes import cause_of_mistake
from grader.messages.observations import describe_observation, describe_stop
from grader.messages.phrases import outline_status
from grader.messages.plans import describe_plan_mistake
from grader.messages.sizes import list_sizes
from grader.messages.sources import (
    describe_compile_mistake,
    describe_source_mistake,
    describe_ungraded,
)
from grader.messages.times import describe_disturbed
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


def describe_mistake(mistake: Failure | Fact, *, hidden: bool = False) -> Failure:
    """The message of a mistake: with all facts, or with the facts that a hidden case may reveal."""
    return replace(_describe(mistake, hidden=hidden), cause=cause_of_mistake(mistake))


def _describe(mistake: Failure | Fact, *, hidden: bool) -> Failure:
    if isinstance(mistake, PlanMistake):
        return describe_plan_mistake(mistake, hidden=hidden)
    if isinstance(mistake, Stop):
        return describe_stop(mistake, hidden=hidden)
    return outline_status(mistake.status) if hidden else _describe_whole(mistake)


def describe_failure(mistake: Failure | Fact, case: Case) -> Failure:
    """The failure; for a hidden case without values that depend on the run or the launch plan."""
    return name_case(mistake, case) if case.hidden else describe_mistake(mistake)


def name_case(mistake: Failure | Fact, case: Case) -> Failure:
    """A failure with the name of its case, and with the sizes of a public case."""
    failure = describe_mistake(mistake, hidden=case.hidden)
    sizes = f" ({list_sizes(case.sizes)})" if case.sizes and not case.hidden else ""
    message = f"{failure.message.removesuffix('.')}. In case '{case.name}'{sizes}."
    return replace(failure, message=message)


def describe_findings(seen: Iterable[Observation], case: Case) -> tuple[Finding, ...]:
    """The findings; for a hidden case without threads, blocks, elements and bytes."""
    return tuple(describe_observation(each, hidden=case.hidden) for each in seen)


def _describe_whole(
    mistake: Failure | SourceMistake | CompileMistake | Disturbed | OverBatchLimit | GivenUp,
) -> Failure:
    """The message of a mistake that does not depend on the sizes of a case."""
    if isinstance(mistake, Failure):
        return mistake
    if isinstance(mistake, SourceMistake):
        return describe_source_mistake(mistake)
    if isinstance(mistake, CompileMistake):
        return describe_compile_mistake(mistake)
    return (
        describe_disturbed(mistake)
        if isinstance(mistake, Disturbed)
        else describe_ungraded(mistake)
    )


@contextmanager
def hiding_errors(case: Case) -> Iterator[None]:
    """Replaces the grader's or the worker's own error message while a hidden case runs: the message
    may hold sizes, too."""
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
