"""The benchmark on a GPU: checks outputs, times rounds, reads counters.

Expected outputs stay in this process. The device gets several sets of inputs, so that no launch can
reuse the results of the launch before. The emulated device always runs, because Nsight Compute
gives no counters per source line here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from random import Random

from grader.devices.base import Arrays, Device, TimingDevice
from grader.devices.choose import EMULATED, GPU
from grader.devices.gpu.ncu import Hold, count_with_ncu
from grader.devices.gpu.ncu_metrics import HARDWARE_CONFLICTS, CountedLaunch
from grader.grading.baselines import BASELINES_SEED, broken, check_culprit
from grader.grading.building import Built
from grader.grading.cases import Bench, judge_outputs
from grader.grading.kept import counts_key
from grader.grading.measure import Measurement, measure
from grader.grading.mistakes import SubmissionError, refuse
from grader.grading.session import Session, describe_sizes
from grader.grading.stand_in import count_on_stand_in
from grader.judging.evidence import Evidence, OtherCounts
from grader.judging.goals import find_counted, find_open
from grader.judging.timing import LABELS, check_floor
from grader.judging.values import collect_metrics, collect_others
from grader.messages.cause_row import UNREPEATABLE
from grader.messages.counting import describe_not_counted
from grader.messages.hidden import describe_mistake, name_case
from grader.plumbing.cache import recall, remember
from grader.records import (
    SUBMISSION,
    CaseResult,
    Execution,
    NotCounted,
    Program,
    Progress,
    TimedLaunch,
    Timing,
)
from grader.sandbox.process import run_tool
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case, ComparedWith

SETS_BYTES = 256 << 20
"""Number of sets: enough that all buffers together have this size, several times any L2 cache."""
MIN_SETS, MAX_SETS = 2, 4
"""A launch cannot use results of an earlier launch: consecutive launches have different inputs,
outputs and scratch buffers are poisoned, and a program with `__device__` variables is loaded again
for each run (devices.gpu.bench). The score's `environment` lists such variables for a human
reviewer."""
Counted = tuple[CountedLaunch, ...] | NotCounted


@dataclass(frozen=True)
class InputSet:
    inputs: Arrays
    expected: Arrays


def run_benchmark(
    session: Session,
    device: TimingDevice,
    built: Mapping[str, Built],
    programs: Sequence[Program],
) -> None:
    """Runs the submission, `programs[0]`, at the benchmark sizes; if its outputs are right, times
    it together with the other programs and counts it. Raises SubmissionError.

    `built` has the label of each program as its key.
    """
    bench, case = session.bench, session.benchmark_case(GPU)
    session.job.options.show(Progress("preparing the benchmark"))
    with ThreadPoolExecutor() as pool:
        emulated = pool.submit(count_on_stand_in, session, built[SUBMISSION])
        numbers = range(count_input_sets(bench, case))
        sets = list(pool.map(partial(draw_input_set, bench, case), numbers))
        with _start_ncu(session, programs[0], sets[0].inputs) as ask_ncu:
            execution = _check_and_time(session, device, programs, sets, emulated)
            if execution is None:
                return
            session.job.options.show(Progress("counting"))
            by_ncu = _take_counts(session, execution, ask_ncu(), emulated.result())
    others = count_baselines_on_gpu(session, device, built, programs, by_ncu=by_ncu)
    session.evidence.others = others


def _check_and_time(
    session: Session,
    device: TimingDevice,
    programs: Sequence[Program],
    sets: Sequence[InputSet],
    emulated: Future[Execution | str],
) -> Execution | None:
    """The run of the submission; None if its outputs are wrong. The processor is idle while the
    GPU is timed: `emulated` is complete then."""
    job, evidence, bench = session.job, session.evidence, session.bench
    case = session.benchmark_case(GPU)
    with session.hold():
        execution, outputs = device.prepare(
            programs, [each.inputs for each in sets], limits=job.limits
        )
    check_culprit(execution)
    if execution.failure is not None:
        raise SubmissionError(name_case(execution.failure, case))
    result = judge_sets(bench, case, sets, outputs, execution)
    emulated.result()
    evidence.cases += (result,)
    if not result.passed:
        return None
    with session.hold():
        found = _measure(session, device, programs, len(sets))
        copying = device.copy_bandwidth() if found.wrong is None else 0.0
    job.note(describe_measurement(found) | describe_variables(programs[0]))
    if found.wrong is not None:
        evidence.cases = (*evidence.cases[:-1], _wrong_when_timed(result, found.wrong))
        return None
    job.note({"copy_bandwidth": f"{copying:,.0f} GB/s"})
    evidence.timings = found.timings
    refuse(found.disturbed)
    refuse(check_floor(found.timings, case.sizes, job.exercise, session.info))
    return execution


def count_input_sets(bench: Bench, case: Case) -> int:
    """Number of input sets; the launches cycle through them."""
    set_bytes = sum(buffer.size_bytes for buffer in device_buffers(bench.task, case.sizes))
    return max(MIN_SETS, min(MAX_SETS, -(-SETS_BYTES // set_bytes)))


def draw_input_set(bench: Bench, case: Case, number: int) -> InputSet:
    """The inputs of one set, which differ from all other sets, and the oracle's outputs."""
    inputs = make_inputs(bench.task, replace(case, name=f"{case.name} {number}"), bench.seed)
    return InputSet(inputs, bench.oracle(inputs, case.sizes))


