"""The benchmark on a device with a clock: outputs checked, rounds timed, counters taken.

Inputs and expected outputs stay here. The device gets several sets of inputs, so that no launch can
serve the next one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from grader.devices.base import Arrays, TimingDevice
from grader.grading.cases import BENCHMARK, Oracle
from grader.grading.counting import Counts, count_emulated, count_on_gpu, count_others_on_gpu
from grader.grading.job import Job
from grader.grading.measure import Measurement, measure
from grader.grading.programs import Built, Toolchain
from grader.judging.compare import judge_case
from grader.judging.evidence import Evidence, OtherCounts
from grader.judging.needs import find_open
from grader.judging.timing import check_floor
from grader.judging.values import collect_metrics, collect_others
from grader.records import (
    SUBMISSION,
    CaseResult,
    Execution,
    Failure,
    Modelled,
    Program,
    Progress,
    TimedLaunch,
    Timing,
)
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case, Yardstick
from grader.spec.tolerance import tolerance_at
from grader.words.hidden import name_case

SETS_BYTES = 256 << 20
"""Sets are drawn until their inputs hold this much together: several times any L2 cache."""
MIN_SETS, MAX_SETS = 2, 4
"""No launch has the inputs of the one before, its outputs and scratch hold poison, and a program
with `__device__` variables is loaded anew for each run (devices.gpu.bench): what an earlier run
left serves none. The score's `environment` notes such variables all the same, for a person to look
at."""


@dataclass(frozen=True)
class Benchmark:
    """What the benchmark gave. `failure` is one that ends the grading although the plan ran:
    rejected or inconclusive."""

    case: CaseResult
    timings: tuple[Timing, ...] = ()
    counts: Counts = field(default_factory=Counts)
    facts: Mapping[str, str] = field(default_factory=dict)
    failure: Failure | None = None
    other_counts: Mapping[Yardstick, OtherCounts] = field(default_factory=dict)
    model: tuple[Modelled, ...] = ()


@dataclass(frozen=True)
class InputSet:
    """Inputs of the benchmark, and the outputs that belong to them."""

    inputs: Arrays
    expected: Arrays


def run_benchmark(
    job: Job,
    built: Mapping[str, Built],
    programs: Sequence[Program],
    device: TimingDevice,
    *,
    tools: Toolchain,
    oracle: Oracle,
) -> Benchmark | Failure:
    """Run the submission, `programs[0]`, at the benchmark sizes; if it is right, time it beside the
    others and count it.

    `built` holds what each program was made of, by its label.
    """
    job.show(Progress("preparing the benchmark"))
    with ThreadPoolExecutor() as pool:
        emulated = pool.submit(count_emulated, job, built[SUBMISSION], tools, oracle)
        sets = list(pool.map(partial(draw_input_set, job, oracle), range(count_input_sets(job))))
        with job.hold():
            execution, outputs = device.prepare(
                programs, [each.inputs for each in sets], limits=job.limits
            )
        if execution.failure is not None:
            return name_case(execution.failure, benchmark_case(job))
        case = judge_outputs(job, sets, outputs, execution)
        lines = emulated.result()  # nothing else keeps the machine busy while it is timed
    if not case.passed:
        return Benchmark(case)
    with job.hold():
        found = _measure(job, programs, device, len(sets))
        copying = device.copy_bandwidth() if found.wrong is None else 0.0
    facts = describe_measurement(found) | describe_variables(programs[0])
    if found.wrong is not None:
        return Benchmark(_wrong_when_timed(case, found.wrong), facts=facts)
    facts |= {"copy_bandwidth": f"{copying:,.0f} GB/s"}
    failure = found.failure or check_floor(
        found.timings, job.exercise.benchmark["gpu"], job.exercise, job.info
    )
    if failure is not None:
        return Benchmark(case, found.timings, facts=facts, failure=failure)
    job.show(Progress("counting"))
    counts = count_on_gpu(job, programs[0], execution, sets[0].inputs, lines)
    others = count_others_on_gpu(
        job, built, programs, device, by_ncu=counts.by_ncu, tools=tools, oracle=oracle
    )
    return Benchmark(case, found.timings, counts, facts, other_counts=others)


def count_input_sets(job: Job) -> int:
    """How many sets of inputs the rounds go through in turn."""
    buffers = device_buffers(job.exercise, job.exercise.benchmark["gpu"])
    set_bytes = sum(buffer.size_bytes for buffer in buffers)
    return max(MIN_SETS, min(MAX_SETS, -(-SETS_BYTES // set_bytes)))


def draw_input_set(job: Job, oracle: Oracle, number: int) -> InputSet:
    """The inputs of one set, of other values than any other set's, and what the oracle makes of
    them."""
    case = benchmark_case(job)
    inputs = make_inputs(job.exercise, replace(case, name=f"{BENCHMARK} {number}"), job.seed)
    return InputSet(inputs, oracle(inputs, case.sizes))


def benchmark_case(job: Job) -> Case:
    """The benchmark at a GPU's sizes, as a case."""
    return Case(BENCHMARK, job.exercise.benchmark["gpu"], hidden=False)


