"""Runs one case of an exercise on a device, and compares the outputs with the oracle's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.devices.base import Arrays, Device
from grader.grading.job import Job
from grader.grading.programs import Built, make_program
from grader.judging.compare import judge_case, poison
from grader.judging.hidden import name_case, redact_failure
from grader.records import SUBMISSION, CaseResult, DeviceBuffer, Execution, Failure, LaunchLimits, Printed, Role, ShowProgress
from grader.spec.cases import device_buffers, make_inputs
from grader.spec.model import Case, Task
from grader.spec.tolerance import tolerance_at

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

    The case is of `task` where it is not one of the exercise itself; `limits` are the device's where it is not the job's.
    """
    task = task or job.exercise
    program = make_program(SUBMISSION, built, task, sizes=case.sizes, limits=limits or job.info.limits)
    if isinstance(program, Failure):
        return redact_failure(program) if case.hidden else program
    inputs = make_inputs(task, case, job.seed)
    arrays = poison_outputs(program.buffers) | inputs
    execution, got = device.execute(program.launches, program.buffers, arrays, limits=job.limits, progress=show)
    printed = () if case.hidden else collect_printed(execution)
    if execution.failure is not None:
        return replace(name_case(execution.failure, case), printed=printed)
    expected = oracle(inputs, case.sizes)
    buffers, tolerance = device_buffers(task, case.sizes), tolerance_at(task, case)
    result = judge_case(case, buffers, expected, got, tolerance, modified_inputs=execution.modified_inputs)
    return CaseRun(replace(result, printed=printed), execution)


def collect_printed(execution: Execution) -> tuple[Printed, ...]:
    """What the launches of a run printed, each as far as a score keeps it."""
    texts = [(launch.kernel, launch.printed) for launch in execution.launches] + [(None, execution.printed)]
    return tuple(Printed(kernel, text[:MAX_PRINTED], len(text) > MAX_PRINTED) for kernel, text in texts if text)[:MAX_PRINTING]


def poison_outputs(buffers: Sequence[DeviceBuffer]) -> Arrays:
    """What every buffer that is no input holds before a launch."""
    return {buffer.name: poison(buffer.shape, buffer.dtype) for buffer in buffers if buffer.role is not Role.INPUT}
