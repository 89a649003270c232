"""The benchmark on a GPU: checks outputs, reads counters, times rounds.

Expected outputs stay in this process. The device gets several sets of inputs, so that no launch can
reuse the results of the launch before. The emulated device always runs, because Nsight Compute
gives no counters per source line here.

The processor works beside the GPU: inputs are drawn while the cases run, ncu starts while the
programs are prepared, outputs are judged and the emulated device runs while ncu counts. Only the
timing has the machine alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from random import Random

from grader.devices.base import Arrays, TimingDevice
from grader.devices.choose import GPU
from grader.devices.gpu.counting import Counting
from grader.devices.mapped_arrays import gather_shared
from grader.grading.baselines import check_culprit, make_baselines
from grader.grading.building import Built
from grader.grading.cases import Bench, judge_outputs
from grader.grading.gpu_counts import count_baselines, take_counts
from grader.grading.measure import Measurement, measure
from grader.grading.mistakes import SubmissionError, refuse
from grader.grading.session import Session
from grader.grading.stand_in import count_on_stand_in
from grader.judging.evidence import Checked, Evidence
from grader.judging.goals import find_open
from grader.judging.timing import check_floor
from grader.judging.values import collect_metrics, collect_others
from grader.messages.cause_row import UNREPEATABLE
from grader.messages.hidden import name_case
from grader.records import (
    SUBMISSION,
    CaseResult,
    Execution,
    Program,
    Progress,
    TimedLaunch,
    Timing,
)
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case

SETS_BYTES = 256 << 20
"""Number of sets: enough that all buffers together have this size, several times any L2 cache."""
MIN_SETS, MAX_SETS = 2, 4
"""A launch cannot use results of an earlier launch: consecutive launches have different inputs,
outputs and scratch buffers are poisoned, and a program with `__device__` variables is loaded again
for each run (devices.gpu.bench). The score's `environment` lists such variables for a human
reviewer."""


def run_benchmark(
    session: Session,
    device: TimingDevice,
    built: Mapping[str, Built],
    inputs: Sequence[Future[Arrays]],
    counting: Counting,
    checked: Future[Checked],
) -> None:
    """Runs the submission at the benchmark sizes; if its outputs are right, counts it and times it
    together with the baselines. Raises SubmissionError.

    `built` has the label of each program as its key; `inputs` are those of `draw_inputs`. The
    timing waits for `checked`, so that the processor is idle.
    """
    job, bench, case = session.job, session.bench, session.benchmark_case(GPU)
    job.options.show(Progress("preparing the benchmark"))
    others = {label: each for label, each in built.items() if label != SUBMISSION}
    own = bench.program(case.sizes)
    programs = [own, *make_baselines(job.exercise, others, case.sizes, session.info)]
    with count_baselines(session, device, built, programs) as ask, ThreadPoolExecutor() as pool:
        emulated = pool.submit(count_on_stand_in, session, built[SUBMISSION])
        drawn = [each.result() for each in inputs]
        expected = [pool.submit(bench.oracle, each, case.sizes) for each in drawn]
        counting.offer(own, drawn[0])
        execution, outputs = _prepare(session, device, programs, drawn)
        job.options.show(Progress("counting"))
        counting.begin(session.hold)
        right = [each.result() for each in expected]
        result = judge_sets(bench, case, right, outputs, execution)
        session.evidence.cases += (result,)
        if not result.passed:
            return
        counted = counting.result()
        counts = ask(by_ncu=isinstance(counted, tuple))
        in_lines = emulated.result()
        checked.result()
        if _time(session, device, programs, len(drawn), result):
            take_counts(session, execution, counted, in_lines)
            session.evidence.others = counts


def _prepare(
    session: Session,
    device: TimingDevice,
    programs: Sequence[Program],
    inputs: Sequence[Arrays],
) -> tuple[Execution, list[Arrays]]:
    """The run of the submission on each set of inputs. Raises SubmissionError."""
    with session.hold():
        execution, outputs = device.prepare(programs, inputs, limits=session.job.limits)
    check_culprit(execution)
    if execution.failure is not None:
        raise SubmissionError(name_case(execution.failure, session.benchmark_case(GPU)))
    return execution, outputs


def _time(
    session: Session,
    device: TimingDevice,
    programs: Sequence[Program],
    input_sets: int,
    result: CaseResult,
) -> bool:
    """Times the programs on an idle processor. Returns whether all outputs were right; `result` is
    the case before. Raises SubmissionError."""
    job, evidence = session.job, session.evidence
    with session.hold():
        found = _measure(session, device, programs, input_sets)
        copying = device.copy_bandwidth() if found.wrong is None else 0.0
    job.note(describe_measurement(found) | describe_variables(programs[0]))
    if found.wrong is not None:
        evidence.cases = (*evidence.cases[:-1], _wrong_when_timed(result, found.wrong))
        return False
    job.note({"copy_bandwidth": f"{copying:,.0f} GB/s"})
    evidence.timings = found.timings
    refuse(found.disturbed)
    refuse(check_floor(found.timings, result.sizes, job.exercise, session.info))
    return True


def count_input_sets(bench: Bench, case: Case) -> int:
    """Number of input sets; the launches cycle through them."""
    set_bytes = sum(buffer.size_bytes for buffer in device_buffers(bench.task, case.sizes))
    return max(MIN_SETS, min(MAX_SETS, -(-SETS_BYTES // set_bytes)))


def draw_inputs(bench: Bench, case: Case, pool: ThreadPoolExecutor) -> list[Future[Arrays]]:
    """Starts the draws of the inputs of each set, which differ from all other sets."""

    def draw(number: int) -> Arrays:
        one = replace(case, name=f"{case.name} {number}")
        return make_inputs(bench.task, one, bench.seed, gather=gather_shared)

    return [pool.submit(draw, number) for number in range(count_input_sets(bench, case))]


def judge_sets(
    bench: Bench,
    case: Case,
    expected: Sequence[Arrays],
    outputs: Sequence[Arrays],
    execution: Execution,
) -> CaseResult:
    """The result of the first set with wrong outputs, else of the set with the largest error."""

    def judge(each: Arrays, got: Arrays) -> CaseResult:
        return judge_outputs(bench.task, case, each, got, execution)

    with ThreadPoolExecutor() as pool:
        results = list(pool.map(judge, expected, outputs))
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
