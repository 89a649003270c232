"""A whole grading on a GPU: which programs are timed, how times and counters are judged, and what
the score reports. The times are those of a test; tests/grading/test_on_gpu.py takes the device's."""

from __future__ import annotations

import functools
import io
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import grader
from grader.devices.gpu import counting
from grader.devices.gpu.ncu import PlanRun
from grader.devices.gpu.ncu_metrics import CountedLaunch
from grader.devices.gpu.peak import Attributes, find_peak
from grader.errors import GraderError, WorkerError
from grader.grading import benchmark, on_gpu
from grader.grading import grade as grade_page
from grader.grading.measure import CHECKPOINTS, measure
from grader.records import (
    Binary,
    CheckResult,
    CheckStatus,
    ClockState,
    Counters,
    DeviceInfo,
    GivenPeak,
    Lookups,
    NotCounted,
    Program,
    Score,
    Source,
    Status,
    Traffic,
    Uncountable,
)
from grader.report.json import format_score
from grader.report.score_page import print_score
from grader.report.terminal import make_console
from tests.support.clocked_gpu import ClockedGpu
from tests.support.compiling import find_tools
from tests.support.fake_clock import STEADY
from tests.support.in_process import grade_in_process

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "grader" / "schemas" / "score.schema.json").read_text())
NO_NCU = NotCounted(Uncountable.OTHER_PROFILER)
SIDE = 256
PEAK_GBPS = 3.4
"""At 256 x 256 the transpose moves 0.5 MB: with a thousandth of an H100's bandwidth it takes the
time of an H100 at its benchmark."""
PEAK = GivenPeak(PEAK_GBPS, 66.9)
FLOOR_MS = 2 * SIDE * SIDE * 4 / PEAK_GBPS / 1e6
TIMES_MS = {"submission": FLOOR_MS / 0.85, "naive": 8 * FLOOR_MS, "reference": FLOOR_MS / 0.86}

Grade = Callable[..., Score]

pytestmark = pytest.mark.usefixtures("cuda_driver")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The transpose exercise with a benchmark for a GPU that the emulated device runs in no
    time."""
    root = tmp_path_factory.mktemp("course")
    for name in ("starter", "solutions"):
        (root / name).symlink_to(ROOT / name)
    exercise = root / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", exercise)
    spec = json.loads((exercise / "spec.json").read_text())
    spec["benchmark"] = {"gpu": {"rows": SIDE, "cols": SIDE}, "emulated": {"rows": 64, "cols": 128}}
    (exercise / "spec.json").write_text(json.dumps(spec))
    return exercise


@pytest.fixture
def grade(small: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Grade:
    """Grade a file on a ClockedGpu; the emulated device beside it is in this process. The compiler is
    the one that the other tests use, for which a GPU's grading would look last."""
    grade_in_process(monkeypatch)
    monkeypatch.setenv("GRADER_NVCC", str(find_tools()[0].path))

    def run(file: str, gpu: ClockedGpu, peak: GivenPeak = PEAK) -> Score:
        monkeypatch.setattr(on_gpu, "RemoteDevice", gpu.named)
        monkeypatch.setattr(benchmark, "measure", functools.partial(measure, clock=gpu.clock))
        device = grade_page.choose_device("gpu", peak)
        score = grader.grade(small, ROOT / file, device=device, seed=7, cache=cache)
        Draft202012Validator(SCHEMA).validate(json.loads(format_score(score)))
        return score

    return run


def check(score: Score, name: str) -> CheckResult:
    return next(check for check in score.checks if check.name == name)


def shown(score: Score) -> str:
    stream = io.StringIO()
    print_score(score, console=make_console(stream, width=200, environ={"NO_COLOR": "1"}))
    return stream.getvalue()


def test_a_fast_submission_earns_every_point(grade: Grade) -> None:
    gpu = ClockedGpu(TIMES_MS, noise=0.002)
    score = grade("solutions/transpose.cu", gpu)
    assert (score.status, score.score, score.judged_points) == (Status.PASSED, 100, 100)
    assert gpu.name == "gpu:0:3.4,66.9"
    assert gpu.prepared == ("submission", "naive", "reference")
    assert {timing.plan: len(timing.samples_ms) for timing in score.timings} == dict.fromkeys(
        TIMES_MS, CHECKPOINTS[0]
    )
    bandwidth = next(metric for metric in score.metrics if metric.name == "bandwidth_fraction")
    assert bandwidth.source is Source.MEASURED
    assert bandwidth.value == pytest.approx(0.85, rel=0.01)
    assert bandwidth.interval is not None
    assert bandwidth.interval[0] <= bandwidth.value <= bandwidth.interval[1]


