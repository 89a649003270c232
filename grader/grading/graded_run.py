"""The graded runs without a GPU: outputs, counters and modelled times of the submission and of the
baselines.

If all blocks can run at the timed sizes, this run gives everything. If only a sample of the blocks
can run, the outputs of the sample are checked, and a second run of all blocks at smaller sizes
gives exact counters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.mapped_arrays import gather_shared
from grader.grading.baselines import BASELINES_SEED, broken, build_baseline
from grader.grading.cases import BENCHMARK, Bench, Findings, judge_outputs
from grader.grading.kept import graded_key
from grader.grading.mistakes import SubmissionError, refuse
from grader.grading.session import Session, describe_sizes, run_limits, show_counted
from grader.grading.submission_run import (
    SubmissionRun,
    UnjudgedRun,
    execute_submission,
    judge_run,
    run_program,
)
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
from grader.messages.hidden import describe_mistake
from grader.metrics import MODELLED
from grader.plumbing.cache import recall, remember
from grader.records import (
    COUNTING,
    PLAIN,
    SUBMISSION,
    Execution,
    MachineWork,
    Modelled,
    ModelledMode,
    Program,
    Progress,
    Role,
    ShowProgress,
    Status,
    Timing,
)
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case, ComparedWith, Exercise

EMULATED = "emulated"


@dataclass(frozen=True)
class BaselineRun:
    """The counters of a baseline at given sizes, and its time if it was modelled."""

    execution: Execution
    timing: Timing | None = None


def run_graded(session: Session, findings: Findings) -> None:
    """Runs the submission at the benchmark sizes, if the exercise has any, and adds the results to
    the evidence. Raises SubmissionError."""
    evidence, sizes = session.evidence, session.exercise.benchmark
    timed, counted = _run_both(session, _count_early(session, findings))
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
    if timed is not None:
        _add_times(session, timed)
    evidence.counted = tuple(
        CountedRun(run.sizes, run.execution, _count_baselines(session, run, modelled=run is timed))
        for run in runs
    )
    evidence.execution = evidence.counted[0].execution
    evidence.others = evidence.counted[0].others
    if session.job.options.detail != PLAIN:
        evidence.machine = _combine_machine_work(runs[0], timed if evidence.timings else None)


def _combine_machine_work(counted: SubmissionRun, timed: SubmissionRun | None) -> MachineWork:
    """Executions per instruction; also cycles, if the modelled times are valid."""
    modelled = None if timed is None else (timed.program, timed.execution)
    return combine_machine_work(
        (counted.program, counted.execution), counted.sizes, modelled, (timed or counted).sizes
    )


def _count_early(session: Session, findings: Findings) -> SubmissionRun | None:
    """The counted run before the timed run, because it ends sooner: for the checks that are shown
    during the grading. A failure is ignored here; the later runs report it."""
    if session.job.options.interim is None:
        return None
    try:
        run = _run_counted(session)
    except SubmissionError:
        return None
    if run is not None:
        show_counted(session.job, findings, run.case, run.execution)
    return run


def _run_both(
    session: Session, early: SubmissionRun | None
) -> tuple[SubmissionRun | None, SubmissionRun | None]:
    """The timed run if there is one, and the counted run: the same run if all blocks ran or the
    outputs are wrong, else the `early` run or a new run. After a sample of the blocks the device
    counts while the sample is judged."""
    ended = _execute_timed(session)
    timed = None
    if ended is not None and (
        early or ended.ran_whole or EMULATED not in session.exercise.benchmark
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
            counted = _execute(session, EMULATED, modelled=False)
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
    return judge_run(_execute(session, EMULATED, modelled=False))


def _execute_timed(session: Session) -> UnjudgedRun | None:
    """The run at a GPU's sizes, if a check needs modelled metrics and the options allow them."""
    asked = any(check.metric in MODELLED for check in session.exercise.checks)
    if TIMED_ON not in session.exercise.benchmark or not asked or not session.job.options.model:
        return None
    return _execute(session, TIMED_ON, modelled=True)


def _execute(session: Session, kind: str, *, modelled: bool) -> UnjudgedRun:
    """The run at the sizes for a kind of device."""
    sizes, options = session.exercise.benchmark[kind], session.job.options
    return execute_submission(
        session.bench, sizes, modelled=modelled, show=options.show, detail=options.detail
    )


