"""The graded runs without a GPU: outputs, counters and modelled times of the submission and of the
exercise's own programs.

One run at the timed sizes says all where all of its blocks can run. Where only a sample of them
can, its outputs are verified as far as a sample tells, and a second run, of all blocks at smaller
sizes, gives exact counters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.base import Arrays
from grader.devices.mapped_arrays import gather_shared
from grader.grading.cases import (
    BENCHMARK,
    Bench,
    collect_printed,
    describe_failed_run,
    judge_outputs,
)
from grader.grading.checked import Findings, order_dependent
from grader.grading.interim import show_counted
from grader.grading.mistakes import SubmissionError, refuse
from grader.grading.own_programs import OTHERS_SEED, broken, build_other
from grader.grading.remembered import graded_key, recall, remember
from grader.grading.session import Session, describe_sizes
from grader.judging.evidence import CountedRun, OtherCounts
from grader.judging.needs import find_counted, find_timed
from grader.judging.sampled import judge_sampled
from grader.judging.timing import (
    LABELS,
    check_floor,
    model_timing,
    model_traffic,
    modelled_launches,
)
from grader.judging.values import TIMED_ON
from grader.metrics import MODELLED
from grader.records import (
    COUNTING,
    SUBMISSION,
    CaseResult,
    CountingMode,
    Execution,
    Finding,
    Mode,
    Modelled,
    ModelledMode,
    Program,
    Progress,
    Role,
    RunLimits,
    ShowProgress,
    Status,
    Timing,
)
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case, Exercise, Yardstick
from grader.spec.tolerance import tolerance_at
from grader.words.hidden import tell, tell_findings

EMULATED = "emulated"
SAMPLE_ROOM = 100
"""How many times a job's instructions a run may take where a sample of its blocks stands for all
of them."""


@dataclass(frozen=True)
class SubmissionRun:
    """The submission's run at some sizes: its case is None where its outputs could not be verified,
    for the reason `unverified`."""

    sizes: Mapping[str, int]
    case: CaseResult | None
    execution: Execution
    findings: tuple[Finding, ...] = ()
    unverified: str = ""

    @property
    def says_all(self) -> bool:
        """Whether no other run is needed: the outputs are wrong, or all blocks ran."""
        return self.case is not None and (not self.case.passed or self.execution.ran_whole)


@dataclass(frozen=True)
class OtherRun:
    """What one of the exercise's own programs counted at some sizes, and its time where it was
    modelled."""

    execution: Execution
    timing: Timing | None = None


def run_graded(session: Session, findings: Findings) -> None:
    """Runs the submission as it is graded, if the exercise has a benchmark. Raises
    SubmissionError."""
    evidence, sizes = session.evidence, session.exercise.benchmark
    early = _count_early(session, findings)
    timed = _run_timed(session)
    if timed is not None and timed.says_all:
        counted = timed
    elif EMULATED in sizes:
        counted = early or _run_counted(session)
    else:
        return
    assert counted.case is not None
    evidence.cases += (counted.case,)
    runs = [counted]
    if counted.case.passed and timed is not None and timed is not counted:
        runs.append(timed)
    findings.add(
        session.benchmark_case(TIMED_ON if TIMED_ON in sizes else EMULATED),
        [finding for run in runs for finding in run.findings],
    )
    if timed is not None and timed is runs[-1]:
        session.job.note(_describe_model(timed))
    if not counted.case.passed:
        return
    if timed is not None:
        _add_times(session, timed)
    evidence.counted = tuple(
        CountedRun(run.sizes, run.execution, _count_others(session, run, modelled=run is timed))
        for run in runs
        if run.case is not None
    )
    evidence.execution = evidence.counted[0].execution
    evidence.others = evidence.counted[0].others


def _count_early(session: Session, findings: Findings) -> SubmissionRun | None:
    """The run for counting where somebody waits for a first word, which it gives sooner than the
    timed run; what goes wrong in it is told in its turn."""
    if session.job.interim is None or EMULATED not in session.exercise.benchmark:
        return None
    try:
        run = _run_counted(session)
    except SubmissionError:
        return None
    if run.case is not None:
        show_counted(session.job, findings, run.case, run.execution)
    return run


def _run_counted(session: Session) -> SubmissionRun:
    sizes = session.exercise.benchmark[EMULATED]
    return run_submission(session.bench, sizes, modelled=False, show=session.job.show)


def _run_timed(session: Session) -> SubmissionRun | None:
    """The run at a GPU's sizes, where one is asked for."""
    asked = any(check.metric in MODELLED for check in session.exercise.checks)
    sizes = session.exercise.benchmark.get(TIMED_ON)
    if sizes is None or not asked or not session.job.model:
        return None
    return run_submission(session.bench, sizes, modelled=True, show=session.job.show)


def _add_times(session: Session, timed: SubmissionRun) -> None:
    """The modelled times, where the outputs of the timed run were verified. Raises SubmissionError
    for times that no GPU can reach."""
    evidence, exercise = session.evidence, session.exercise
    timing = model_timing(SUBMISSION, timed.execution)
    if timed.case is None or timing is None:
        evidence.untimed = timed.unverified or why_untimed(timed.execution)
        return
    others = [
        _run_other(session, label, timed.sizes, modelled=True)
        for label in find_timed(exercise, session.info)
    ]
    evidence.timings = (
        timing,
        *(other.timing for other in others if other is not None and other.timing is not None),
    )
    evidence.traffic = model_traffic(timed.execution)
    evidence.model = modelled_launches(timed.execution)
    refuse(check_floor(evidence.timings, timed.sizes, exercise, session.info))


