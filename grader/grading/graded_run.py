"""The graded runs without a GPU: outputs, counters and modelled times of the submission and of the
baselines.

If all blocks can run at the timed sizes, this run gives everything. If only a sample of the blocks
can run, the outputs of the sample are checked, and a second run of all blocks at smaller sizes
gives exact counters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial

from grader.devices.base import Arrays
from grader.grading.baselines import BaselineRun, build_baseline, run_baseline
from grader.grading.building import Built
from grader.grading.cases import (
    BENCHMARK,
    Bench,
    Findings,
    collect_printed,
    describe_failed_run,
    fail_order,
    graded_limits,
    judge_outputs,
    not_verified,
    run_program,
)
from grader.grading.mistakes import SubmissionError, refuse
from grader.grading.session import (
    Session,
    describe_sizes,
    draw_benchmark,
    run_limits,
    show_counted,
)
from grader.judging.compare import judge_sampled
from grader.judging.evidence import CountedRun, OtherCounts
from grader.judging.goals import find_counted, find_timed
from grader.judging.machine_work import combine_machine_work
from grader.judging.timing import (
    LABELS,
    check_floor,
    model_timing,
    model_traffic,
    modelled_launches,
)
from grader.judging.values import TIMED_ON
from grader.messages.doubt import describe_unmodelled, describe_waits
from grader.messages.hidden import describe_findings, describe_mistake
from grader.messages.outputs import describe_endless_order
from grader.records import (
    PLAIN,
    SUBMISSION,
    CaseResult,
    CountingMode,
    Detail,
    Execution,
    Finding,
    MachineWork,
    ModelledMode,
    Program,
    Progress,
    ShowProgress,
    Status,
)
from grader.spec.draws import device_buffers
from grader.spec.exercise import Case, ComparedWith
from grader.spec.tolerance import tolerance_at

EMULATED = "emulated"
BuildBaseline = Callable[[str], Built]
"""Compiles the baseline of a label."""
RunTimed = Callable[[], "UnjudgedRun"]


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


def run_graded(session: Session, findings: Findings, run_timed: RunTimed | None) -> None:
    """Runs the submission at the benchmark sizes, if the exercise has any, and adds the results to
    the evidence. `run_timed` executes the timed run, if there is one. Raises SubmissionError."""
    evidence, sizes = session.evidence, session.exercise.benchmark
    timed, counted = _run_both(session, _count_early(session, findings), run_timed)
    if counted is None:
        return
    evidence.cases += (counted.case,)
    runs = [counted]
    if counted.case.passed and timed is not None and timed is not counted:
        runs.append(timed)
        if timed.case.unverified:
            evidence.cases += (timed.case,)
    findings.add(
        session.benchmark_case(TIMED_ON if TIMED_ON in sizes else EMULATED),
        [finding for run in runs for finding in run.findings],
    )
    if timed is not None and timed is runs[-1]:
        session.job.note(_describe_model(timed))
    waits = describe_waits(launch for run in runs for launch in run.execution.launches)
    if waits is not None:
        session.job.note({"counters": waits})
    if not evidence.all_right:
        return
    build = cache(partial(_build_baseline, session))
    if timed is not None:
        _add_times(session, timed, build)
    evidence.counted = tuple(
        CountedRun(
            run.sizes, run.execution, _count_baselines(session, run, build, modelled=run is timed)
        )
        for run in runs
    )
    evidence.execution = evidence.counted[0].execution
    evidence.others = evidence.counted[0].others
    if session.job.options.detail != PLAIN:
        evidence.machine = _combine_machine_work(runs[0], timed if evidence.timings else None)


def _build_baseline(session: Session, label: str) -> Built:
    build = partial(build_baseline, session.exercise, session.tools, label, arch=session.info.arch)
    return session.job.once(("baseline", label), build)


def _combine_machine_work(counted: SubmissionRun, timed: SubmissionRun | None) -> MachineWork:
    """Executions per instruction; also cycles, if the modelled times are valid."""
    modelled = None if timed is None else (timed.program, timed.execution)
    return combine_machine_work(
        (counted.program, counted.execution), counted.sizes, modelled, (timed or counted).sizes
    )


def _count_early(session: Session, findings: Findings) -> SubmissionRun | None:
    """The counted run before the timed run, because it ends sooner: for the checks that are shown
    during the grading. A timed run of all blocks makes it superfluous, so there is none after a
    save with such a run. A failure is ignored here; the later runs report it."""
    shared = session.job.shared
    if session.job.options.interim is None or (shared is not None and shared.ran_whole):
        return None
    try:
        run = _run_counted(session)
    except SubmissionError:
        return None
    if run is not None:
        show_counted(session.job, findings, run.case, run.execution)
    return run


def _run_both(
    session: Session, early: SubmissionRun | None, run_timed: RunTimed | None
) -> tuple[SubmissionRun | None, SubmissionRun | None]:
    """The timed run if there is one, and the counted run: the same run if all blocks ran or the
    outputs are wrong, else the `early` run or a new run. After a sample of the blocks the device
    counts while the sample is judged."""
    ended = None if run_timed is None else run_timed()
    if session.job.shared is not None:
        session.job.shared.ran_whole = ended is not None and ended.execution.ran_whole
    timed = None
    if ended is not None and (
        early or ended.execution.ran_whole or EMULATED not in session.exercise.benchmark
    ):
        timed = judge_run(ended)
    elif ended is not None:
        return _judge_and_count(session, ended)
    return timed, timed if timed and timed.is_complete else early or _run_counted(session)


def _judge_and_count(session: Session, ended: UnjudgedRun) -> tuple[SubmissionRun, SubmissionRun]:
    """Both runs: the second runs while the first is judged. A failure of the second is raised only
    if its result is needed."""
    mistake = counted = None
    with ThreadPoolExecutor(1) as pool:
        judging = pool.submit(judge_run, ended)
        try:
            counted = execute(session, EMULATED)
        except SubmissionError as error:
            mistake = error
        timed = judging.result()
    if timed.is_complete:
        return timed, timed
    if mistake is not None:
        raise mistake
    assert counted is not None
    return timed, judge_run(counted)


def _run_counted(session: Session) -> SubmissionRun | None:
    if EMULATED not in session.exercise.benchmark:
        return None
    return judge_run(execute(session, EMULATED))


def execute(session: Session, kind: str, drawn: Future[Arrays] | None = None) -> UnjudgedRun:
    """The run at the sizes for a kind of device; `drawn`: its inputs. Raises SubmissionError."""
    sizes, options = session.exercise.benchmark[kind], session.job.options
    draw = drawn.result if drawn is not None else partial(draw_benchmark, session.job, kind)
    return execute_submission(
        session.bench,
        sizes,
        modelled=kind == TIMED_ON,
        show=options.show,
        detail=options.detail,
        draw=draw,
    )


def _add_times(session: Session, timed: SubmissionRun, build: BuildBaseline) -> None:
    """Adds the modelled times of a run with right outputs. Raises SubmissionError for times below
    the physical minimum."""
    evidence, exercise = session.evidence, session.exercise
    timing = model_timing(SUBMISSION, timed.execution)
    if timing is None:
        evidence.untimed = why_untimed(timed.execution)
        return
    others = [
        _run_baseline(session, label, build, timed.sizes, modelled=True)
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
    """The reason why a finished run has no modelled time."""
    reasons = (launch.unmodelled for launch in execution.launches if launch.unmodelled)
    return describe_unmodelled(next(reasons, None))


def _describe_model(timed: SubmissionRun) -> dict[str, str]:
    """Entry of the score's `environment` about the timed run: its sizes, and the number of blocks
    that ran for the timing model."""
    launches = modelled_launches(timed.execution)
    if not launches:
        return {}
    ran, blocks = sum(each.blocks_run for each in launches), sum(each.blocks for each in launches)
    part = "all blocks were run"
    if ran != blocks:
        part = f"a sample of {ran:,} of {blocks:,} blocks was run"
    return {"model": f"{part}, {describe_sizes(timed.sizes)}"}


# --- the submission -------------------------------------------------------------------------------


def execute_submission(
    bench: Bench,
    sizes: Mapping[str, int],
    *,
    modelled: bool,
    show: ShowProgress,
    inspect: bool = True,
    detail: Detail = PLAIN,
    draw: Callable[[], Arrays],
) -> UnjudgedRun:
    """Runs the submission at given sizes, with or without modelled time, on the inputs of `draw`.
    Raises SubmissionError after a fault; a run that reaches its time limit ends without a verdict.
    `inspect`: see CountingMode."""
    stage = "running at the timed size" if modelled else "counting"
    show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    program, inputs = bench.program(sizes), draw()
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
            limits=graded_limits(bench),
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


def _sample_seed(seed: int) -> int:
    """The seed of the sample of blocks: secret, and without access to the job's seed, which the
    device never gets."""
    return int.from_bytes(hashlib.sha256(f"sample {seed}".encode()).digest()[:6], "big")


# --- baselines ------------------------------------------------------------------------------------


def _count_baselines(
    session: Session, run: SubmissionRun, build: BuildBaseline, *, modelled: bool
) -> dict[ComparedWith, OtherCounts]:
    """Counters of each baseline that a check needs, at the sizes of the submission's run. Raises
    SpecError if a baseline fails."""
    found = {}
    for each in find_counted(session.exercise, session.info):
        other = _run_baseline(session, LABELS[each], build, run.sizes, modelled=modelled)
        found[each] = (
            OtherCounts(reason="this device cannot run it")
            if other is None
            else OtherCounts(other.execution)
        )
    return found


def _run_baseline(
    session: Session, label: str, build: BuildBaseline, sizes: Mapping[str, int], *, modelled: bool
) -> BaselineRun | None:
    job = session.job
    bench = replace(session.bench, built=build(label), limits=run_limits(job.exercise.limits))
    return run_baseline(
        bench, job.exercise, label, sizes, modelled=modelled, cache=job.cache, show=job.options.show
    )
