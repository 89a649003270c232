"""The graded runs without a GPU: outputs, counters and modelled times of the submission and of the
exercise's own programs.

One run at the timed sizes says all where all of its blocks can run. Where only a sample of them
can, its outputs are verified as far as a sample tells, and a second run, of all blocks at smaller
sizes, gives exact counters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.mapped_arrays import gather_shared
from grader.grading.cases import (
    BENCHMARK,
    Bench,
    judge_outputs,
)
from grader.grading.checked import Findings
from grader.grading.interim import show_counted
from grader.grading.kept import graded_key
from grader.grading.mistakes import SubmissionError, refuse
from grader.grading.own_programs import OTHERS_SEED, broken, build_other
from grader.grading.session import Session, describe_sizes, run_limits
from grader.grading.submission_run import (
    Left,
    SubmissionRun,
    judge_run,
    leave_run,
    run_program,
)
from grader.judging.evidence import CountedRun, OtherCounts
from grader.judging.machine_work import tell_machine_work
from grader.judging.modelled import model_timing, model_traffic, modelled_launches
from grader.judging.needs import find_counted, find_timed
from grader.judging.timing import LABELS, check_floor
from grader.judging.values import TIMED_ON
from grader.messages.doubt import describe_unmodelled, describe_waits
from grader.messages.hidden import tell
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
from grader.spec.exercise import Case, Exercise, Yardstick

EMULATED = "emulated"


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
        CountedRun(run.sizes, run.execution, _count_others(session, run, modelled=run is timed))
        for run in runs
    )
    evidence.execution = evidence.counted[0].execution
    evidence.others = evidence.counted[0].others
    if session.job.detail != PLAIN:
        evidence.machine = _tell_machine_work(runs[0], timed if evidence.timings else None)


def _tell_machine_work(counted: SubmissionRun, timed: SubmissionRun | None) -> MachineWork:
    """What the machine code did; where cycles go only if the times stand."""
    modelled = None if timed is None else (timed.program, timed.execution)
    return tell_machine_work(
        (counted.program, counted.execution), counted.sizes, modelled, (timed or counted).sizes
    )


def _count_early(session: Session, findings: Findings) -> SubmissionRun | None:
    """The run for counting where somebody waits for a first word, which it gives sooner than the
    timed run; what goes wrong in it is told in its turn."""
    if session.job.interim is None:
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
    """The timed run, where there is one, and the run that was counted: the same where that says
    all, or the `early` one. Of a sample of the blocks it is known that it cannot say all, unless
    they are wrong: while it is judged, the device counts."""
    left = _leave_timed(session)
    timed = None
    if left is not None and (early or left.ran_whole or EMULATED not in session.exercise.benchmark):
        timed = judge_run(left)
    elif left is not None:
        return _judge_and_count(session, left)
    return timed, timed if timed and timed.says_all else early or _run_counted(session)


def _judge_and_count(session: Session, left: Left) -> tuple[SubmissionRun, SubmissionRun]:
    """Both runs, of which the second is made while the first is judged. What goes wrong in it is
    told where it is needed."""
    mistake = counted = None
    with ThreadPoolExecutor(1) as pool:
        judging = pool.submit(judge_run, left)
        try:
            counted = _leave_counted(session)
        except SubmissionError as error:
            mistake = error
        timed = judging.result()
    if timed.says_all:
        return timed, timed
    if counted is None:
        assert mistake is not None
        raise mistake
    return timed, judge_run(counted)


def _run_counted(session: Session) -> SubmissionRun | None:
    if EMULATED not in session.exercise.benchmark:
        return None
    return judge_run(_leave_counted(session))


def _leave_counted(session: Session) -> Left:
    sizes = session.exercise.benchmark[EMULATED]
    job = session.job
    return leave_run(session.bench, sizes, modelled=False, show=job.show, detail=job.detail)


def _leave_timed(session: Session) -> Left | None:
    """The run at a GPU's sizes, where one is asked for."""
    asked = any(check.metric in MODELLED for check in session.exercise.checks)
    sizes = session.exercise.benchmark.get(TIMED_ON)
    if sizes is None or not asked or not session.job.model:
        return None
    job = session.job
    return leave_run(session.bench, sizes, modelled=True, show=job.show, detail=job.detail)


def _add_times(session: Session, timed: SubmissionRun) -> None:
    """The modelled times of a verified run. Raises SubmissionError for times that no GPU can
    reach."""
    evidence, exercise = session.evidence, session.exercise
    timing = model_timing(SUBMISSION, timed.execution)
    if timing is None:
        evidence.untimed = why_untimed(timed.execution)
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
    reasons = (launch.unmodelled for launch in execution.launches if launch.unmodelled)
    return describe_unmodelled(next(reasons, None))


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
    job = session.job
    bench = replace(session.bench, built=built, limits=run_limits(job.exercise.limits))
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
    execution, got = run_program(bench, program, inputs, mode, stage, show)
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
    other = OtherRun(replace(execution, launches=slim, accesses=()), timing)
    remember(cache, key, other)
    return other


def _without_outputs(program: Program) -> Program:
    buffers = tuple(
        replace(buffer, role=Role.SCRATCH) if buffer.role is Role.OUTPUT else buffer
        for buffer in program.buffers
    )
    return replace(program, buffers=buffers)