def judge_outputs(
    job: Job, sets: Sequence[InputSet], outputs: Sequence[Arrays], execution: Execution
) -> CaseResult:
    """The benchmark as one case: the first set whose outputs are wrong, else the one with the worst
    error."""
    case = benchmark_case(job)
    buffers = device_buffers(job.exercise, case.sizes)

    def judge(each: InputSet, got: Arrays) -> CaseResult:
        tolerance = tolerance_at(job.exercise, case)
        return judge_case(
            case, buffers, each.expected, got, tolerance, modified_inputs=execution.modified_inputs
        )

    with ThreadPoolExecutor() as pool:
        results = list(pool.map(judge, sets, outputs))
    wrong = (result for result in results if not result.passed)
    return next(wrong, max(results, key=lambda result: result.worst_error or 0.0))


def describe_measurement(found: Measurement) -> dict[str, str]:
    """What the score's `environment` says of the GPU while it was timed."""
    clocks = found.clocks
    facts = {
        "sm_clock": _range(clocks.sm_mhz, "MHz"),
        "memory_clock": _range(clocks.memory_mhz, "MHz"),
        "temperature": f"{clocks.temperature_c} °C" if clocks.temperature_c is not None else "",
        "clock_limits": ", ".join(reason.replace("_", " ") for reason in clocks.throttled),
        "measurements": (
            f"{found.attempts}, all but the last one disturbed" if found.attempts > 1 else ""
        ),
    }
    return {name: fact for name, fact in facts.items() if fact}


def describe_variables(submission: Program) -> dict[str, str]:
    """What the score's `environment` says of variables in which a submission may keep results from
    one launch to the next."""
    size_bytes = submission.binary.variable_bytes
    return (
        {"device_variables": f"{size_bytes:,} bytes, which outlive a launch"} if size_bytes else {}
    )


def _measure(
    job: Job, programs: Sequence[Program], device: TimingDevice, input_sets: int
) -> Measurement:
    def still_open(timings: Sequence[Timing]) -> tuple[str, ...]:
        metrics = collect_metrics(Evidence(timings=tuple(timings)), job.exercise, job.info)
        return find_open(
            job.exercise, metrics, job.info, collect_others(job.exercise, job.info, timings=timings)
        )

    labels = [program.label for program in programs]
    return measure(
        device,
        labels,
        input_sets=input_sets,
        find_open=still_open,
        rng=Random(job.seed),
        show=job.show,
    )


def _wrong_when_timed(case: CaseResult, launch: TimedLaunch) -> CaseResult:
    if math.isnan(launch.milliseconds):
        message = (
            "it ended well once, and on the same inputs it did not in a timed run: look for a race,"
            " or for what is left from one run to the next"
        )
    else:
        message = (
            "wrong in a timed run: on inputs that it had been right for, it gave other outputs, or"
            " wrote where it must not; every launch must compute everything anew, and the same from"
            " the same inputs"
        )
    return CaseResult(case.name, case.hidden, case.sizes, passed=False, message=message)


def _range(range_: tuple[int, int] | None, unit: str) -> str:
    if range_ is None:
        return ""
    low, high = range_
    return f"{low:,} {unit}" if low == high else f"{low:,} to {high:,} {unit}"
