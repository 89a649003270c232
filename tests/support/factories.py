"""Small makers of the records that judging and reports work on: an exercise, a device, counters,
cases, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.cpp.expressions import parse_expression
from grader.emulator.timing.kinds import LaunchKind
from grader.judging.evidence import Evidence, Subject
from grader.judging.score import failed_score, make_score
from grader.records import (
    CaseResult,
    CheckResult,
    Counters,
    DeviceInfo,
    Dim3,
    Execution,
    Failure,
    LaunchLimits,
    LaunchResult,
    LineCounters,
    Lookups,
    Mismatch,
    Role,
    Score,
    Submission,
    Timing,
    Traffic,
)
from grader.spec.exercise import (
    BufferSpec,
    Case,
    CheckSpec,
    Exercise,
    Initialisation,
    Limits,
    Threshold,
    Tolerance,
)
from grader.spec.statements import Plan
from grader.submission.plan import read_plan

SOURCE = """\
#define TILE 32
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
    __syncthreads();
    for (int j = 0; j < TILE; j += 8)
        out[x * rows + y + j] = tile[threadIdx.x][threadIdx.y + j];  // both are crooked
}
"""

CORRECTNESS = CheckSpec(
    "correctness",
    "Every element in its place",
    "correctness",
    25,
    Threshold(at_least=1),
    headline="Correctness",
)
CONFLICTS = CheckSpec(
    "shared_bank_conflicts",
    "No bank conflicts",
    "shared_bank_conflicts",
    25,
    Threshold(at_most=0),
    requires=("correctness",),
    headline="Bank conflicts",
)
STORES = CheckSpec(
    "global_store_efficiency",
    "Coalesced stores",
    "global_store_efficiency",
    25,
    Threshold(at_least=0.99, zero_at=0.125),
    requires=("correctness",),
)
BANDWIDTH = CheckSpec(
    "bandwidth_fraction",
    "Bandwidth",
    "bandwidth_fraction",
    25,
    Threshold(at_least=0.8, zero_at=0.4),
    requires=("correctness",),
    headline="Performance",
)
CHECKS = (CORRECTNESS, CONFLICTS, STORES, BANDWIDTH)

H100 = DeviceInfo(
    kind="emulated",
    id="h100",
    name="NVIDIA H100 SXM",
    compute_capability="9.0",
    arch="sm_90",
    peak_bandwidth_gbps=3352.0,
    peak_fp32_tflops=66.9,
    limits=LaunchLimits(1024, Dim3(1024, 1024, 64), Dim3(2147483647, 65535, 65535), 232448, 65536),
    stands_for="counters are those of this GPU, exactly",
)
GPU = replace(H100, kind="gpu", stands_for="times are measured on this GPU")

CLEAN = Counters(
    instructions_executed=1000,
    thread_instructions_executed=32000,
    shared_load_instructions=100,
    shared_store_instructions=100,
    shared_load_wavefronts=100,
    shared_store_wavefronts=100,
    shared_wavefronts_ideal=200,
    global_load_requests=100,
    global_load_sectors=400,
    global_load_sectors_ideal=400,
    global_load_bytes=12800,
    global_store_requests=100,
    global_store_sectors=400,
    global_store_sectors_ideal=400,
    global_store_bytes=12800,
)
LOADING = Counters(
    instructions_executed=200,
    shared_store_instructions=100,
    shared_store_wavefronts=100,
    shared_wavefronts_ideal=100,
    global_load_requests=100,
    global_load_sectors=400,
    global_load_sectors_ideal=400,
    global_load_bytes=12800,
)
STORING_CROOKEDLY = Counters(
    instructions_executed=200,
    shared_load_instructions=100,
    shared_load_wavefronts=3200,
    shared_wavefronts_ideal=100,
    global_store_requests=100,
    global_store_sectors=3200,
    global_store_sectors_ideal=400,
    global_store_bytes=12800,
)

GOOD_LINES = (LineCounters(8, CLEAN),)
CROOKED_LINES = (
    LineCounters(8, LOADING),
    LineCounters(11, STORING_CROOKEDLY),
    LineCounters(None, Counters(instructions_executed=7)),
)


def make_exercise(checks: Sequence[CheckSpec] = CHECKS) -> Exercise:
    cols_rows = (parse_expression("cols"), parse_expression("rows"))
    return Exercise(
        id="transpose",
        title="Matrix transpose",
        folder=Path("exercises/transpose"),
        size_names=("rows", "cols"),
        buffers=(
            BufferSpec("out", "float32", cols_rows, Role.OUTPUT),
            BufferSpec("in", "float32", cols_rows[::-1], Role.INPUT, Initialisation.NORMAL),
        ),
        default_plan=Plan((), ()),
        baseline_source=Path("starter/transpose.cu"),
        baseline_plan=Plan((), ()),
        reference_source=None,
        public_cases=(),
        hidden_cases=(),
        tolerance=Tolerance(),
        benchmark={"emulated": {"rows": 2048, "cols": 2048}, "gpu": {"rows": 8192, "cols": 8192}},
        useful_bytes=parse_expression("2 * rows * cols * 4"),
        useful_flops=None,
        limits=Limits(10**9, 60.0, 60.0),
        checks=tuple(checks),
    )


def make_submission(name: str = "transpose.cu", text: str = SOURCE) -> Submission:
    return Submission(name, "0" * 64, text)


def make_execution(lines: Sequence[LineCounters] = GOOD_LINES) -> Execution:
    total = sum((line.counters for line in lines), Counters())
    return Execution(
        (
            LaunchResult(
                "transpose_shared",
                Dim3(64, 64),
                Dim3(32, 8),
                24,
                4096,
                0,
                0,
                1.0,
                total,
                tuple(lines),
            ),
        )
    )


def make_case(name: str = "square", *, passed: bool = True, hidden: bool = False) -> CaseResult:
    sizes = {"rows": 37, "cols": 1013}
    if passed:
        return CaseResult(name, hidden, sizes, True, "right", None if hidden else 0.0)
    mismatch = Mismatch("out", (0, 32), 0.5, -1.25, 612, 37481, 3.21, ("··▒█", "···?"))
    if hidden:
        return CaseResult(name, hidden, sizes, False, "some of the elements of `out` are wrong")
    return CaseResult(
        name, hidden, sizes, False, "612 of 37,481 elements of `out` are wrong", 3.21, mismatch
    )


def make_case_spec(rows: int, cols: int, *, hidden: bool = False) -> Case:
    return Case("case", {"rows": rows, "cols": cols}, hidden)


def make_subject(
    exercise: Exercise | None = None,
    submission: Submission | None = None,
    *,
    device: DeviceInfo | None = H100,
    environment: Mapping[str, str] | None = None,
) -> Subject:
    """What is graded, by default the transpose of SOURCE on the emulated H100."""
    return Subject(
        exercise or make_exercise(), submission or make_submission(), device, environment or {}, 7
    )


def make_failed(failure: Failure, submission: Submission | None = None) -> Score:
    """The score of a submission that a failure ended."""
    return failed_score(make_subject(submission=submission), failure)


def make_graded(
    *,
    lines: Sequence[LineCounters] = GOOD_LINES,
    cases: Sequence[CaseResult] = (make_case(),),
    submission: Submission | None = None,
    exercise: Exercise | None = None,
) -> Score:
    """A score of the emulated device, the way the pipeline makes it."""
    subject = make_subject(exercise, submission, environment={"nvcc": "13.0.88"})
    plan = read_plan(subject.submission)
    evidence = Evidence(cases=tuple(cases), plan=plan if isinstance(plan, Plan) else None)
    if evidence.all_right:
        evidence = replace(evidence, execution=make_execution(lines))
    return make_score(subject, evidence)


def with_last(score: Score, check: CheckResult) -> Score:
    """The score with another check in the place of its last one."""
    return replace(score, checks=(*score.checks[:-1], check))


def make_modelled(
    milliseconds: float,
    kind: str = LaunchKind.DRAM,
    factors: tuple[float, float] = (0.96, 1.04),
    plan: str = "submission",
) -> Timing:
    """A modelled time, whose interval reaches from one of the factors to the other."""
    low, high = factors
    return Timing(plan, milliseconds, (low * milliseconds, high * milliseconds), (), kind)


def make_timed(*timings: Timing, exercise: Exercise | None = None) -> Score:
    """A score of the emulated device with modelled times, at 8192 x 8192: 80 % of the peak are
    0.2002 ms."""
    evidence = Evidence(
        cases=(make_case(),),
        execution=make_execution(),
        timings=timings,
        traffic=Traffic(4096, Lookups(7, 8), Lookups(1, 4)),
    )
    return make_score(make_subject(exercise), evidence)


DOUBTFUL = make_timed(make_modelled(0.2027))
HARDLY_KNOWN = make_timed(make_modelled(0.2, LaunchKind.SCATTERED, (0.65, 1.4)))
"""Near the goal, and the model does not know how near."""
QUICK = make_timed(make_modelled(0.15))
"""Full marks."""
