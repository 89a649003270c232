"""Kernels without an exercise: outputs, counters, times and findings of runs on the emulated device,
and on a GPU."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grader
from grader.cli import main
from grader.devices.gpu.ncu import NOT_INSTALLED
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import UsageError
from grader.explore import kernels_on_gpu
from grader.explore.kernel_job import explain_unsure
from grader.explore.kernels_on_gpu import MOST_APART, added_times
from grader.grading.measure import measure
from grader.messages.counting import describe_not_counted
from grader.records import SUBMISSION, FindingKind, KernelRun, LaunchTime, Source, Status, Timing
from tests.support.clocked_gpu import ClockedGpu

N = 1000
SAXPY = """\
#define THREADS 256
// launch: saxpy<<<ceil_div(n, THREADS), THREADS>>>(y, x, alpha, n)
__global__ void saxpy(float* y, const float* x, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += alpha * x[i];
}
"""
X = np.arange(N, dtype=np.float32)
GIVEN: dict[str, Any] = {
    "inputs": {"x": X},
    "outputs": {"y": np.ones(N, dtype=np.float32)},
    "sizes": {"n": N},
    "scalars": {"alpha": 2.5},
}
TWO_LAUNCHES = """\
// scratch: float twice[n]
// launch: add<<<ceil_div(n, 256), 256>>>(twice, x, x, n)
// launch: add<<<ceil_div(n, 256), 256>>>(y, twice, x, n)
__global__ void add(float* y, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[i] + b[i];
}
"""
SEVERAL = """\
// launch: transpose<<<dim3(side / 32, side / 32), dim3(32, 32)>>>(out, in, side)
// launch: reduce<<<1, 256>>>(total, in, side * side)
// launch: widths<<<1, 1>>>(wide, real, a, b, c)
__global__ void transpose(int* out, const int* in, int side) {
  __shared__ int tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * side + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  out[y * side + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void reduce(int* total, const int* in, int n) {
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  atomicAdd(total, sum);
}
extern "C" __global__ void widths(long long* wide, double* real, long long a, double b, float c) {
  wide[0] = a;
  real[0] = b;
  real[1] = c;
  printf("a = %lld\\n", a);
}
"""
ONE_WORKS = """\
// launch: one_works<<<100000, 32>>>(y, n)
__global__ void one_works(float* y, int n) {
  if (blockIdx.x != 77777) return;
  for (int round = 0; round < 1000; ++round)
    for (int i = threadIdx.x; i < n; i += 32) y[i] = y[i] * 0.5f + round;
}
"""
SIDE = 64
IN = np.arange(SIDE * SIDE, dtype=np.int32).reshape(SIDE, SIDE)


@pytest.fixture(scope="module")
def several() -> KernelRun:
    return grader.run(
        SEVERAL,
        inputs={"in": IN},
        outputs={
            "out": ("int32", IN.shape),
            "total": np.full(1, 5, dtype=np.int32),
            "wide": ("int64", 1),
            "real": ("float64", (2,)),
        },
        sizes={"side": SIDE},
        scalars={"a": (1 << 40) + 1, "b": 0.1, "c": np.float32(0.1)},
        check=True,
        model=True,
    )


def test_outputs_of_all_widths(several: KernelRun) -> None:
    np.testing.assert_array_equal(several.outputs["out"], IN.T)
    assert several.outputs["total"].tolist() == [5 + IN.sum()]
    assert several.outputs["wide"].tolist() == [(1 << 40) + 1]
    assert several.outputs["real"].tolist() == [0.1, float(np.float32(0.1))]
    assert several.findings == ()


def test_bank_conflicts_of_a_column_are_counted_exactly(several: KernelRun) -> None:
    counters = several.launches[0].counters
    warps = SIDE * SIDE // 32
    assert counters is not None
    assert counters.shared_load_instructions == counters.shared_store_instructions == warps
    assert (counters.shared_load_wavefronts, counters.shared_store_wavefronts) == (
        32 * warps,
        warps,
    )
    assert counters.shared_wavefronts == 33 * warps
    assert counters.shared_wavefronts_ideal == 2 * warps
    assert counters.shared_bank_conflicts == 31 * warps
    conflicts = {
        line.line: line.counters.shared_bank_conflicts for line in several.launches[0].lines
    }
    assert {line: count for line, count in conflicts.items() if count} == {11: 31 * warps}
    assert counters.global_load_efficiency == counters.global_store_efficiency == 1


def test_generic_reads_of_shared_memory_make_no_global_load_efficient() -> None:
    """Nsight Compute counts their bytes as those of global memory."""
    run = grader.run(
        """\
// launch: columns<<<1, 32>>>(y, x, 0)
__global__ void columns(float* y, const float* x, int where) {
  __shared__ float kept[32];
  kept[threadIdx.x] = x[threadIdx.x * 32];
  __syncwarp();
  const float* generic = where ? x : kept;
  float sum = 0.0f;
  #pragma unroll 1
  for (int k = 0; k < 32; k++) sum += ((volatile const float*)generic)[threadIdx.x ^ k];
  y[threadIdx.x] = sum;
}
""",
        inputs={"x": np.ones(1024, dtype=np.float32)},
        outputs={"y": ("float32", (32,))},
    )
    counters = run.launches[0].counters
    assert counters is not None
    assert run.outputs["y"].tolist() == [32.0] * 32
    assert counters.global_load_bytes == 33 * 128  # as Nsight Compute has it
    assert counters.global_load_sectors == 32
    assert counters.global_load_efficiency == 1 / 8
    assert counters.global_reads.wasted_bytes == 32 * 28


def test_a_launch_tells_what_it_ran_with(several: KernelRun) -> None:
    transpose, reduce, widths = several.launches
    assert (transpose.kernel, transpose.grid, transpose.block) == (
        "transpose",
        (2, 2, 1),
        (32, 32, 1),
    )
    assert transpose.static_shared_bytes == 4096
    assert (transpose.dynamic_shared_bytes, transpose.local_bytes) == (0, 0)
    assert transpose.registers > 0
    assert reduce.counters is not None
    assert reduce.counters.global_atomic_requests > 0
    assert widths.printed == several.printed == f"a = {(1 << 40) + 1}\n"


def test_modelled_times_have_an_interval(several: KernelRun) -> None:
    for launch in several.launches:
        assert launch.time is not None
        low, high = launch.time.interval_ms
        assert 0 < low <= launch.time.ms <= high
        assert launch.time.source is Source.MODELLED
        assert launch.time.bound
        assert launch.time.kind


def test_a_launch_whose_time_is_hardly_known_is_named() -> None:
    known = LaunchTime(1.0, (0.9, 1.1), "latency", Source.MODELLED, "warps that wait")
    hardly = LaunchTime(1.0, (0.65, 1.4), "L2 stores", Source.MODELLED, "scattered stores")
    measured = LaunchTime(1.0, (0.5, 2.0), None, Source.MEASURED)
    assert explain_unsure((known, None, hardly, measured)) == (
        "Launch 3: the model does not know this kind of kernel well: its time (scattered"
        " stores) may be 35 % less or 40 % more.",
    )


def test_launches_of_one_reason_are_named_together() -> None:
    hardly = LaunchTime(1.0, (0.65, 1.4), "L2 stores", Source.MODELLED, "scattered stores")
    assert [note.partition(":")[0] for note in explain_unsure((hardly,) * 2)] == ["Launches 1, 2"]
    (note,) = explain_unsure((hardly,) * 40)
    assert note.startswith("Launches 1, 2, 3, 4, 5, 6, ... (40 in all): the model")


def test_a_launch_without_a_modelled_time_says_why() -> None:
    run = grader.run(ONE_WORKS, outputs={"y": ("float32", N)}, sizes={"n": N}, model=True)
    assert run.launches[0].time is None
    assert run.notes == (
        "Launch 1 has no modelled time: its blocks differ so much from each other that those which"
        " were traced cannot stand for all.",
    )


def test_a_path_and_its_text_run_alike(tmp_path: Path) -> None:
    path = tmp_path / "saxpy.cu"
    path.write_text(SAXPY)
    runs = [grader.run(source, **GIVEN) for source in (SAXPY, path, str(path))]
    for run in runs:
        np.testing.assert_array_equal(run.outputs["y"], 1 + np.float32(2.5) * X)
        assert run.launches == runs[0].launches
        assert run.launches[0].time is None
    assert GIVEN["outputs"]["y"].tolist() == [1] * N  # what was given stays


def test_an_access_out_of_bounds_is_an_error_or_a_finding() -> None:
    beyond = GIVEN | {"sizes": {"n": N + 1}}
    with pytest.raises(grader.SubmissionError) as failed:
        grader.run(SAXPY, **beyond)
    error = failed.value
    assert (error.status, error.line) == (Status.RUNTIME_ERROR, 5)
    assert "buffer x" in error.message
    assert error.advice
    run = grader.run(SAXPY, **beyond, check=True)
    assert [(each.kind, each.line) for each in run.findings] == [(FindingKind.OUT_OF_BOUNDS, 5)]
    assert run.outputs == {}


FETCH = """\
// launch: fetch<<<1, 32>>>(y, n)
__global__ void fetch(float* y, int n) {
  if (n > 32) { int width; asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(0ull)); y[0] = width; }
  y[threadIdx.x] += 1;
}
"""


@pytest.mark.parametrize("check", [False, True])
def test_only_a_launch_that_reaches_what_is_not_emulated_is_refused(check: bool) -> None:
    def run(n: int) -> KernelRun:
        outputs = {"y": np.ones(32, dtype=np.float32)}
        return grader.run(FETCH, outputs=outputs, sizes={"n": n}, check=check)

    assert run(32).outputs["y"].tolist() == [2] * 32
    with pytest.raises(grader.SubmissionError) as caught:
        run(33)
    assert (caught.value.status, caught.value.line) == (Status.UNSUPPORTED, 3)
    assert "does not know the instruction TXQ" in caught.value.message


def test_checked_and_plain_runs_count_the_same() -> None:
    plain, checked = (
        grader.run(TWO_LAUNCHES, check=check, **_without_y()) for check in (False, True)
    )
    assert plain.launches == checked.launches
    np.testing.assert_array_equal(plain.outputs["y"], 3 * X)
    np.testing.assert_array_equal(checked.outputs["y"], 3 * X)


def test_an_input_that_is_written_to_is_an_error() -> None:
    with pytest.raises(grader.SubmissionError, match="wrote to its input `y`") as failed:
        grader.run(SAXPY, **GIVEN | {"inputs": {"x": X, "y": X}, "outputs": {"z": ("float32", 1)}})
    assert failed.value.status is Status.RUNTIME_ERROR


@pytest.mark.parametrize(
    ("source", "status", "line", "message"),
    [
        (SAXPY.replace("alpha * x", "beta * x"), Status.COMPILE_ERROR, 5, '"beta" is undefined'),
        (SAXPY.replace("// launch:", "//"), Status.LAUNCH_ERROR, None, "has no launch line"),
        (SAXPY.replace("alpha, n)\n", "gamma, n)\n", 1), Status.LAUNCH_ERROR, 2, "'gamma' is not known"),
        (f'#include "/etc/passwd"\n{SAXPY}', Status.REJECTED, None, "may not"),
        (" ", Status.COMPILE_ERROR, None, "the file is empty"),
    ],
    ids=["compile", "no launch", "unknown", "include", "empty"],
)  # fmt: skip
def test_a_source_that_fails_says_where(
    source: str, status: Status, line: int | None, message: str
) -> None:
    with pytest.raises(grader.SubmissionError) as failed:
        grader.run(source, **GIVEN)
    assert (failed.value.status, failed.value.line) == (status, line)
    if status is not Status.REJECTED:
        assert message in failed.value.message


def test_without_a_launch_line_one_is_shown() -> None:
    with pytest.raises(grader.SubmissionError) as failed:
        grader.run(SAXPY.replace("// launch:", "//"), **GIVEN)
    assert "// launch: saxpy<<<ceil_div(n, 256), 256>>>(x, y, alpha, n)" in failed.value.advice


def test_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"no_such\.cu does not exist"):
        grader.run("no_such.cu", **GIVEN)
    with pytest.raises(UsageError, match="there is no device"):
        grader.run(SAXPY, **GIVEN, device="abacus")
    with pytest.raises(UsageError, match="'x' is given, and line 1 declares it"):
        grader.run(f"// scratch: int x[n]\n{SAXPY}", **GIVEN)


def test_the_command_prints_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("saxpy.cu").write_text(SAXPY)
    command = [
        "run",
        "saxpy.cu",
        "--size",
        "n=1000",
        "--input",
        "x=index:n",
        "--device",
        "emulated",
    ]
    command += ["--output", "y=small_integers:n"]
    assert main([*command, "--scalar", "alpha=2.0", "--save", "y=y.npy", "--json", "run.json"]) == 0
    assert "global_load_sectors" in capsys.readouterr().out
    saved, told = np.load("y.npy"), json.loads(Path("run.json").read_text())
    assert told["outputs"]["y"]["max"] == saved.max()
    assert told["launches"][0]["counters"]["global_store_sectors"] == N // 8
    assert main([*command, "--scalar", "alpha=2", "--json", "-"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["status"], error["line"]) == ("launch_error", 2)
    assert main([*command, "--save", "z=z.npy"]) == 2


def test_the_command_needs_no_type_and_no_shape_and_annotates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "saxpy.cu"
    path.write_text(SAXPY)
    command = ["run", str(path), "--size", "n=1000", "--scalar", "alpha=2.0", "--output", "y=index"]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "nothing is given for 'x': in line 2 saxpy takes 'x' as 'const float* x'" in told
    assert "Add --input x=normal, for example." in told
    assert main([*command, "--input", "x=index", "--annotate"]) == 0
    rows = {line[:4].strip("> "): line for line in capsys.readouterr().out.splitlines()}
    assert rows["5"].split()[-6:] == ["3.9", "100", "%", "3.9", "100", "%"]
    assert main([*command, "--input", "x=index", "--annotate", "--json", "-"]) == 2
    path.write_text("// launch: k<<<1, 1>>>(x)\n__global__ void k(int* x) {}\n")
    assert main(["run", str(path), "--input", "x=index:1"]) == 2
    assert "--output y=float32:n" in capsys.readouterr().err


def test_arrays_without_axes_keep_their_shape() -> None:
    source = "// launch: k<<<1, 1>>>(y, x, z)\n__global__ void k(int* y, int* x, int* z) { *y += *x; *z = 7; }"
    held = {"y": np.array(3, np.int32), "z": ("int32", ())}
    run = grader.run(source, inputs={"x": np.array(4, np.int32)}, outputs=held)
    assert {name: (array.shape, int(array)) for name, array in run.outputs.items()} == {
        "y": ((), 7),
        "z": ((), 7),
    }
    assert "<td" in (run._repr_html_() or "")


def test_a_traceback_shows_all_words_of_a_failure() -> None:
    with pytest.raises(grader.SubmissionError) as caught:
        grader.run(SAXPY.replace("if (i < n)", "if (i < m)"), **GIVEN)
    assert '"m" is undefined' in caught.value.detail
    assert caught.value.detail in caught.value.__notes__


def test_the_time_of_a_launch_is_what_it_adds() -> None:
    timings = [Timing("first 1", 1.0, (0.9, 1.2), ()), Timing("all", 3.0, (2.8, 3.1), ())]
    first, second = added_times(timings)
    assert first is not None
    assert second is not None
    assert (first.ms, first.interval_ms) == (1.0, (0.9, 1.2))
    assert second.ms == 2.0
    assert second.interval_ms == pytest.approx((1.6, 2.2))


def test_a_launch_that_adds_less_than_the_clock_tells_takes_no_time_and_not_less() -> None:
    timings = [Timing("first 1", 1.0, (0.9, 1.2), ()), Timing("all", 0.99, (0.9, 1.1), ())]
    added = added_times(timings)[1]
    assert added is not None
    assert (added.ms, added.interval_ms) == (0.0, (0.0, pytest.approx(0.2)))


def _without_y() -> dict[str, Any]:
    return {"inputs": {"x": X}, "outputs": {"y": ("float32", N)}, "sizes": {"n": N}}


@pytest.mark.usefixtures("cuda_driver")
def test_a_run_on_a_gpu_is_timed_launch_by_launch(request: pytest.FixtureRequest) -> None:
    run = grader.run(TWO_LAUNCHES, **_without_y(), device="gpu", check=True)
    np.testing.assert_array_equal(run.outputs["y"], 3 * X)
    times = [launch.time for launch in run.launches]
    assert all(time and time.source is Source.MEASURED and 0 < time.ms < 0.1 for time in times)
    assert [bool(launch.lines) for launch in run.launches] == [True, True]
    assert [launch.counters is not None for launch in run.launches] == [True, True]
    assert run.findings == ()
    if not request.config.getoption("--run-gpu"):
        not_installed = describe_not_counted(NOT_INSTALLED)[0]
        assert run.notes == (f"Counters are those of the emulated device: {not_installed}.",)


@pytest.mark.usefixtures("cuda_driver")
def test_many_launches_are_timed_together() -> None:
    line = "// launch: add<<<ceil_div(n, 256), 256>>>(y, twice, x, n)\n"
    run = grader.run(TWO_LAUNCHES.replace(line, line * MOST_APART), **_without_y(), device="gpu")
    assert [launch.time for launch in run.launches] == [None] * (MOST_APART + 1)
    assert any(note.startswith("The 13 launches took ") for note in run.notes)


@pytest.mark.usefixtures("cuda_driver")
def test_outputs_that_differ_from_run_to_run_are_not_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def open_device(name: str, *, isolated: bool = True) -> ClockedGpu | RemoteDevice:
        return gpu.named(name) if name.startswith("gpu") else RemoteDevice(name, isolated=isolated)

    gpu = ClockedGpu({SUBMISSION: 0.5}, wrong=frozenset({0}))
    monkeypatch.setattr(kernels_on_gpu, "RemoteDevice", open_device)
    monkeypatch.setattr(kernels_on_gpu, "measure", partial(measure, clock=gpu.clock))
    run = grader.run(SAXPY, **GIVEN, device="gpu")
    assert run.launches[0].time is None
    assert "do not give the same outputs" in run.notes[0]


@pytest.mark.usefixtures("cuda_driver")
def test_a_gpu_runs_counts_and_times() -> None:
    run = grader.run(SAXPY, **GIVEN, device="gpu", check=True)
    np.testing.assert_array_equal(run.outputs["y"], 1 + np.float32(2.5) * X)
    assert run.findings == ()
    (launch,) = run.launches
    assert launch.time is not None, run.notes
    assert (launch.time.source, launch.time.bound) == (Source.MEASURED, None)
    assert launch.counters is not None, run.notes
    assert launch.counters.global_store_sectors == N // 8
