"""No report of a mistake in a hidden case holds a figure of its sizes: of each kind of mistake, at
sizes of several seeds.

One compile; then every kind of mistake runs in the checked mode. Its sizes differ from seed to
seed, and its reports must not.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from grader.devices.base import Arrays
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpu.cuda_facts import (
    out_of_memory,
    read_damage,
    read_fault,
    read_refusal,
)
from grader.devices.gpu.placement import Damage, Place
from grader.devices.plan_limits import out_of_time
from grader.errors import GraderError, WorkerError
from grader.grading.building import Built, build
from grader.grading.cases import Bench, Findings, prepare_case, run_case, run_checked
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import find_toolchain
from grader.judging.evidence import Evidence, Subject
from grader.judging.score import failed_score, make_score
from grader.messages.hidden import name_case
from grader.records import (
    DeviceBuffer,
    Execution,
    Failure,
    PendingRule,
    Program,
    Role,
    RunLimits,
    Score,
    Status,
    Stop,
    Submission,
)
from grader.report.annotation import TERMINAL_COLUMNS, annotate
from grader.report.html.submission import render_submission
from grader.report.json import format_score
from grader.report.platforms.github import format_github
from grader.report.platforms.gradescope import format_gradescope
from grader.report.platforms.junit import format_junit
from grader.report.score_page import print_score
from grader.report.source_page import print_annotation
from grader.report.terminal import make_console
from grader.spec.draws import draw_cases
from grader.spec.exercise import Case, Exercise
from grader.spec.oracle import load_oracle
from grader.spec.reader import read_exercise
from grader.spec.statements import Plan
from grader.submission.plan import read_plan

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (7_000_000_011, 7_000_000_029, 7_000_000_093)
ROWS = [331, 419, 557, 653, 769, 887, 947]
COLS = [353, 467, 571, 677, 787, 859, 977]

MACHINE_CODE = """\
#include <cassert>
#include <cstdio>
__device__ int tickets;
__device__ char digits[4];
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
__global__ void k(float* out, const float* in, int rows, int cols, int what)
{
    __shared__ float tile[64];
    int n = rows * cols, first = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    bool me = first == rows / 2;
    if (what == 1 && me) out[n + rows % 8] = 0;
    if (what == 2 && me) out[-1 - rows % 8] = 0;
    if (what == 3 && me) *(float*)(0x100000000ull * rows) = 0;
    if (what == 4 && me) tile[1000 * rows] = 0;
    if (what == 5 && me) *(float4*)(out + 4 * rows + 1) = make_float4(0, 0, 0, 0);
    if (what == 6) {
        if (threadIdx.x < rows % 7 + 1) { tile[threadIdx.x] = first; __syncthreads(); tile[threadIdx.x] += 1; }
        __syncthreads();
    }
    if (what == 7) { tile[(threadIdx.y * 32 + threadIdx.x + rows) % 64] = first; __syncthreads(); }
    if (what == 8) out[rows] += 1;
    if (what == 10 && me) __trap();
    if (what == 11 && me) assert(rows == 0);
    if (what == 12 && me) {
        for (int i = 0, left = rows; i < 3; i++, left /= 10) digits[2 - i] = '0' + left % 10;
        __assertfail(digits, digits, rows, digits, 1);
    }
    if (what == 13 && me) printf("%d rows\\n", rows);
    if (what == 14 && me) { printf("%d rows\\n", rows); out[n + cols % 8] = 0; }
    if (what == 15) for (volatile int i = 0; i < rows;) { }
    if (what == 16 && first % 32 < rows % 31) __shfl_sync(0xffffffff, first, 0);
    if (what == 17) return;
    int ticket = what == 18 && threadIdx.x + threadIdx.y == 0 ? atomicAdd(&tickets, 1) : -1;
    for (int i = first; i < n; i += blockDim.x * blockDim.y * gridDim.x) {
        float value = in[i];
        if (what == 9) value = tile[(threadIdx.x + rows) % 64];
        if (what == 19) value = rows;
        if (what == 20 && i % cols >= 40) value = 1000.0f * rows + cols;
        if (what == 18 && ticket == 0 && blockIdx.x > 0) value = cols;
        if (what != 21 || i / cols > rows / 3) out[i % cols * rows + i / cols] = value;
    }
    if (what == 22 && me) ((float*)in)[first] = rows;
}
__global__ __launch_bounds__(64) void bounded(float* out) { out[0] = 0; }
__global__ void narrow(float* out, char small) { out[0] = small; }
template <int N> __global__ void picked(float* out) { out[-1 - N % 8] = 0; }
""" + "\n".join(f"template __global__ void picked<{rows}>(float*);" for rows in ROWS)

K = "// launch: k<<<{}>>>(out, in, rows, cols, 0)"

RUNS: dict[str, tuple[int, str]] = {
    "past the end": (1, "past the end of buffer out (kernel k)"),
    "before the start": (2, "before the start of buffer out (kernel k)"),
    "no buffer": (3, "belongs to no buffer"),
    "shared memory": (4, "out of bounds of shared memory"),
    "misaligned": (5, "no multiple of its size"),
    "barrier": (6, "__syncthreads() that not all threads reach"),
    "shared race": (7, "race on shared memory"),
    "global race": (8, "race on buffer out"),
    "unwritten": (9, "nothing was written to before"),
    "trap": (10, "the kernel was stopped"),
    "assert": (11, "the kernel was stopped"),
    "assert with words of its own": (12, "the kernel was stopped"),
    "printf": (13, "all 1 cases are right"),
    "printf before a fault": (14, "past the end of buffer out"),
    "endless": (15, "the limit of executed warp instructions is spent"),
    "absent lanes": (16, "not all lanes"),
    "never written": (17, "was never written"),
    "order": (18, "depends on the order"),
    "a size for every value": (19, "all of the elements of `out` are wrong"),
    "a size for some values": (20, "some of the elements of `out` are wrong"),
    "some never written": (21, "(some were never written)"),
    "input modified": (22, "wrote to its input `in`"),
}

LAUNCHES: dict[str, tuple[str, str]] = {
    "threads": (K.format("1, dim3(64, rows)"), "line 1, column 24: the block has more threads"),
    "negative": (K.format("1, dim3(32 - rows, 8)"), "at least one thread wide"),
    "no blocks": (K.format("dim3(rows / 1000, 1), 32"), "at least one thread wide"),
    "depth of the block": (K.format("1, dim3(1, 1, rows)"), "larger than the device allows"),
    "height of the grid": (
        K.format("dim3(1, rows * cols), 32"),
        "larger than the device allows",
    ),
    "shared memory": (K.format("1, 32, rows * cols * 4"), "more shared memory than the device has"),
    "negative shared memory": (
        K.format("1, 32, 4 - rows"),
        "the dynamic shared memory is negative",
    ),
    "registers": (K.format("1, rows"), "more registers than the device has"),
    "division by zero": (K.format("rows / (cols - cols), 32"), "division by zero"),
    "64 bits": (K.format("rows * 9223372036854775807, 32"), "too large for an integer type"),
    "launch bounds": (
        "// launch: bounded<<<1, rows>>>(out)",
        "more threads than the kernel's __launch_bounds__",
    ),
    "argument": (
        "// launch: narrow<<<1, 32>>>(out, rows * cols)",
        "does not fit the kernel's parameter",
    ),
    "no instance": ("// launch: picked<rows + 1><<<1, 32>>>(out)", "no instance of the kernel"),
    "an instance": (
        "// launch: picked<rows><<<1, 32>>>(out)",
        "before the start of buffer out (kernel picked)",
    ),
    "scratch": (
        "// scratch: float s[rows * cols * 65536]\n" + K.format("1, 32"),
        "the scratch buffers take more",
    ),
    "empty scratch": (
        "// scratch: float s[4 - rows]\n" + K.format("1, 32"),
        "a scratch buffer has no elements",
    ),
}


def drawing(bench: Bench, seed: int, built: Built | None = None) -> Bench:
    """The bench with another seed, and perhaps another plan."""
    return replace(bench, seed=seed, built=built or bench.built)


def planned(bench: Bench, plan: str) -> Built:
    """The same machine code with these two lines at its start."""
    text = plan + "\n" * (2 - plan.count("\n")) + MACHINE_CODE
    source = Submission("transpose.cu", "0" * 64, text)
    read = read_plan(source)
    assert isinstance(read, Plan)
    return replace(bench.built, source=source, plan=read)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A compiled file, and a device that runs it in this process."""
    folder = tmp_path_factory.mktemp("course")
    exercise = folder / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", exercise)
    (folder / "starter").symlink_to(ROOT / "starter")
    spec = json.loads((exercise / "spec.json").read_text())
    del spec["parts"]
    spec["checks"] = spec["checks"][:-1]
    spec["cases"]["hidden"] = [{"name": "secret", "sizes": {"rows": ROWS, "cols": COLS}}]
    (exercise / "spec.json").write_text(json.dumps(spec))
    read, device = read_exercise(exercise), EmulatedDevice()
    text = K.format("8, dim3(32, 8)") + "\n\n" + MACHINE_CODE
    tools = find_toolchain(prefer_wheel=True, cache=None, isolated=False)
    built = build(Submission("transpose.cu", "0" * 64, text), read, tools, arch=device.info.arch)
    kernels = tuple(
        replace(each, registers=200) if each.name == "k" else each for each in built.binary.kernels
    )
    return Bench(
        device,
        replace(built, binary=replace(built.binary, kernels=kernels)),
        read,
        load_oracle(read),
        seed=0,
        launch_limits=device.info.limits,
        limits=RunLimits(2_000_000, read.limits.wall_seconds),
    )