@pytest.fixture
def compared(small: Path) -> Iterator[Path]:
    """The small exercise with a comparison, and with goals that are relative to the baseline and to
    the reference."""
    spec = small / "spec.json"
    text = spec.read_text()
    document = json.loads(text)
    document["comparisons"] = {"unfixed": document["default_plan"]}
    document["checks"][1] |= {"at_least": 0.9, "zero_at": 0.4, "relative_to": "reference"}
    document["checks"][4] = {
        "metric": "global_store_sectors",
        "title": "Fewer sectors written",
        "points": 20,
        "at_most": 0.2,
        "relative_to": "baseline",
    }
    document["checks"][5]["requires"] = ["correctness"]
    spec.write_text(json.dumps(document))
    yield small
    spec.write_text(text)


def test_comparisons_are_timed_and_reported(compared: Path, grade: Grade) -> None:
    gpu = ClockedGpu(TIMES_MS | {"unfixed": 2 * FLOOR_MS})
    score = grade("solutions/transpose.cu", gpu)
    assert gpu.prepared == ("submission", "naive", "unfixed", "reference")
    assert {timing.plan: len(timing.samples_ms) for timing in score.timings}[
        "unfixed"
    ] == CHECKPOINTS[0]
    assert re.search(r"Time: .*, unfixed 0\.3\d+ ms", " ".join(shown(score).split()))


@pytest.mark.parametrize(
    ("own", "points"),
    [
        (0.5, 10.84),
        pytest.param(0.85, 30, marks=pytest.mark.slow),
        pytest.param(0.3, 0, marks=pytest.mark.slow),
    ],
)
def test_a_speed_may_be_relative_to_the_reference(
    compared: Path, grade: Grade, own: float, points: float
) -> None:
    times = TIMES_MS | {"unfixed": 2 * FLOOR_MS, "submission": FLOOR_MS / own}
    bandwidth = check(grade("solutions/transpose.cu", ClockedGpu(times)), "bandwidth_fraction")
    assert bandwidth.points == pytest.approx(points, abs=0.1)
    assert re.fullmatch(r">= 0\.9 x the reference's 85\.\d %", bandwidth.threshold)


def count_stores(**sectors: int) -> Callable[..., tuple[tuple[CountedLaunch, ...], ...]]:
    """In the place of ncu: these sectors, by the label of the program."""

    def count(
        ask: Callable[[], Sequence[PlanRun]], **_: object
    ) -> tuple[tuple[CountedLaunch, ...], ...]:
        (plan,) = ask()
        return ((CountedLaunch(Counters(global_store_sectors=sectors[plan.program.label])),),)

    return count