def judge_sets(
    bench: Bench,
    case: Case,
    sets: Sequence[InputSet],
    outputs: Sequence[Arrays],
    execution: Execution,
) -> CaseResult:
    """The result of the first set with wrong outputs, else of the set with the largest error."""

    def judge(each: InputSet, got: Arrays) -> CaseResult:
        return judge_outputs(bench.task, case, each.expected, got, execution)

    with ThreadPoolExecutor() as pool:
        results = list(pool.map(judge, sets, outputs))
    wrong = (result for result in results if not result.passed)
    return next(wrong, max(results, key=lambda result: result.worst_error or 0.0))


def describe_measurement(found: Measurement) -> dict[str, str]:
    """Entries of the score's `environment`: clocks, temperature and throttling during the
    timing."""
    clocks = found.clocks
    facts = {
        "sm_clock": _range(clocks.sm_mhz, "MHz"),
        "memory_clock": _range(clocks.memory_mhz, "MHz"),
        "temperature": f"{clocks.temperature_c} °C" if clocks.temperature_c is not None else "",
        "clock_limits": ", ".join(reason.replace("_", " ") for reason in clocks.throttled),
        "measurements": (
            f"{found.attempts}, all but the last disturbed" if found.attempts > 1 else ""
        ),
    }
    return {name: fact for name, fact in facts.items() if fact}


def describe_variables(submission: Program) -> dict[str, str]:
    """Entry of the score's `environment`: the size of the `__device__` variables, in which a
    submission could keep results between launches."""
    size_bytes = submission.binary.variable_bytes
    return (
        {"device_variables": f"{size_bytes:,} bytes, which outlive a launch"} if size_bytes else {}
    )


def _measure(
    session: Session, device: TimingDevice, programs: Sequence[Program], input_sets: int
) -> Measurement:
    job, exercise, info = session.job, session.exercise, session.info

    def still_open(timings: Sequence[Timing]) -> tuple[str, ...]:
        metrics = collect_metrics(Evidence(timings=tuple(timings)), exercise, info)
        others = collect_others(exercise, info, timings=timings)
        return find_open(exercise, metrics, info, others)

    return measure(
        device,
        [program.label for program in programs],
        input_sets=input_sets,
        find_open=still_open,
        rng=Random(job.seed),
        show=job.options.show,
    )


def _wrong_when_timed(case: CaseResult, launch: TimedLaunch) -> CaseResult:
    if math.isnan(launch.milliseconds):
        message = (
            "it finished once, but failed in a timed run with the same inputs: look for a race, or"
            " for data that an earlier run leaves"
        )
    else:
        message = (
            "wrong in a timed run: with inputs for which it was right before, it gave other"
            " outputs or wrote to forbidden memory; every launch must compute all outputs again,"
            " and equal inputs must give equal outputs"
        )
    sizes = case.sizes
    return CaseResult(case.name, case.hidden, sizes, False, message, cause=UNREPEATABLE)


def _range(range_: tuple[int, int] | None, unit: str) -> str:
    if range_ is None:
        return ""
    low, high = range_
    return f"{low:,} {unit}" if low == high else f"{low:,} to {high:,} {unit}"


@contextmanager
def _start_ncu(
    session: Session, program: Program, inputs: Arrays
) -> Iterator[Callable[[], Counted]]:
    """Starts Nsight Compute beside other work, because its start takes seconds. The function lets
    it use the GPU and returns its counts. Without a call, it ends when the block ends."""
    wanted: Future[bool] = Future()

    @contextmanager
    def hold() -> Iterator[None]:
        if not wanted.result():
            raise CancelledError
        with session.hold():
            yield

    with ThreadPoolExecutor(1) as thread:
        counting = thread.submit(_ask_ncu, session, program, inputs, hold)

        def ask() -> Counted:
            wanted.set_result(True)
            return counting.result()

        try:
            yield ask
        finally:
            if not wanted.done():
                wanted.set_result(False)