def why_untimed(execution: Execution) -> str:
    """Why a run that came to its end has no modelled time."""
    return next(
        (launch.unmodelled for launch in execution.launches if launch.unmodelled),
        "this GPU's figures are not known",
    )


# --- the submission -------------------------------------------------------------------------------


def run_submission(
    bench: Bench,
    sizes: Mapping[str, int],
    *,
    modelled: bool,
    show: ShowProgress,
    inspect: bool = True,
) -> SubmissionRun:
    """Runs the submission at some sizes, with its time modelled or not, and judges what it left.
    Raises SubmissionError where it does not run to its end.

    `inspect`: see CountingMode.
    """
    stage = "running at the timed size" if modelled else "counting"
    show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    program = bench.program(sizes)
    inputs = make_inputs(bench.task, case, bench.seed, gather=gather_shared)
    seed = _sample_seed(bench.seed)
    mode = (
        ModelledMode(seed, inspect=inspect)
        if modelled
        else CountingMode(inspect_seed=seed if inspect else None)
    )
    execution, got = _run(bench, program, inputs, mode, stage, show)
    if execution.failure is not None:
        raise SubmissionError(describe_failed_run(execution, execution.failure, case))
    unfinished = [launch.unmodelled for launch in execution.launches if not launch.finished]
    if unfinished:
        return SubmissionRun(sizes, None, execution, unverified=unfinished[0])
    findings = tell_findings(execution.findings, case)
    result = _judge(bench, case, inputs, execution, got)
    if isinstance(result, str):
        return SubmissionRun(sizes, None, execution, findings, unverified=result)
    if result.passed and execution.same_backwards is False:
        findings += _run_backwards(bench, program, inputs, case)
    result = replace(result, printed=collect_printed(execution, case))
    return SubmissionRun(sizes, result, execution, findings)


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


def _run(
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


def _describe_model(timed: SubmissionRun) -> dict[str, str]:
    """What the score's `environment` says of the timed run."""
    launches = modelled_launches(timed.execution)
    if not launches:
        return {}
    return {"model": f"{describe_run(launches)}, {describe_sizes(timed.sizes)}"}


def describe_run(launches: Sequence[Modelled]) -> str:
    """How many of the blocks were run for the model."""
    ran, blocks = sum(each.blocks_run for each in launches), sum(each.blocks for each in launches)
    if ran == blocks:
        return "all blocks were run"
    return f"a sample of {ran:,} of {blocks:,} blocks was run"


# --- the exercise's own programs ------------------------------------------------------------------


def _count_others(
    session: Session, run: SubmissionRun, *, modelled: bool
) -> dict[Yardstick, OtherCounts]:
    """Each program whose counters a check needs, at the sizes of the submission's run. SpecError
    where one fails."""
    found = {}
    for each in find_counted(session.exercise, session.info):
        other = _run_other(session, LABELS[each], run.sizes, modelled=modelled)
        found[each] = (
            OtherCounts(reason="this device cannot run it")
            if other is None
            else OtherCounts(other.execution)
        )
    return found


def _run_other(
    session: Session, label: str, sizes: Mapping[str, int], *, modelled: bool
) -> OtherRun | None:
    built = build_other(session.exercise, session.tools, label, arch=session.info.arch)
    bench = replace(session.bench, built=built)
    job = session.job
    return run_other(
        bench, job.exercise, label, sizes, modelled=modelled, cache=job.cache, show=job.show
    )


def run_other(
    bench: Bench,
    exercise: Exercise,
    label: str,
    sizes: Mapping[str, int],
    *,
    modelled: bool,
    cache: Path,
    show: ShowProgress,
) -> OtherRun | None:
    """Runs one of the exercise's own programs, which the bench holds, or recalls what it did: it is
    the same for every submission.

    None where it cannot run here; SpecError where it fails, or is wrong.
    """
    try:
        program = bench.program(sizes, label)
    except SubmissionError:
        return None
    mode = ModelledMode(OTHERS_SEED) if modelled else COUNTING
    key = graded_key(program, bench.device.info, mode)
    if known := recall(cache, key, OtherRun):
        return known
    stage = f"{'modelling' if modelled else 'counting'} the {label} kernel"
    show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    inputs = make_inputs(exercise, case, OTHERS_SEED, gather=gather_shared)
    if modelled:  # nobody looks at what it computes: its outputs need not be fetched
        program = _without_outputs(program)
    execution, got = _run(bench, program, inputs, mode, stage, show)
    if execution.failure is not None:
        if execution.failure.status is Status.UNSUPPORTED:
            return None
        raise broken(exercise, label, tell(execution.failure).message)
    if not modelled:
        result = judge_outputs(exercise, case, bench.oracle(inputs, sizes), got, execution)
        if not result.passed:
            raise broken(exercise, label, f"wrong at the benchmark's sizes: {result.message}")
    slim = tuple(replace(launch, lines=()) for launch in execution.launches)
    timing = model_timing(label, execution) if modelled else None
    other = OtherRun(replace(execution, launches=slim), timing)
    remember(cache, key, other)
    return other


def _without_outputs(program: Program) -> Program:
    buffers = tuple(
        replace(buffer, role=Role.SCRATCH) if buffer.role is Role.OUTPUT else buffer
        for buffer in program.buffers
    )
    return replace(program, buffers=buffers)
