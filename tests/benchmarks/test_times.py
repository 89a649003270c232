"""How kernels are timed, on a GPU that is none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jobs as known_jobs
import kernel_files
import pytest
import times
from jobs import Job, compile_kernel
from times import Row, leave_out, read_rows, time_job, write_rows

from grader.devices.base import Arrays
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.grading.tools import find_toolchain
from grader.records import SUBMISSION, DeviceInfo, Execution, Program, RunLimits
from tests.support.fake_clock import FakeClock

from .test_kernel_files import SCALE, write


class Gpu(FakeClock):
    """Runs nothing."""

    @property
    def info(self) -> DeviceInfo:
        return EmulatedDevice("h200").info

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        self.prepared = programs, input_sets
        return Execution(()), []


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    write(tmp_path, SCALE)
    monkeypatch.setattr(known_jobs, "read_runs", lambda: kernel_files.read_runs(tmp_path))
    return known_jobs.find_jobs([], kernels_only=True)


def test_a_row_tells_times_clocks_and_what_ran(jobs: list[Job]) -> None:

    gpu = Gpu({SUBMISSION: 0.5}, noise=0.01)
    built = compile_kernel(jobs[0], find_toolchain(prefer_wheel=True, cache=None), "sm_90")
    row = time_job(gpu, jobs[0], built, samples=15)
    assert row.key == ("kernels", "streaming/scale", jobs[0].label)
    assert row.ms == pytest.approx(0.505, abs=0.01)
    assert (row.samples, row.sizes) == (15, {"n": 1000})
    assert (row.sm_mhz, row.memory_mhz) == ((1965, 1980), (2619, 2619))
    ((program,), (arrays,)) = gpu.prepared
    assert [buffer.name for buffer in program.buffers] == ["x", "y"]
    assert arrays.keys() == {"x"}


def test_one_that_faults_or_does_not_compile_is_a_row_and_the_others_go_on(
    jobs: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:

    ended = [0, 2]
    timed = Row("kernels", "streaming/scale", {}, 1.0)

    def some(todo: Sequence[object], *_: object) -> Sequence[object]:
        return [timed] * ended.pop(0)

    monkeypatch.setattr(times, "measure_in_process", some)
    jobs = [jobs[0], jobs[1], jobs[1], jobs[0]]
    rows = list(times.measure(jobs, ["no nvcc", *[object()] * 3], 0, 15))
    assert [row.ms for row in rows] == [None, None, 1.0, 1.0]
    assert [row.reason for row in rows[:2]] == [
        "not timed: no nvcc",
        "its process ended, or it did not come to an end",
    ]


def test_a_file_keeps_its_other_rows_and_says_what_is_missing(
    jobs: list[Job], tmp_path: Path
) -> None:

    rows = [
        Row("gemm", "truth/x", {"M": 1, "N": 2}, 1.5, 1.0, 2.0),
        Row(
            "kernels",
            "streaming/scale",
            {"n": 1000},
            0.5,
            run=jobs[0].label,
            source=jobs[0].source,
        ),
    ]
    write_rows(tmp_path / "times.json", "NVIDIA H200", rows)
    assert read_rows(tmp_path / "times.json") == rows
    assert leave_out(jobs, rows) == jobs[1:]
    write(tmp_path, SCALE.replace("alpha * x", "x"))
    assert leave_out(jobs, rows) == jobs