def _take_counts(
    session: Session, ran: Execution, counted: Counted, emulated: Execution | str
) -> bool:
    """Keeps ncu's counts of the run `ran`; without them, the counters of the emulated device at its
    own benchmark sizes. Returns whether ncu counted."""
    job, evidence, exercise = session.job, session.evidence, session.exercise
    emulated_sizes = describe_sizes(exercise.benchmark[EMULATED])
    evidence.lines_from = emulated if isinstance(emulated, Execution) else None
    if isinstance(counted, tuple):
        evidence.execution = _with_counters(ran, counted)
        evidence.traffic = reduce(add, (launch.traffic for launch in counted))
        job.note(_describe_ncu(counted, exercise.benchmark[GPU]))
        if evidence.lines_from is not None:
            job.note({"line_counters": f"emulated device, {emulated_sizes}"})
        return True
    reason, advice = describe_not_counted(counted)
    if evidence.lines_from is not None:
        why = f"{reason}. {advice}".strip()
        evidence.execution = evidence.lines_from
        job.note({"counters": f"emulated device, {emulated_sizes}, because {why}"})
    else:
        reason = f"{reason}, and the emulated device cannot count it: {emulated}"
        evidence.missing_reason = reason
        job.note({"counters": f"none: {reason}"})
    return False


def count_baselines_on_gpu(
    session: Session,
    device: Device,
    built: Mapping[str, Built],
    programs: Sequence[Program],
    *,
    by_ncu: bool,
) -> dict[ComparedWith, OtherCounts]:
    """Counts each baseline whose counters a check needs, in the same way as the submission:
    `by_ncu` at the GPU's sizes, else on the emulated device at its sizes."""
    taken = {program.label: program for program in programs}
    counts = {}
    for compared_with in find_counted(session.exercise, session.info):
        label = LABELS[compared_with]
        session.job.options.show(Progress(f"counting the {label} kernel"))
        if label not in taken:
            counts[compared_with] = OtherCounts(reason="this GPU cannot launch it")
        elif by_ncu:
            counts[compared_with] = _count_baseline_with_ncu(session, taken[label], device)
        else:
            emulated = count_on_stand_in(session, built[label])
            counts[compared_with] = (
                OtherCounts(reason=emulated) if isinstance(emulated, str) else OtherCounts(emulated)
            )
    return counts


def _count_baseline_with_ncu(session: Session, program: Program, device: Device) -> OtherCounts:
    """Counters from the cache, else from ncu, which can take many seconds: it repeats a launch
    until it has all counters."""
    cache = session.tools.cache
    key = counts_key(program, session.info)
    if known := recall(cache, key, Execution):
        return OtherCounts(known)
    inputs = make_inputs(
        session.exercise, session.benchmark_case(session.info.kind), BASELINES_SEED
    )
    with session.hold():
        ran, _ = device.run(program, inputs, limits=session.job.limits)
    if ran.failure is not None:
        raise broken(session.exercise, program.label, describe_mistake(ran.failure).message)
    counted = _ask_ncu(session, program, inputs, session.hold)
    if isinstance(counted, NotCounted):
        return OtherCounts(reason=describe_not_counted(counted)[0])
    execution = _with_counters(ran, counted)
    remember(cache, key, execution)
    return OtherCounts(execution)


def _ask_ncu(session: Session, program: Program, inputs: Arrays, hold: Hold) -> Counted:
    return count_with_ncu(
        program,
        inputs,
        gpu_index=int(session.job.choice.id),
        run=run_tool,
        limits=session.job.limits,
        hold=hold,
    )


def _with_counters(ran: Execution, counted: Sequence[CountedLaunch]) -> Execution:
    """The run with the counters of Nsight Compute, and without counters per line."""
    launches = zip(ran.launches, counted, strict=True)
    return replace(
        ran,
        launches=tuple(
            replace(launch, counters=row.counters, lines=()) for launch, row in launches
        ),
    )


def _describe_ncu(counted: Sequence[CountedLaunch], sizes: Mapping[str, int]) -> dict[str, str]:
    facts = {"counters": f"Nsight Compute, {describe_sizes(sizes)}"}
    conflicts = [
        launch.hardware_bank_conflicts
        for launch in counted
        if launch.hardware_bank_conflicts is not None
    ]
    if conflicts:
        facts[HARDWARE_CONFLICTS] = (
            f"{sum(conflicts):,} (with lost arbitration: for information, never graded)"
        )
    return facts
