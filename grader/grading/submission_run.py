"""A run of the submission at the benchmark sizes, and the verdict on its outputs: on all outputs,
or on the outputs of a sample of the blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from grader.devices.base import Arrays
from grader.devices.mapped_arrays import gather_shared
from grader.grading.cases import (
    BENCHMARK,
    Bench,
    collect_printed,
    describe_failed_run,
    fail_order,
    judge_outputs,
    not_verified,
)
from grader.grading.mistakes import SubmissionError
from grader.judging.compare import judge_sampled
from grader.messages.hidden import describe_findings, describe_mistake
from grader.messages.outputs import describe_endless_order
from grader.records import (
    PLAIN,
    CaseResult,
    CountingMode,
    Detail,
    Execution,
    Finding,
    Mode,
    ModelledMode,
    Program,
    Progress,
    RunLimits,
    ShowProgress,
    Status,
)
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case
from grader.spec.tolerance import tolerance_at

GRADED_TIME = 6
"""Limit of processor time at the benchmark sizes, as a multiple of the limit for a small case. A
naive matrix product of 4096³ with all blocks takes 70 s; the usual limit gives 120 s."""


@dataclass(frozen=True)
class SubmissionRun:
    """A run of the submission at given sizes, with its verdict."""

    sizes: Mapping[str, int]
    case: CaseResult
    program: Program
    execution: Execution
    findings: tuple[Finding, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether no other run is needed: the outputs are wrong, or all blocks ran."""
        return self.case.is_wrong or (self.case.passed and self.execution.ran_whole)


@dataclass(frozen=True)
class UnjudgedRun:
    """A finished run of the submission whose outputs are not judged yet."""

    bench: Bench
    case: Case
    program: Program
    inputs: Arrays
    execution: Execution
    got: Arrays

    @property
    def ran_whole(self) -> bool:
        return self.execution.ran_whole


def execute_submission(
    bench: Bench,
    sizes: Mapping[str, int],
    *,
    modelled: bool,
    show: ShowProgress,
    inspect: bool = True,
    detail: Detail = PLAIN,
) -> UnjudgedRun:
    """Runs the submission at given sizes, with or without modelled time. Raises SubmissionError
    after a fault; a run that reaches its time limit ends without a verdict.

    `inspect`: see CountingMode.
    """
    stage = "running at the timed size" if modelled else "counting"
    show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    program = bench.program(sizes)
    inputs = make_inputs(bench.task, case, bench.seed, gather=gather_shared)
    seed = _sample_seed(bench.seed)
    mode = (
        ModelledMode(seed, inspect=inspect, detail=detail)
        if modelled
        else CountingMode(inspect_seed=seed if inspect else None, detail=detail)
    )
    execution, got = run_program(bench, program, inputs, mode, stage, show)
    stop = execution.failure
    if stop is not None and stop.status is not Status.TIMEOUT:
        raise SubmissionError(describe_failed_run(execution, stop, case))
    return UnjudgedRun(bench, case, program, inputs, execution, got)


def judge_run(ended: UnjudgedRun) -> SubmissionRun:
    """Judges a run. The device runs again only if the opposite order gave other outputs."""
    case, execution = ended.case, ended.execution
    findings = describe_findings(execution.findings, case)
    result = _judge(ended)
    if result.passed and execution.ran_whole:
        result, more = _judge_backwards(ended, result)
        findings += more
    result = replace(result, printed=collect_printed(execution, case))
    return SubmissionRun(case.sizes, result, ended.program, execution, findings)


def _judge(ended: UnjudgedRun) -> CaseResult:
    """Compares the outputs of a run, or of a sample of its blocks, with the oracle's."""
    bench, case, inputs, execution = ended.bench, ended.case, ended.inputs, ended.execution
    if execution.failure is not None:
        return not_verified(case, describe_mistake(execution.failure).message)
    if execution.ran_whole:
        expected = bench.oracle(inputs, case.sizes)
        return judge_outputs(bench.task, case, expected, ended.got, execution)
    ask = bench.oracle
    return judge_sampled(
        case,
        device_buffers(bench.task, case.sizes),
        lambda places: (
            ask(inputs, case.sizes) if places is None else ask.at(inputs, case.sizes, places)
        ),
        ended.got,
        tolerance_at(bench.task, case),
        modified_inputs=execution.modified_inputs,
    )


def _judge_backwards(
    ended: UnjudgedRun, result: CaseResult
) -> tuple[CaseResult, tuple[Finding, ...]]:
    """The verdict on a right run after the opposite order of blocks and warps. Different outputs
    can be right too: sums of floats in another order."""
    bench, case, execution = ended.bench, ended.case, ended.execution
    stop = execution.backwards_failure
    if stop is None and execution.same_backwards is False:
        again, got = bench.device.run(
            ended.program,
            ended.inputs,
            limits=_graded_limits(bench),
            mode=CountingMode(backwards=True),
        )
        stop = again.failure
        if stop is None:
            expected = bench.oracle(ended.inputs, case.sizes)
            found = judge_outputs(bench.task, case, expected, got, again)
            return (result, ()) if found.passed else fail_order(result, again, found.message, case)
    if stop is None:
        return result, ()
    if stop.status is Status.TIMEOUT:
        return not_verified(case, describe_endless_order(describe_mistake(stop).message)), ()
    return fail_order(result, execution, stop, case)


def run_program(
    bench: Bench, program: Program, inputs: Arrays, mode: Mode, stage: str, show: ShowProgress
) -> tuple[Execution, Arrays]:
    """Runs a program at the benchmark sizes. Shows the device's steps under the name of the
    stage."""

    def show_step(step: Progress) -> None:
        show(Progress(stage, step.done, step.total))

    limits = _graded_limits(bench)
    return bench.device.run(program, inputs, limits=limits, mode=mode, progress=show_step)


def _graded_limits(bench: Bench) -> RunLimits:
    seconds = GRADED_TIME * bench.limits.processor_seconds
    return replace(bench.limits, processor_seconds=seconds)


def _sample_seed(seed: int) -> int:
    """The seed of the sample of blocks: secret, and without access to the job's seed, which the
    device never gets."""
    return int.from_bytes(hashlib.sha256(f"sample {seed}".encode()).digest()[:6], "big")