def _add_times(session: Session, timed: SubmissionRun) -> None:
    """Adds the modelled times of a run with right outputs. Raises SubmissionError for times below
    the physical minimum."""
    evidence, exercise = session.evidence, session.exercise
    timing = model_timing(SUBMISSION, timed.execution)
    if timing is None:
        evidence.untimed = why_untimed(timed.execution)
        return
    others = [
        _run_baseline(session, label, timed.sizes, modelled=True)
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
    """Entry of the score's `environment` about the timed run."""
    launches = modelled_launches(timed.execution)
    if not launches:
        return {}
    return {"model": f"{describe_run(launches)}, {describe_sizes(timed.sizes)}"}


def describe_run(launches: Sequence[Modelled]) -> str:
    """The number of blocks that ran for the timing model, as a clause."""
    ran, blocks = sum(each.blocks_run for each in launches), sum(each.blocks for each in launches)
    if ran == blocks:
        return "all blocks were run"
    return f"a sample of {ran:,} of {blocks:,} blocks was run"


# --- baselines ------------------------------------------------------------------------------------


def _count_baselines(
    session: Session, run: SubmissionRun, *, modelled: bool
) -> dict[ComparedWith, OtherCounts]:
    """Counters of each baseline that a check needs, at the sizes of the submission's run. Raises
    SpecError if a baseline fails."""
    found = {}
    for each in find_counted(session.exercise, session.info):
        other = _run_baseline(session, LABELS[each], run.sizes, modelled=modelled)
        found[each] = (
            OtherCounts(reason="this device cannot run it")
            if other is None
            else OtherCounts(other.execution)
        )
    return found


def _run_baseline(
    session: Session, label: str, sizes: Mapping[str, int], *, modelled: bool
) -> BaselineRun | None:
    built = build_baseline(session.exercise, session.tools, label, arch=session.info.arch)
    job = session.job
    bench = replace(session.bench, built=built, limits=run_limits(job.exercise.limits))
    return run_baseline(
        bench, job.exercise, label, sizes, modelled=modelled, cache=job.cache, show=job.options.show
    )


def run_baseline(
    bench: Bench,
    exercise: Exercise,
    label: str,
    sizes: Mapping[str, int],
    *,
    modelled: bool,
    cache: Path,
    show: ShowProgress,
) -> BaselineRun | None:
    """Runs the baseline that the bench holds, or takes its result from the cache: it is the same
    for every submission.

    None if it cannot run on this device. Raises SpecError if it fails or its outputs are wrong.
    """
    try:
        program = bench.program(sizes, label)
    except SubmissionError:
        return None
    mode = ModelledMode(BASELINES_SEED) if modelled else COUNTING
    key = graded_key(program, bench.device.info, mode, exercise)
    if known := recall(cache, key, BaselineRun):
        return known
    stage = f"{'modelling' if modelled else 'counting'} the {label} kernel"
    show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    inputs = make_inputs(exercise, case, BASELINES_SEED, gather=gather_shared)
    if modelled:  # its outputs are not compared, so they need not be copied back
        program = _without_outputs(program)
    execution, got = run_program(bench, program, inputs, mode, stage, show)
    if execution.failure is not None:
        if execution.failure.status is Status.UNSUPPORTED:
            return None
        raise broken(exercise, label, describe_mistake(execution.failure).message)
    if not modelled:
        result = judge_outputs(exercise, case, bench.oracle(inputs, sizes), got, execution)
        if not result.passed:
            raise broken(exercise, label, f"wrong at the benchmark's sizes: {result.message}")
    slim = tuple(replace(launch, lines=()) for launch in execution.launches)
    timing = model_timing(label, execution) if modelled else None
    other = BaselineRun(replace(execution, launches=slim, accesses=()), timing)
    remember(cache, key, other)
    return other


def _without_outputs(program: Program) -> Program:
    buffers = tuple(
        replace(buffer, role=Role.SCRATCH) if buffer.role is Role.OUTPUT else buffer
        for buffer in program.buffers
    )
    return replace(program, buffers=buffers)
