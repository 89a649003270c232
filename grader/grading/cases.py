"""Runs one case of an exercise on a device, and compares the outputs with the oracle's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.devices.base import Arrays, Device
from grader.grading.job import Job
from grader.grading.programs import Built, make_program
from grader.judging.compare import judge_case, poison
from grader.records import (
    SUBMISSION,
    CaseResult,
    DeviceBuffer,
    Execution,
    Failure,
    LaunchLimits,
    Printed,
    Program,
    Role,
    ShowProgress,
)
from grader.spec.cases import device_buffers, make_inputs
from grader.spec.model import Case, Task
from grader.spec.tolerance import tolerance_at
from grader.words.hidden import name_case, tell_failure, telling_errors

BENCHMARK = "benchmark"
"""The name of the case that is counted and timed."""
MAX_PRINTED, MAX_PRINTING = 4096, 4
"""Characters of a launch's own output, and launches with output, that are kept of a case."""

Oracle = Callable[[Arrays, Mapping[str, int]], Arrays]


@dataclass(frozen=True)
class CaseRun:
    """A case that ran to its end."""

    result: CaseResult
    execution: Execution


@dataclass(frozen=True)
class Step:
    """A case that is ready to run: its program, and what the buffers hold."""

    program: Program
    inputs: Arrays
    arrays: Arrays


def run_case(
    job: Job,
    built: Built,
    device: Device,
    oracle: Oracle,
    case: Case,
    *,
    task: Task | None = None,
    limits: LaunchLimits | None = None,
    show: ShowProgress | None = None,
) -> CaseRun | Failure:
    """Run one case with poisoned outputs and scratch, and judge it.

    The case is of `task` where it is not one of the exercise itself; `limits` are the device's
    where it is not the job's.
    """
    task = task or job.exercise
    with telling_errors(case):
        step = prepare_case(job, built, task, case, limits or job.info.limits)
        if isinstance(step, Failure):
            return step
        program = step.program
        execution, got = device.execute(
            program.launches, program.buffers, step.arrays, limits=job.limits, progress=show
        )
        if execution.failure is not None:
            return describe_failed_run(execution.failure, execution, case)
        return CaseRun(judge_step(step, task, case, oracle, execution, got), execution)


def prepare_case(
    job: Job, built: Built, task: Task, case: Case, limits: LaunchLimits
) -> Step | Failure:
    """The case with its launches worked out, its inputs drawn, and poison in outputs and
    scratch."""
    program = make_program(SUBMISSION, built, task, sizes=case.sizes, limits=limits)
    if isinstance(program, Failure):
        return tell_failure(program, case)
    inputs = make_inputs(task, case, job.seed)
    return Step(program, inputs, poison_outputs(program.buffers) | inputs)


def judge_step(
    step: Step, task: Task, case: Case, oracle: Oracle, execution: Execution, got: Arrays
) -> CaseResult:
    """What a run left, compared with the oracle's outputs."""
    expected = oracle(step.inputs, case.sizes)
    buffers, tolerance = device_buffers(task, case.sizes), tolerance_at(task, case)
    result = judge_case(
        case, buffers, expected, got, tolerance, modified_inputs=execution.modified_inputs
    )
    return replace(result, printed=collect_printed(execution, case))


def describe_failed_run(failure: Failure, execution: Execution, case: Case) -> Failure:
    """A failure during a case, named after it, with what was printed before."""
    return replace(name_case(failure, case), printed=collect_printed(execution, case))


def collect_printed(execution: Execution, case: Case) -> tuple[Printed, ...]:
    """What the launches of a run printed, each as far as a score keeps it; nothing of a hidden
    case, which could tell its sizes."""
    if case.hidden:
        return ()
    texts = [(launch.kernel, launch.printed) for launch in execution.launches] + [
        (None, execution.printed)
    ]
    return tuple(
        Printed(kernel, text[:MAX_PRINTED], len(text) > MAX_PRINTED)
        for kernel, text in texts
        if text
    )[:MAX_PRINTING]


def poison_outputs(buffers: Sequence[DeviceBuffer]) -> Arrays:
    """What every buffer that is no input holds before a launch."""
    return {
        buffer.name: poison(buffer.shape, buffer.dtype)
        for buffer in buffers
        if buffer.role is not Role.INPUT
    }
