"""How kernels are timed on a GPU, or on the emulated driver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jobs as known_jobs
import kernel_files
import pytest
import times
from jobs import Job, compile_kernel
from times import Row, leave_out, read_head, read_rows, time_job, write_rows

from grader.devices.remote.remote_device import RemoteDevice
from grader.grading.tools import find_toolchain

from .test_kernel_files import SCALE, write


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    write(tmp_path, SCALE)
    monkeypatch.setattr(known_jobs, "read_runs", lambda: kernel_files.read_runs(tmp_path))
    return known_jobs.find_jobs([], kernels_only=True)


@pytest.mark.usefixtures("cuda_driver")
def test_a_row_has_the_times_of_a_program(jobs: list[Job]) -> None:
    tools = find_toolchain(prefer_wheel=True, cache=None)
    with RemoteDevice("gpu:0") as gpu:
        row = time_job(gpu, jobs[0], compile_kernel(jobs[0], tools, gpu.info.arch), samples=15)
    assert row.key == ("kernels", "streaming/scale", jobs[0].label)
    assert row.low_ms is not None
    assert row.ms is not None
    assert row.high_ms is not None
    assert 0.0005 < row.low_ms <= row.ms <= row.high_ms < 0.1
    assert (row.samples, row.sizes) == (15, {"n": 1000})


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
    head = {"device": "NVIDIA H200", "nvcc": "13.5.37"}
    write_rows(tmp_path / "times.json", head, rows)
    assert read_head(tmp_path / "times.json") == head
    assert read_rows(tmp_path / "times.json") == rows
    assert leave_out(jobs, rows) == jobs[1:]
    write(tmp_path, SCALE.replace("alpha * x", "x"))
    assert leave_out(jobs, rows) == jobs
