"""The graded runs without a GPU: outputs, counters and modelled times of the submission and of the
exercise's own programs.

One run at the timed sizes says all where all of its blocks can run. Where only a sample of them
can, its outputs are verified as far as a sample tells, and a second run, of all blocks at smaller
sizes, gives exact counters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.devices.base import Arrays, Device
from grader.grading.cases import BENCHMARK, Oracle, collect_printed, poison_outputs
from grader.grading.job import Job
from grader.grading.others import OTHERS_SEED, broken, build_other
from grader.grading.programs import Built, Toolchain, make_program
from grader.grading.rehearsal import order_dependent
from grader.grading.remembered import graded_key, recall, remember
from grader.judging.compare import judge_case
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
    Failure,
    Finding,
    Mode,
    Modelled,
    ModelledMode,
    Program,
    Progress,
    Role,
    RunLimits,
    Status,
    Timing,
    Traffic,
)
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case, Yardstick
from grader.spec.tolerance import tolerance_at
from grader.words.hidden import name_case

EMULATED = "emulated"


@dataclass(frozen=True)
class Graded:
    """What the graded runs gave: the last case that was judged, the runs that counted, the
    submission's own time and others'.

    `untimed` says why there is no time. `failure` is one that ends the grading although the plan
    ran: rejected.
    """

    case: CaseResult
    counted: tuple[CountedRun, ...] = ()
    timings: tuple[Timing, ...] = ()
    traffic: Traffic = field(default_factory=Traffic)
    launches: tuple[Modelled, ...] = ()
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    untimed: str = ""
    failure: Failure | None = None


@dataclass(frozen=True)
class SubmissionRun:
    """The submission's run at some sizes: its case is None where its outputs could not be verified,
    for the reason `unverified`."""

    case: CaseResult | None
    execution: Execution
    findings: tuple[Finding, ...] = ()
    unverified: str = ""


def run_graded(
    job: Job, built: Built, device: Device, tools: Toolchain, oracle: Oracle
) -> Graded | Failure | None:
    """Run the submission as it is graded. A Failure where it does not run to its end; None where
    the exercise has no benchmark."""
    sizes = job.exercise.benchmark
    asked = any(check.metric in MODELLED for check in job.exercise.checks)
    timed = (
        run_submission(job, built, device, oracle, TIMED_ON)
        if job.model and asked and TIMED_ON in sizes
        else None
    )
    if isinstance(timed, Failure):
        return timed
    if timed is not None and timed.case is not None:
        if not timed.case.passed:
            return Graded(
                timed.case, findings=timed.findings, facts=_describe(timed, sizes[TIMED_ON])
            )
        if timed.execution.ran_whole:
            return _judge_runs(job, device, tools, oracle, timed, timed)
    if EMULATED not in sizes:
        return None
    counted = run_submission(job, built, device, oracle, EMULATED)
    if isinstance(counted, Failure):
        return counted
    assert counted.case is not None
    if not counted.case.passed:
        return Graded(counted.case, findings=counted.findings)
    return _judge_runs(job, device, tools, oracle, counted, timed)


def _judge_runs(
    job: Job,
    device: Device,
    tools: Toolchain,
    oracle: Oracle,
    counted: SubmissionRun,
    timed: SubmissionRun | None,
) -> Graded:
    """What verified runs say, beside the exercise's own programs. `counted` and `timed` may be
    one."""
    assert counted.case is not None
    sizes = job.exercise.benchmark
    findings = (
        counted.findings if timed is None or timed is counted else counted.findings + timed.findings
    )
    graded = Graded(counted.case, findings=findings)
    if timed is not None:
        graded = _add_times(job, device, tools, oracle, graded, timed)
    runs = []
    if counted is not timed:
        runs.append(
            CountedRun(
                sizes[EMULATED],
                counted.execution,
                _count_others(job, device, tools, oracle, EMULATED),
            )
        )
    if timed is not None and timed.case is not None:
        runs.append(
            CountedRun(
                sizes[TIMED_ON],
                timed.execution,
                _count_others(job, device, tools, oracle, TIMED_ON),
            )
        )
    return replace(graded, counted=tuple(runs))


def _add_times(
    job: Job,
    device: Device,
    tools: Toolchain,
    oracle: Oracle,
    graded: Graded,
    timed: SubmissionRun,
) -> Graded:
    """The modelled times, where the outputs of the timed run were verified."""
    sizes, launches = job.exercise.benchmark[TIMED_ON], modelled_launches(timed.execution)
    timing = model_timing(SUBMISSION, timed.execution)
    if timed.case is None or timing is None:
        return replace(
            graded,
            untimed=timed.unverified or why_untimed(timed.execution),
            facts=_describe(timed, sizes),
        )
    others = [
        _run_other(job, label, device, tools, oracle, TIMED_ON)
        for label in find_timed(job.exercise, job.info)
    ]
    timings = (
        timing,
        *(other.timing for other in others if other is not None and other.timing is not None),
    )
    return replace(
        graded,
        timings=timings,
        traffic=model_traffic(timed.execution),
        launches=launches,
        facts=_describe(timed, sizes),
        failure=check_floor(timings, sizes, job.exercise, job.info),
    )


def why_untimed(execution: Execution) -> str:
    """Why a run that came to its end has no modelled time."""
    return next(
        (launch.unmodelled for launch in execution.launches if launch.unmodelled),
        "this GPU's figures are not known",
    )


# --- the submission -------------------------------------------------------------------------------


def run_submission(
    job: Job,
    built: Built,
    device: Device,
    oracle: Oracle,
    kind: str,
    *,
    inspect: bool = True,
) -> SubmissionRun | Failure:
    """Run the submission at the sizes of a kind of device, and judge what it left; the time is
    modelled at those of a GPU.

    `inspect`: see CountingMode.
    """
    sizes, model_time = job.exercise.benchmark[kind], kind == TIMED_ON
    stage = "running at the timed size" if model_time else "counting"
    job.show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    program = make_program(SUBMISSION, built, job.exercise, sizes=sizes, limits=job.info.limits)
    if isinstance(program, Failure):
        return program
    inputs = make_inputs(job.exercise, case, job.seed)
    seed = _sample_seed(job)
    mode = (
        ModelledMode(seed, inspect=inspect)
        if model_time
        else CountingMode(inspect_seed=seed if inspect else None)
    )
    execution, got = _run(job, device, program, inputs, mode, stage)
    if execution.failure is not None:
        return replace(name_case(execution.failure, case), printed=collect_printed(execution, case))
    if not all(launch.finished for launch in execution.launches):
        return SubmissionRun(
            None,
            execution,
            unverified=next(
                launch.unmodelled for launch in execution.launches if not launch.finished
            ),
        )
    buffers, tolerance, expected = (
        device_buffers(job.exercise, sizes),
        tolerance_at(job.exercise, case),
        oracle(inputs, sizes),
    )
    if execution.ran_whole:
        result: CaseResult | str = judge_case(
            case, buffers, expected, got, tolerance, modified_inputs=execution.modified_inputs
        )
    else:
        result = judge_sampled(case, buffers, expected, got, tolerance, execution)
    if isinstance(result, str):
        return SubmissionRun(None, execution, execution.findings, unverified=result)
    result = replace(result, printed=collect_printed(execution, case))
    findings = execution.findings
    if result.passed and execution.same_backwards is False:
        findings += _run_backwards(job, device, program, inputs, expected, case)
    return SubmissionRun(result, execution, findings)


def _run(
    job: Job, device: Device, program: Program, inputs: Arrays, mode: Mode, stage: str
) -> tuple[Execution, Arrays]:
    """Run a program with poison in what is no input; at the timed sizes with room for what a sample
    of the blocks executes.

    The device's own steps are shown under the name of the stage.
    """
    limits = model_limits(job) if isinstance(mode, ModelledMode) else job.limits

    def show(step: Progress) -> None:
        job.show(Progress(stage, step.done, step.total))

    return device.run(program, inputs, limits=limits, mode=mode, progress=show)


def model_limits(job: Job) -> RunLimits:
    """A job's limits for runs at sizes that only a sample of the blocks makes bearable."""
    return replace(job.limits, warp_instructions=100 * job.limits.warp_instructions)


