"""Runs one case of an exercise on a device, and compares the outputs with the oracle's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader.devices.base import Arrays, Device
from grader.grading.job import Job
from grader.grading.programs import Built, make_program
from grader.judging.compare import judge_case, poison
from grader.judging.hidden import name_case, redact_failure
from grader.records import SUBMISSION, CaseResult, DeviceBuffer, Execution, Failure, LaunchLimits, Role, ShowProgress
from grader.spec.cases import device_buffers, make_inputs
from grader.spec.model import Case

BENCHMARK = "benchmark"
"""The name of the case that is counted and timed."""

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
    limits: LaunchLimits | None = None,
    show: ShowProgress | None = None,
) -> CaseRun | Failure:
    """Run one case with poisoned outputs and scratch, and judge it. `limits` are the device's where it is not the job's."""
    program = make_program(SUBMISSION, built, job.exercise, sizes=case.sizes, limits=limits or job.info.limits)
    if isinstance(program, Failure):
        return redact_failure(program) if case.hidden else program
    inputs = make_inputs(job.exercise, case, job.seed)
    arrays = inputs | poison_outputs(program.buffers)
    execution, got = device.execute(program.launches, program.buffers, arrays, limits=job.limits, progress=show)
    if execution.failure is not None:
        return name_case(execution.failure, case)
    expected = oracle(inputs, case.sizes)
    buffers = device_buffers(job.exercise, case.sizes)
    result = judge_case(case, buffers, expected, got, job.exercise.tolerance, modified_inputs=execution.modified_inputs)
    return CaseRun(result, execution)


def poison_outputs(buffers: Sequence[DeviceBuffer]) -> Arrays:
    """What every buffer that is no input holds before a launch."""
    return {buffer.name: poison(buffer.shape, buffer.dtype) for buffer in buffers if buffer.role is not Role.INPUT}
