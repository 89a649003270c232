"""Counters of the submission and of the baselines on a GPU: from Nsight Compute, or from the
emulated device where ncu cannot count."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Protocol

from grader.devices.base import Device
from grader.devices.choose import EMULATED, GPU
from grader.devices.gpu.counting import Counted, Counting
from grader.devices.gpu.ncu_metrics import HARDWARE_CONFLICTS, CountedLaunch
from grader.grading.baselines import BASELINES_SEED, broken
from grader.grading.building import Built
from grader.grading.kept import counts_key
from grader.grading.session import Session, describe_sizes
from grader.grading.stand_in import count_on_stand_in
from grader.judging.evidence import OtherCounts
from grader.judging.goals import find_counted
from grader.judging.timing import LABELS
from grader.messages.counting import describe_not_counted
from grader.messages.hidden import describe_mistake
from grader.plumbing.cache import recall, remember
from grader.records import Execution, NotCounted, Program, Progress
from grader.sandbox.process import run_tool
from grader.spec.draws import make_inputs
from grader.spec.exercise import ComparedWith


def take_counts(
    session: Session, ran: Execution, counted: Counted, emulated: Execution | str
) -> None:
    """Keeps ncu's counts of the run `ran`; without them, the counters of the emulated device at its
    own benchmark sizes."""
    job, evidence, exercise = session.job, session.evidence, session.exercise
    emulated_sizes = describe_sizes(exercise.benchmark[EMULATED])
    evidence.lines_from = emulated if isinstance(emulated, Execution) else None
    if isinstance(counted, tuple):
        evidence.execution = _with_counters(ran, counted)
        evidence.traffic = reduce(add, (launch.traffic for launch in counted))
        job.note(_describe_ncu(counted, exercise.benchmark[GPU]))
        if evidence.lines_from is not None:
            job.note({"line_counters": f"emulated device, {emulated_sizes}"})
        return
    reason, advice = describe_not_counted(counted)
    if evidence.lines_from is not None:
        why = f"{reason}. {advice}".strip()
        evidence.execution = evidence.lines_from
        job.note({"counters": f"emulated device, {emulated_sizes}, because {why}"})
    else:
        reason = f"{reason}, and the emulated device cannot count it: {emulated}"
        evidence.missing_reason = reason
        job.note({"counters": f"none: {reason}"})


class AskBaselines(Protocol):
    def __call__(self, *, by_ncu: bool) -> dict[ComparedWith, OtherCounts]:
        """`by_ncu`: counts of Nsight Compute at the GPU's sizes, as for the submission; else of the
        emulated device at its sizes."""
        ...


@contextmanager
def count_baselines(
    session: Session, device: Device, built: Mapping[str, Built], programs: Sequence[Program]
) -> Iterator[AskBaselines]:
    """Counts each baseline whose counters a check needs, when the function is called. ncu starts at
    once where the cache does not have its counts."""
    taken = {program.label: program for program in programs}
    needed = find_counted(session.exercise, session.info)
    with ExitStack() as stack:
        started = {
            LABELS[each]: _start_baseline(session, taken[LABELS[each]], counters, stack)
            for each, counters in needed.items()
            if LABELS[each] in taken
        }

        def ask(*, by_ncu: bool) -> dict[ComparedWith, OtherCounts]:
            return {each: count(LABELS[each], by_ncu=by_ncu) for each in needed}

        def count(label: str, *, by_ncu: bool) -> OtherCounts:
            session.job.options.show(Progress(f"counting the {label} kernel"))
            if label not in taken:
                return OtherCounts(reason="this GPU cannot launch it")
            if by_ncu:
                return started[label](device)
            emulated = count_on_stand_in(session, built[label])
            return (
                OtherCounts(reason=emulated) if isinstance(emulated, str) else OtherCounts(emulated)
            )

        yield ask


def _start_baseline(
    session: Session, program: Program, counters: Collection[str], stack: ExitStack
) -> Callable[[Device], OtherCounts]:
    """Counts the baseline when it is called with the GPU, if the cache does not have its counts."""
    cache, key = session.tools.cache, counts_key(program, session.info, counters)
    if known := recall(cache, key, Execution):
        return lambda _: OtherCounts(known)
    job = session.job
    counting = stack.enter_context(
        Counting(int(job.choice.id), session.info.arch, job.limits, run_tool, counters)
    )

    def count(device: Device) -> OtherCounts:
        counts = _count_with_ncu(session, program, device, counting)
        if counts.execution is not None:
            remember(cache, key, counts.execution)
        return counts

    return count


def _count_with_ncu(
    session: Session, program: Program, device: Device, counting: Counting
) -> OtherCounts:
    """Counts of a baseline. ncu repeats a launch until it has all counters, which can take many
    seconds."""
    inputs = make_inputs(session.exercise, session.benchmark_case(GPU), BASELINES_SEED)
    counting.offer(program, inputs)
    with session.hold():
        ran, _ = device.run(program, inputs, limits=session.job.limits)
    if ran.failure is not None:
        raise broken(session.exercise, program.label, describe_mistake(ran.failure).message)
    counting.begin(session.hold)
    counted = counting.result()
    if isinstance(counted, NotCounted):
        return OtherCounts(reason=describe_not_counted(counted)[0])
    return OtherCounts(_with_counters(ran, counted))


def _with_counters(ran: Execution, counted: Sequence[CountedLaunch]) -> Execution:
    """The run with the counters of Nsight Compute, and without counters per line."""
    launches = zip(ran.launches, counted, strict=True)
    return replace(
        ran,
        launches=tuple(
            replace(launch, counters=row.counters, lines=()) for launch, row in launches
        ),
    )


def _describe_ncu(counted: Sequence[CountedLaunch], sizes: Mapping[str, int]) -> dict[str, str]:
    facts = {"counters": f"Nsight Compute, {describe_sizes(sizes)}"}
    conflicts = [
        launch.hardware_bank_conflicts
        for launch in counted
        if launch.hardware_bank_conflicts is not None
    ]
    if conflicts:
        facts[HARDWARE_CONFLICTS] = (
            f"{sum(conflicts):,} (with lost arbitration: for information, never graded)"
        )
    return facts