def _run_backwards(
    job: Job, device: Device, program: Program, inputs: Arrays, expected: Arrays, case: Case
) -> tuple[Finding, ...]:
    """What the opposite order says where it left other outputs: they may be right too, as sums of
    floats in another order are."""
    arrays = poison_outputs(program.buffers) | inputs
    execution, got = device.run(
        program, arrays, limits=model_limits(job), mode=CountingMode(backwards=True)
    )
    if execution.failure is not None:
        return ()
    buffers = device_buffers(job.exercise, case.sizes)
    result = judge_case(case, buffers, expected, got, tolerance_at(job.exercise, case))
    if result.passed:
        return ()
    return (order_dependent(execution, result.message),)


def _sample_seed(job: Job) -> int:
    """What draws the sample: secret as the job's seed is, which the device never gets."""
    return int.from_bytes(hashlib.sha256(f"sample {job.seed}".encode()).digest()[:6], "big")


def _describe(timed: SubmissionRun, sizes: Mapping[str, int]) -> dict[str, str]:
    """What the score's `environment` says of the timed run."""
    launches = modelled_launches(timed.execution)
    if not launches:
        return {}
    return {
        "model": (
            f"{describe_run(launches)},"
            f" {', '.join(f'{name} = {size:,}' for name, size in sizes.items())}"
        )
    }