def test_counters_of_the_baseline_come_from_who_counted_the_submission(
    compared: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = TIMES_MS | {"unfixed": 2 * FLOOR_MS}
    monkeypatch.setattr(counting, "count_later", lambda *_, **__: NO_NCU)
    emulated = check(grade("solutions/transpose.cu", ClockedGpu(times)), "global_store_sectors")
    assert (emulated.value, emulated.relative_value) == (
        64 * 128 / 8,
        64 * 128,
    )  # at the emulated benchmark's sizes
    monkeypatch.setattr(counting, "count_later", count_stores(submission=30, naive=200))
    by_ncu = check(grade("solutions/transpose.cu", ClockedGpu(times)), "global_store_sectors")
    assert (by_ncu.status, by_ncu.value, by_ncu.relative_value) == (CheckStatus.PASSED, 30, 200)
    monkeypatch.setattr(counting, "count_later", count_stores(submission=40))
    again = check(grade("solutions/transpose.cu", ClockedGpu(times)), "global_store_sectors")
    assert (again.value, again.relative_value) == (40, 200)  # the baseline is counted once


def test_a_part_is_judged_on_this_device_too(grade: Grade) -> None:
    score = grade("tests/submissions/transpose/passed--in_place_bonus.cu", ClockedGpu(TIMES_MS))
    assert (score.status, score.score) == (Status.PASSED, 105)
    assert check(score, "in_place").message == "all 8 cases are right"


def test_the_score_says_how_it_was_measured(grade: Grade) -> None:
    score = grade("solutions/transpose.cu", ClockedGpu(TIMES_MS))
    assert score.device is not None
    assert score.device.kind == "gpu"
    assert score.environment["sm_clock"] == "1,965 to 1,980 MHz"
    assert score.environment["memory_clock"] == "2,619 MHz"
    assert score.environment["temperature"] == "41 °C"
    assert score.environment["copy_bandwidth"] == "2,960 GB/s"
    text = " ".join(shown(score).split())
    assert "Time: 0.1" in text
    assert "; copy kernel 2,960 GB/s, peak 3 GB/s (set by --peak)" in text


def test_the_starter_loses_points_to_time_and_conflicts(grade: Grade) -> None:
    score = grade(
        "starter/transpose.cu", ClockedGpu(TIMES_MS | {"submission": FLOOR_MS / 0.62}, noise=0.002)
    )
    assert score.status is Status.FAILED
    assert check(score, "bandwidth_fraction").status is CheckStatus.PARTIAL
    assert check(score, "speedup_over_naive").status is CheckStatus.SKIPPED
    assert check(score, "shared_bank_conflicts").status is CheckStatus.FAILED
    assert "line " in check(score, "shared_bank_conflicts").hint


def test_without_ncu_the_emulated_device_counts_and_the_score_says_so(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "count_later", lambda *_, **__: NO_NCU)
    score = grade("starter/transpose.cu", ClockedGpu(TIMES_MS))
    conflicts = check(score, "shared_bank_conflicts")
    assert conflicts.source is Source.COUNTED
    assert conflicts.value == 31 * 64 * 128 / 32  # at the emulated benchmark's sizes
    assert (
        score.environment["counters"]
        == "emulated device, rows = 64, cols = 128, because another profiler holds the GPU's counters. "
        "End it, or pause it: `dcgmi profile --pause` for DCGM."
    )
    assert "Counters: emulated device" in shown(score)


def test_ncu_counts_at_the_benchmarks_size(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Counters(instructions_executed=7, shared_load_wavefronts=5, shared_wavefronts_ideal=4)
    counted = (
        CountedLaunch(own, Traffic(123, Lookups(1, 4), Lookups(0, 0)), hardware_bank_conflicts=17),
    )
    monkeypatch.setattr(counting, "count_later", lambda *_, **__: (counted,))
    score = grade("solutions/transpose.cu", ClockedGpu(TIMES_MS))
    metrics = {metric.name: metric for metric in score.metrics}
    assert metrics["instructions_executed"].value == 7
    assert metrics["shared_bank_conflicts"].value == 1
    assert (metrics["dram_bytes"].value, metrics["dram_bytes"].source) == (123, Source.MEASURED)
    assert (metrics["l1_hit_rate"].value, metrics["l1_hit_rate"].source) == (0.25, Source.MEASURED)
    assert (metrics["l2_hit_rate"].value, metrics["l2_hit_rate"].reason) == (
        None,
        "the launches send no request to this cache",
    )
    assert "L1 hit rate 25 %" in shown(score)
    assert score.environment["counters"] == "Nsight Compute, rows = 256, cols = 256"
    assert "17 (" in score.environment["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]
    assert (
        sum(line.counters.instructions_executed for line in score.lines) > 7
    )  # those are the emulated device's


def test_what_nobody_can_count_is_not_measured(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "count_later", lambda *_, **__: NO_NCU)
    monkeypatch.setattr(
        benchmark, "count_on_stand_in", lambda *_: "it does not know an instruction"
    )
    score = grade("solutions/transpose.cu", ClockedGpu(TIMES_MS))
    assert check(score, "shared_bank_conflicts").status is CheckStatus.NOT_MEASURED
    assert "does not know an instruction" in check(score, "global_load_efficiency").message
    assert check(score, "bandwidth_fraction").status is CheckStatus.PASSED


def test_a_goal_within_the_interval_is_the_students(grade: Grade) -> None:
    just_missed = (
        1.0002 * FLOOR_MS / 0.8 / (1 + 0.02 * math.log(2))
    )  # the median of the scatter is ln 2 of its mean
    score = grade(
        "solutions/transpose.cu", ClockedGpu(TIMES_MS | {"submission": just_missed}, noise=0.02)
    )
    bandwidth = check(score, "bandwidth_fraction")
    assert (bandwidth.status, bandwidth.points) == (CheckStatus.PASSED, bandwidth.max_points)
    assert (
        "cannot be distinguished from the goal >= 80 %: the benefit of the doubt"
        in bandwidth.message
    )
    assert (
        len(next(timing for timing in score.timings if timing.plan == "submission").samples_ms)
        == CHECKPOINTS[-1]
    )


def test_faster_than_the_memory_is_rejected(grade: Grade) -> None:
    score = grade("solutions/transpose.cu", ClockedGpu(TIMES_MS | {"submission": 0.5 * FLOOR_MS}))
    assert (score.status, score.score) == (Status.REJECTED, 0)
    assert score.message.startswith("Faster than the memory allows")
    assert score.timings


class SilentGpu(ClockedGpu):
    """A GPU whose worker ends at its start, because nobody knows the peak."""

    @property
    def info(self) -> DeviceInfo:
        try:
            find_peak(Attributes("GRID V", (9, 0), 14, 0, 0, 0))
        except GraderError as error:
            raise WorkerError(str(error), error.advice) from error
        raise AssertionError("the peak is known")


def test_an_unknown_peak_is_the_graders_and_says_how_to_set_it(grade: Grade) -> None:
    score = grade("solutions/transpose.cu", SilentGpu(TIMES_MS))
    assert score.status is Status.GRADER_ERROR
    assert score.exit_code == 3
    assert score.message.startswith(
        "the peak memory bandwidth and fp32 rate of GRID V is not known"
    )
    assert "--peak GB/s,TFLOP/s" in shown(score)


def test_variables_that_could_serve_a_later_launch_are_told() -> None:
    binary = Binary("sm_90", "13.5", b"", ())
    program = Program("submission", binary, (), ())
    assert benchmark.describe_variables(program) == {}
    keeps = replace(program, binary=replace(binary, variable_bytes=268_435_456))
    assert benchmark.describe_variables(keeps) == {
        "device_variables": "268,435,456 bytes, which outlive a launch"
    }


def test_wrong_in_a_timed_run_is_wrong(grade: Grade) -> None:
    score = grade("solutions/transpose.cu", ClockedGpu(TIMES_MS, wrong=frozenset({90})))
    assert score.status is Status.FAILED
    assert check(score, "correctness").status is CheckStatus.FAILED
    assert "wrong in a timed run" in check(score, "correctness").hint
    assert check(score, "bandwidth_fraction").status is CheckStatus.SKIPPED


def test_a_throttled_gpu_is_the_machines_fault(grade: Grade) -> None:
    score = grade(
        "solutions/transpose.cu",
        ClockedGpu(TIMES_MS, clocks=[ClockState(throttled=("hw_slowdown",))]),
    )
    assert score.status is Status.GRADER_ERROR
    assert score.exit_code == 3
    assert score.judged_points == 0
    assert score.timings
    assert score.environment["clock_limits"] == "hw slowdown"


def test_one_disturbed_measurement_is_told_and_forgiven(grade: Grade) -> None:
    counting_calls = ClockedGpu(TIMES_MS)
    grade("solutions/transpose.cu", counting_calls)
    hot = ClockState(throttled=("hw_slowdown",))
    states = [*[STEADY] * (len(counting_calls.calls) - 1), hot, STEADY]
    score = grade("solutions/transpose.cu", ClockedGpu(TIMES_MS, clocks=states))
    assert score.status is Status.PASSED
    assert score.environment["measurements"] == "2, all but the last disturbed"


def test_a_wrong_submission_is_not_timed(grade: Grade) -> None:
    gpu = ClockedGpu(TIMES_MS)
    score = grade("tests/submissions/transpose/failed--copies_the_input.cu", gpu)
    assert score.status is Status.FAILED
    assert gpu.calls == []
    assert score.timings == ()
    assert check(score, "bandwidth_fraction").status is CheckStatus.SKIPPED


def test_what_does_not_compile_never_reaches_the_gpu(grade: Grade) -> None:
    gpu = ClockedGpu(TIMES_MS)
    score = grade("tests/submissions/transpose/compile_error--missing_brace.cu", gpu)
    assert score.status is Status.COMPILE_ERROR
    assert gpu.prepared == ()
