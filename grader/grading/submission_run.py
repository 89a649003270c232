"""A run of the submission at large sizes, and what is said of what it left: of all outputs, or of
what a sample of the blocks wrote."""

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
    judge_outputs,
)
from grader.grading.checked import order_dependent
from grader.grading.mistakes import SubmissionError
from grader.judging.sampled import judge_sampled
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
)
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case
from grader.spec.tolerance import tolerance_at
from grader.words.hidden import tell_findings

SAMPLE_ROOM = 100
"""How many times a job's instructions a run may take where a sample of its blocks stands for all
of them."""


@dataclass(frozen=True)
class SubmissionRun:
    """The submission's run at some sizes: its case is None where its outputs could not be verified,
    for the reason `unverified`."""

    sizes: Mapping[str, int]
    case: CaseResult | None
    program: Program
    execution: Execution
    findings: tuple[Finding, ...] = ()
    unverified: str = ""

    @property
    def says_all(self) -> bool:
        """Whether no other run is needed: the outputs are wrong, or all blocks ran."""
        return self.case is not None and (not self.case.passed or self.execution.ran_whole)


@dataclass(frozen=True)
class Left:
    """A run of the submission that has come to its end, and what it left, which nobody has judged
    yet."""

    bench: Bench
    case: Case
    program: Program
    inputs: Arrays
    execution: Execution
    got: Arrays

    @property
    def ran_whole(self) -> bool:
        """Whether all blocks ran."""
        return self.execution.ran_whole


def leave_run(
    bench: Bench,
    sizes: Mapping[str, int],
    *,
    modelled: bool,
    show: ShowProgress,
    inspect: bool = True,
    detail: Detail = PLAIN,
) -> Left:
    """Runs the submission at some sizes, with its time modelled or not. Raises SubmissionError
    where it does not run to its end.

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
    if execution.failure is not None:
        raise SubmissionError(describe_failed_run(execution, execution.failure, case))
    return Left(bench, case, program, inputs, execution, got)


def judge_run(left: Left) -> SubmissionRun:
    """Judges what a run left. The device is asked once more only where all blocks ran."""
    bench, case, inputs, execution = left.bench, left.case, left.inputs, left.execution
    sizes, program = case.sizes, left.program
    unfinished = [launch.unmodelled for launch in execution.launches if not launch.finished]
    if unfinished:
        return SubmissionRun(sizes, None, program, execution, unverified=unfinished[0])
    findings = tell_findings(execution.findings, case)
    result = _judge(bench, case, inputs, execution, left.got)
    if isinstance(result, str):
        return SubmissionRun(sizes, None, program, execution, findings, unverified=result)
    if result.passed and execution.same_backwards is False:
        findings += _run_backwards(bench, left.program, inputs, case)
    result = replace(result, printed=collect_printed(execution, case))
    return SubmissionRun(sizes, result, program, execution, findings)


def _judge(
    bench: Bench, case: Case, inputs: Arrays, execution: Execution, got: Arrays
) -> CaseResult | str:
    """What a run left, or a sample of its blocks wrote, compared with what is expected; why it
    cannot be told, where that is so."""
    if execution.ran_whole:
        expected = bench.oracle(inputs, case.sizes)
        return judge_outputs(bench.task, case, expected, got, execution)
    ask = bench.oracle
    return judge_sampled(
        case,
        device_buffers(bench.task, case.sizes),
        lambda places: (
            ask(inputs, case.sizes) if places is None else ask.at(inputs, case.sizes, places)
        ),
        got,
        tolerance_at(bench.task, case),
        execution,
    )


def run_program(
    bench: Bench, program: Program, inputs: Arrays, mode: Mode, stage: str, show: ShowProgress
) -> tuple[Execution, Arrays]:
    """Runs a program, at the timed sizes with room for what a sample of the blocks executes. The
    device's own steps are shown under the name of the stage."""
    limits = _sample_limits(bench) if isinstance(mode, ModelledMode) else bench.limits

    def show_step(step: Progress) -> None:
        show(Progress(stage, step.done, step.total))

    return bench.device.run(program, inputs, limits=limits, mode=mode, progress=show_step)


def _sample_limits(bench: Bench) -> RunLimits:
    """What a run may use at sizes that only a sample of the blocks makes bearable."""
    return replace(bench.limits, warp_instructions=SAMPLE_ROOM * bench.limits.warp_instructions)


def _run_backwards(
    bench: Bench, program: Program, inputs: Arrays, case: Case
) -> tuple[Finding, ...]:
    """What the opposite order says where it left other outputs: they may be right too, as sums of
    floats in another order are."""
    execution, got = bench.device.run(
        program, inputs, limits=_sample_limits(bench), mode=CountingMode(backwards=True)
    )
    if execution.failure is not None:
        return ()
    expected = bench.oracle(inputs, case.sizes)
    result = judge_outputs(bench.task, case, expected, got, execution)
    return () if result.passed else (order_dependent(execution, result.message, case),)


def _sample_seed(seed: int) -> int:
    """What draws the sample: secret as the job's seed is, which the device never gets."""
    return int.from_bytes(hashlib.sha256(f"sample {seed}".encode()).digest()[:6], "big")