def secret(bench: Bench) -> Case:
    (case,) = (case for case in draw_cases(bench.task, bench.seed) if case.hidden)
    return case


def subject(bench: Bench) -> Subject:
    assert isinstance(bench.task, Exercise)
    return Subject(bench.task, bench.built.source, bench.device.info, {}, bench.seed)


def graded(bench: Bench) -> Score:
    """The score of a submission to whose hidden case this happens."""
    findings = Findings()
    try:
        run = run_checked(bench, secret(bench), findings)
    except SubmissionError as error:
        return failed_score(subject(bench), error.failure)
    evidence = Evidence(cases=(run.result,), checked=findings.outcome)
    return make_score(subject(bench), evidence)


def reports(score: Score, source: Submission) -> str:
    """All that a student may get to see of a score, the seed and the points' own figures left
    out."""
    stream = io.StringIO()
    console = make_console(stream, environ={}, width=300)
    print_score(score, console=console)
    print_annotation(annotate(score, source.text, TERMINAL_COLUMNS), console=console)
    page = render_submission(
        score, student="jane", title="t", source=source.text, back="index.html"
    )
    texts = [
        stream.getvalue(),
        page,
        format_score(score),
        format_github(score),
        format_junit(score),
    ]
    if score.status.has_points:
        texts.append(format_gradescope(score, PendingRule.LOST))
    return "\n".join(texts).replace(str(score.seed), "SEED")