def describe_run(launches: Sequence[Modelled]) -> str:
    """How many of the blocks were run for the model."""
    ran, blocks = sum(each.blocks_run for each in launches), sum(each.blocks for each in launches)
    return (
        "all blocks were run"
        if ran == blocks
        else f"a sample of {ran:,} of {blocks:,} blocks was run"
    )


# --- the exercise's own programs ------------------------------------------------------------------


@dataclass(frozen=True)
class OtherRun:
    """What one of the exercise's own programs counted at some sizes, and its time where it was
    modelled."""

    execution: Execution
    timing: Timing | None = None


def _count_others(
    job: Job, device: Device, tools: Toolchain, oracle: Oracle, kind: str
) -> dict[Yardstick, OtherCounts]:
    """Each program whose counters a check needs, at the sizes of a kind of device. SpecError where
    one fails."""
    found = {}
    for each in find_counted(job.exercise, job.info):
        other = _run_other(job, LABELS[each], device, tools, oracle, kind)
        found[each] = (
            OtherCounts(reason="this device cannot run it")
            if other is None
            else OtherCounts(other.execution)
        )
    return found


def _run_other(
    job: Job, label: str, device: Device, tools: Toolchain, oracle: Oracle, kind: str
) -> OtherRun | None:
    return run_other(job, label, build_other(job, tools, label), device, oracle, kind)


def run_other(
    job: Job, label: str, built: Built, device: Device, oracle: Oracle, kind: str
) -> OtherRun | None:
    """Run one of the exercise's own programs, or recall what it did: it is the same for every
    submission.

    None where it cannot run here; SpecError where it fails, or is wrong.
    """
    sizes, model_time = job.exercise.benchmark[kind], kind == TIMED_ON
    program = make_program(label, built, job.exercise, sizes=sizes, limits=job.info.limits)
    if isinstance(program, Failure):
        return None
    mode = ModelledMode(OTHERS_SEED) if model_time else COUNTING
    key = graded_key(program, job.info, mode)
    if known := recall(job.cache, key, OtherRun):
        return known
    stage = f"{'modelling' if model_time else 'counting'} the {label} kernel"
    job.show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    inputs = make_inputs(job.exercise, case, OTHERS_SEED)
    if model_time:  # nobody looks at what it computes: its outputs need not be fetched
        unseen = tuple(
            replace(buffer, role=Role.SCRATCH) if buffer.role is Role.OUTPUT else buffer
            for buffer in program.buffers
        )
        program = replace(program, buffers=unseen)
    execution, got = _run(job, device, program, inputs, mode, stage)
    if execution.failure is not None:
        if execution.failure.status is Status.UNSUPPORTED:
            return None
        raise broken(job, label, execution.failure.message)
    if not model_time:
        result = judge_case(
            case, program.buffers, oracle(inputs, sizes), got, tolerance_at(job.exercise, case)
        )
        if not result.passed:
            raise broken(job, label, f"wrong at the benchmark's sizes: {result.message}")
    slim = replace(
        execution, launches=tuple(replace(launch, lines=()) for launch in execution.launches)
    )
    other = OtherRun(slim, model_timing(label, execution) if model_time else None)
    remember(job.cache, key, other)
    return other
