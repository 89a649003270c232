"""Counters of a grading on a GPU: from Nsight Compute, or from the emulated device if ncu cannot
count.

The emulated device always runs, because Nsight Compute gives no counters per source line here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from grader.devices.base import Arrays, Device
from grader.devices.choose import EMULATED, GPU
from grader.devices.gpu.ncu import count_with_ncu
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


def count_on_gpu(
    session: Session, program: Program, ran: Execution, inputs: Arrays, emulated: Execution | str
) -> bool:
    """Counts the plan with ncu, on the GPU and inputs of the run `ran`; if this fails, takes the
    counters of the emulated device at its own benchmark sizes. Returns whether ncu counted."""
    job, evidence, exercise = session.job, session.evidence, session.exercise
    emulated_sizes = describe_sizes(exercise.benchmark[EMULATED])
    counted = _ask_ncu(session, program, inputs)
    evidence.lines_from = emulated if isinstance(emulated, Execution) else None
    if isinstance(counted, tuple):
        evidence.execution = _with_counters(ran, counted)
        evidence.traffic = reduce(add, (launch.traffic for launch in counted))
        job.note(_describe_ncu(counted, exercise.benchmark[GPU]))
        if evidence.lines_from is not None:
            job.note({"line_counters": f"emulated device, {emulated_sizes}"})
        return True
    reason, advice = describe_not_counted(counted)
    if evidence.lines_from is not None:
        why = f"{reason}. {advice}".strip()
        evidence.execution = evidence.lines_from
        job.note({"counters": f"emulated device, {emulated_sizes}, because {why}"})
    else:
        reason = f"{reason}, and the emulated device cannot count it: {emulated}"
        evidence.missing_reason = reason
        job.note({"counters": f"none: {reason}"})
    return False


def count_baselines_on_gpu(
    session: Session,
    device: Device,
    built: Mapping[str, Built],
    programs: Sequence[Program],
    *,
    by_ncu: bool,
) -> dict[ComparedWith, OtherCounts]:
    """Counts each baseline whose counters a check needs, in the same way as the submission:
    `by_ncu` at the GPU's sizes, else on the emulated device at its sizes."""
    taken = {program.label: program for program in programs}
    counts = {}
    for compared_with in find_counted(session.exercise, session.info):
        label = LABELS[compared_with]
        session.job.options.show(Progress(f"counting the {label} kernel"))
        if label not in taken:
            counts[compared_with] = OtherCounts(reason="this GPU cannot launch it")
        elif by_ncu:
            counts[compared_with] = _count_baseline_with_ncu(session, taken[label], device)
        else:
            emulated = count_on_stand_in(session, built[label])
            counts[compared_with] = (
                OtherCounts(reason=emulated) if isinstance(emulated, str) else OtherCounts(emulated)
            )
    return counts


def _count_baseline_with_ncu(session: Session, program: Program, device: Device) -> OtherCounts:
    """Counters from the cache, else from ncu, which can take many seconds: it repeats a launch
    until it has all counters."""
    cache = session.tools.cache
    key = counts_key(program, session.info)
    if known := recall(cache, key, Execution):
        return OtherCounts(known)
    inputs = make_inputs(
        session.exercise, session.benchmark_case(session.info.kind), BASELINES_SEED
    )
    with session.hold():
        ran, _ = device.run(program, inputs, limits=session.job.limits)
    if ran.failure is not None:
        raise broken(session.exercise, program.label, describe_mistake(ran.failure).message)
    counted = _ask_ncu(session, program, inputs)
    if isinstance(counted, NotCounted):
        return OtherCounts(reason=describe_not_counted(counted)[0])
    execution = _with_counters(ran, counted)
    remember(cache, key, execution)
    return OtherCounts(execution)


def _ask_ncu(
    session: Session, program: Program, inputs: Arrays
) -> tuple[CountedLaunch, ...] | NotCounted:
    return count_with_ncu(
        program,
        inputs,
        gpu_index=int(session.job.choice.id),
        run=run_tool,
        limits=session.job.limits,
        environ=os.environ,
        hold=session.hold,
    )


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