def figures_of(case: Case) -> set[int]:
    """What a message may make of the sizes: themselves, sums, products, numbers of tiles and bytes,
    and what is next to those."""
    rows, cols = case.sizes["rows"], case.sizes["cols"]
    whole = {
        rows,
        cols,
        rows + cols,
        abs(rows - cols),
        rows * cols,
        64 * rows,
        32 * rows,
        200 * rows,
        200 * cols,
        1000 * rows + cols,
    }
    bytes_ = {factor * each for factor, each in product((1, 2, 4, 8, 16, 65536, 4 * 65536), whole)}
    return {each + step for each, step in product(bytes_, range(-33, 34)) if each + step >= 300}


def figures_in(text: str) -> set[int]:
    return {int(each, 16) for each in re.findall(r"\b0x[0-9a-fA-F]+", text)} | {
        int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", text) if each.strip(",")
    }


def check(make: Callable[[Bench], Score], words: str, bench: Bench) -> None:
    """Make a score at the sizes of each seed: the reports are the same, say these words, and hold
    no figure of the sizes."""
    source = bench.built.source
    scores = {seed: make(drawing(bench, seed)) for seed in SEEDS}
    texts = {seed: reports(score, source) for seed, score in scores.items()}
    told = "\n".join(part for score in scores.values() for part in messages_of(score))
    assert words in told, told
    empty = make_score(subject(drawing(bench, SEEDS[0])), Evidence())
    public = figures_in(reports(empty, source))
    for seed, text in texts.items():
        assert text == texts[SEEDS[0]]
        assert not (figures_in(text) - public) & figures_of(secret(drawing(bench, seed)))


def messages_of(score: Score) -> Iterator[str]:
    yield from (score.message, score.advice, score.detail)
    yield from (case.message for case in score.cases)
    yield from (finding.message for finding in score.findings)
    yield from (text for each in score.checks for text in (each.message, each.hint))


def test_the_seeds_draw_different_sizes(bench: Bench) -> None:
    assert len({tuple(secret(drawing(bench, seed)).sizes.values()) for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize(("what", "words"), RUNS.values(), ids=RUNS)
def test_what_a_kernel_does(what: int, words: str, bench: Bench) -> None:
    plan = f"// launch: k<<<8, dim3(32, 8)>>>(out, in, rows, cols, {what})"
    check(graded, words, replace(bench, built=planned(bench, plan)))


@pytest.mark.parametrize(("plan", "words"), LAUNCHES.values(), ids=LAUNCHES)
def test_what_a_launch_line_comes_to(plan: str, words: str, bench: Bench) -> None:
    check(graded, words, replace(bench, built=planned(bench, plan)))


# --- what other devices and the machine say -------------------------------------------------------


def _damage(offset: Callable[[int], int]) -> Callable[[Program], Stop]:
    def describe(program: Program) -> Stop:
        size_bytes = program.buffers[0].size_bytes
        return read_damage(
            Damage(Place("out", 0, size_bytes), offset(size_bytes)), program.launches[0], "k"
        )

    return describe


def _out_of_memory(program: Program) -> Stop:
    rows, cols = program.buffers[1].shape
    scratch = DeviceBuffer("s", "float32", (rows, cols, 1024), Role.SCRATCH)
    return out_of_memory([*program.buffers, scratch], program.binary)


def _cuda(said: str) -> Callable[[Program], Stop]:
    return lambda program: read_fault(
        Exception(f"cuCtxSynchronize failed: {said}"), program.launches[0], "k"
    )


def _refusal(program: Program) -> Stop:
    return read_refusal(
        Exception("cuLaunchKernel failed: invalid argument"), program.launches[0], "k"
    )


ELSEWHERE: dict[str, tuple[Callable[[Program], Stop], str]] = {
    "a damaged band": (
        _damage(lambda size_bytes: size_bytes + size_bytes // 7),
        "past the end of buffer out",
    ),
    "a damaged band before": (
        _damage(lambda size_bytes: -size_bytes // 7 // 4 * 4),
        "before the start of buffer out",
    ),
    "an illegal access": (
        _cuda("an illegal memory access was encountered"),
        "belongs to no buffer",
    ),
    "an assert": (_cuda("device-side assert triggered"), "the kernel was stopped"),
    "the watchdog": (_cuda("the launch timed out and was terminated"), "the time limit"),
    "out of memory": (_out_of_memory, "out of device memory"),
    "a refused launch": (_refusal, "refused the launch"),
    "the wall limit": (
        lambda program: out_of_time(program.launches, RunLimits(1, 60)),
        "the time limit of this exercise",
    ),
}


@pytest.mark.parametrize(("describe", "words"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_a_gpu_and_the_clock_end(
    describe: Callable[[Program], Stop], words: str, bench: Bench
) -> None:
    plan = "// launch: k<<<dim3(rows, cols), dim3(rows / 2), cols * 4>>>(out, in, rows, cols, rows)"
    built = planned(bench, plan)
    kernels = tuple(replace(each, registers=8) for each in built.binary.kernels)
    few = replace(built, binary=replace(built.binary, kernels=kernels))

    def make(bench: Bench) -> Score:
        case = secret(bench)
        step = prepare_case(bench, case)
        return failed_score(subject(bench), name_case(describe(step.program), case))

    check(make, words, replace(bench, built=few))


def test_buffers_that_do_not_fit(bench: Bench) -> None:
    def make(bench: Bench) -> Score:
        case = secret(bench)
        large = DeviceBuffer("s", "float32", (*case.sizes.values(), 65536), Role.SCRATCH)
        program = Program("submission", bench.built.binary, (), (large,))
        execution, _ = bench.device.run(program, {}, limits=bench.limits)
        assert execution.failure is not None
        return failed_score(subject(bench), name_case(execution.failure, case))

    check(make, "out of device memory", bench)


class Dying(EmulatedDevice):
    """A device that dies of a case and tells its sizes."""

    def run(self, program: Program, arrays: Arrays, **_: object) -> tuple[Execution, Arrays]:
        sizes = program.buffers
        raise WorkerError(f"the worker failed: {sizes}", f"{sizes}", detail=f"{program.launches}")


def test_an_oracle_is_asked_once_for_both_orders(bench: Bench) -> None:
    step = prepare_case(bench, secret(bench))
    assert step.expected() is step.expected()


def test_a_worker_that_dies(bench: Bench) -> None:
    def make(bench: Bench) -> Score:
        with pytest.raises(GraderError) as told:
            run_case(bench, secret(bench))
        with pytest.raises(GraderError) as in_checked_mode:
            graded(bench)
        assert str(told.value) == str(in_checked_mode.value)
        error = told.value
        failure = Failure(Status.GRADER_ERROR, str(error), error.detail, error.advice)
        return failed_score(subject(bench), failure)

    dying = replace(bench, built=planned(bench, K.format("1, 32")), device=Dying())
    check(make, "the grader failed in the hidden case 'secret'", dying)
