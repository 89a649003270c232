"""Programs on a GPU: traces, counts and logs of the tools, and the confinement that the driver's
files and calls need. The logs have the format of compute-sanitizer 2025 and of older versions."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest

import grader
from grader.cuda.confined import Builder, RunOrder, make_builder
from grader.cuda.gpu.activities import parse_trace
from grader.cuda.gpu.counts import add_counts, count_command
from grader.cuda.gpu.real_gpu import RealGpu
from grader.cuda.gpu.runs import run_plain
from grader.cuda.gpu.sanitizer import is_complete, parse_findings, parse_mistakes
from grader.cuda.gpu.tracer import find_tracer
from grader.devices.gpu.ncu_metrics import parse_named_counts, required_metrics
from grader.devices.gpus import read_gpus
from grader.grading.tools import find_toolchain
from grader.judging.overlaps import estimate_time, find_link_floor, measure_overlap, measure_work
from grader.records import FindingKind, NotCounted, Source, ToolLimits
from grader.records.program_run import ProgramRun
from grader.sandbox.landlock import landlock_version
from grader.sandbox.process import run_tool
from grader.sandbox.system_calls import filter_known

H100 = read_gpus()["h100"]
SYMBOL = "_Z6smoothPfPKfif"
TRACE = (
    "copy\t1000000\t3000000\t0\t13\t10\t8388608\t1\n"
    + "kernel\t3000000\t4000000\t0\t13\t11\t16 1 1\t128 1 1\t40\t0\t0\t512\t_Z6smoothPfPKfif\n"
    + "copy\t2000000\t4000000\t0\t14\t20\t8388608\t1\n"
    + "copy\t4000000\t6000000\t0\t13\t12\t8388608\t2\n"
    + "kernel\t4000000\t5000000\t0\t14\t21\t16 1 1\t128 1 1\t40\t0\t0\t512\t_Z6smoothPfPKfif\n"
    + "set\t6000000\t6500000\t0\t7\t30\t64\t0\n"
    + "end\n"
)


def traced(text: str = TRACE) -> ProgramRun:
    run = parse_trace(text, gpu=H100, run=run_tool)
    assert run is not None
    return run


def test_a_trace_has_kernels_and_measured_times() -> None:
    run = traced()
    (kernel,) = run.kernels
    assert (kernel.kernel, kernel.launches, kernel.registers) == ("smooth", 2, 40)
    assert kernel.time is not None
    assert (kernel.time.ms, kernel.time.source) == (2.0, Source.MEASURED)
    assert [launch.stream for launch in run.launches] == [13, 14]
    assert not run.counted


def test_a_trace_gives_time_overlap_and_work() -> None:
    run = traced()
    time = estimate_time(run)
    assert time is not None
    assert time.value == 5.5
    assert measure_overlap(run) == pytest.approx(3 / 5.5)
    work = measure_work(run)
    assert (work.to_device_bytes, work.to_host_bytes, work.threads) == (2 << 23, 1 << 23, 4096)


def test_a_trace_without_an_end_proves_nothing() -> None:
    assert parse_trace(TRACE.removesuffix("end\n"), gpu=H100, run=run_tool) is None
    assert parse_trace("", gpu=H100, run=run_tool) is None


def test_a_run_without_cuda_has_no_times() -> None:
    run = traced("end\n")
    assert (run.kernels, estimate_time(run), measure_overlap(run)) == ((), None, None)


def test_the_link_limits_the_time() -> None:
    assert find_link_floor(63_000_000, 126_000_000, 63.0) == pytest.approx(2.0)
    assert find_link_floor(None, None, 63.0) == 0


def ncu_log(*launches: tuple[str, str, str, int]) -> str:
    """A log of ncu with these launches: name, grid, block, and the value of every metric."""
    names = required_metrics("sm_90")
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(["ID", "Kernel Name", "Block Size", "Grid Size", *names])
    writer.writerow(["", "", "", "", *("" for _ in names)])
    for number, (symbol, grid, block, value) in enumerate(launches):
        writer.writerow([number, symbol, block, grid, *(value for _ in names)])
    return f"==PROF== Connected to process 870 (/tmp/program)\n{text.getvalue()}"


LAUNCH = (SYMBOL, "(16, 1, 1)", "(128, 1, 1)")


def test_counts_belong_to_the_launches_of_the_trace() -> None:
    run = add_counts(traced(), ncu_log((*LAUNCH, 3), (*LAUNCH, 5)), "sm_90")
    assert isinstance(run, ProgramRun)
    assert run.counted
    assert [each.counters and each.counters.instructions_executed for each in run.launches] == [
        3,
        5,
    ]
    assert run.kernels[0].counters.instructions_executed == 8


@pytest.mark.parametrize(
    "launches", [(), ((*LAUNCH, 3),), ((*LAUNCH, 3), (SYMBOL, "(1, 1, 1)", "(128, 1, 1)", 3))]
)
def test_counts_of_other_launches_are_refused(
    launches: tuple[tuple[str, str, str, int], ...],
) -> None:
    assert isinstance(add_counts(traced(), ncu_log(*launches), "sm_90"), NotCounted)


def test_the_names_of_kernels_are_read_from_a_log_of_ncu() -> None:
    log = (Path(__file__).parents[1] / "data" / "ncu" / "h100.csv").read_text()
    counted = parse_named_counts(log, "sm_90")
    assert not isinstance(counted, NotCounted)
    assert len(counted) == 7
    assert counted[2].symbol.startswith("t_conflict")
    assert counted[2].count.counters.shared_bank_conflicts > 0


def test_the_command_of_ncu_names_all_metrics() -> None:
    command = count_command(Path("ncu"), Path("log"), "sm_90")
    assert command[-1].split(",") == list(required_metrics("sm_90"))
    assert command[command.index("--print-kernel-base") + 1] == "mangled"


MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, int)+0x380 in twice.cu:61
=========     by thread (65,0,0) in block (2,0,0)
=========     Access to 0x7bd889c03041 is out of bounds
=========     and is inside the nearest allocation at 0x7bd889c03000 of size 1,024 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main in twice.cu:80 [0x8ae3] in program
=========
========= Invalid __shared__ read of size 16 bytes
=========     at 0x9670 in void tile<(int)4>(float *)
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x8 is misaligned
========= ERROR SUMMARY: 2 errors
"""
OTHERS = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at 0x250 in twice.cu:41:add(int*)
=========     by thread (16,0,0) in block (0,0,0)
=========
========= Error: Race reported between Write access at reduce(const float *, float *)+0x70 in r.cu:5
=========     and Read access at reduce(const float *, float *)+0x90 in r.cu:9 [12 hazards]
=========
========= Barrier error detected. Divergent thread(s) in warp.
=========     at skip(int *)+0xa0 in s.cu:61
=========     by thread (19,0,0) in block (0,0,0)
========= ERROR SUMMARY: 3 errors
"""


def test_findings_of_memcheck() -> None:
    outside, misaligned = parse_findings(MEMCHECK)
    assert (outside.kind, outside.kernel, outside.line) == (FindingKind.OUT_OF_BOUNDS, "scale", 61)
    assert outside.message == "line 61: write of 4 bytes in global memory, outside of its memory"
    assert (str(outside.block), str(outside.thread)) == ("(2, 0, 0)", "(65, 0, 0)")
    assert (misaligned.kind, misaligned.line) == (FindingKind.MISALIGNED, None)
    assert misaligned.kernel is not None
    assert misaligned.kernel.startswith("tile<")


def test_findings_of_the_other_tools() -> None:
    unwritten, race, barrier = parse_findings(OTHERS)
    assert (unwritten.kind, unwritten.kernel) == (FindingKind.UNINITIALIZED_READ, "add")
    assert (race.kind, race.line, race.other_line) == (FindingKind.RACE, 5, 9)
    assert (barrier.kind, barrier.kernel) == (FindingKind.BARRIER_DIVERGENCE, "skip")


def test_a_log_without_a_summary_is_incomplete() -> None:
    assert is_complete(MEMCHECK)
    assert not is_complete(MEMCHECK.rpartition("ERROR SUMMARY")[0])


HOST = """\
__attribute__((noipa)) int cudaMalloc_() { return 1; }
int *volatile kept;
int main()
{
    kept = new int;
    cudaMalloc_();
    *kept = 0;
    if (cudaMalloc_() != 0)
        *kept = 1;
    return *kept;
}
"""


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs binutils")
def test_mistakes_in_host_code_have_lines(tmp_path: Path) -> None:
    """A log whose frames are the real addresses of a program."""
    program = tmp_path / "program"
    (tmp_path / "host.cpp").write_text(HOST)
    done = run_tool(
        ["g++", "-g", "-O1", "-fno-inline", str(tmp_path / "host.cpp"), "-o", str(program)]
    )
    assert done.returncode == 0, done.stderr
    listing = run_tool(["objdump", "-d", "--no-show-raw-insn", str(program)]).stdout.splitlines()
    calls = [n for n, line in enumerate(listing) if "call" in line and "cudaMalloc_" in line]
    ignored, used = (int(listing[n + 1].partition(":")[0], 16) for n in calls)
    log = "========= COMPUTE-SANITIZER\n"
    for address in (ignored, used):
        log += (
            "========= Program hit cudaErrorInvalidValue (error 1) due to"
            ' "invalid argument" on CUDA API call to cudaMemcpy.\n'
            "=========     Saved host backtrace up to driver entry point at error\n"
            "=========         Host Frame: cudaMemcpy [0x70aae] in program\n"
            f"=========         Host Frame: main in host.cpp:1 [{address:#x}] in program\n"
        )
    log += (
        "========= Leaked 4,092 bytes at 0x7b95b4000000\n"
        "=========     Saved host backtrace up to driver entry point at allocation time\n"
        "=========     Host Frame:cudaMalloc [0x527bb]\n"
        "=========                in /usr/lib/libcudart.so.12\n"
        f"=========     Host Frame:main [{ignored:#x}]\n"
        f"=========                in ./program\n"
        "========= ERROR SUMMARY: 3 errors\n"
    )
    unchecked, leak = parse_mistakes(log, program, run_tool)
    assert (unchecked.kind, unchecked.place and unchecked.place.line) == ("unchecked_error", 6)
    assert leak.message == "4,092 bytes of cudaMalloc are never freed"
    assert leak.place is not None
    assert leak.place.line == 6


def test_the_tracer_compiles_where_cupti_is_installed(cache: Path) -> None:
    tools = find_toolchain(prefer_wheel=False, cache=cache)
    tracer = find_tracer(tools.nvcc, cache)
    if isinstance(tracer, str):
        assert "CUPTI" in tracer
        pytest.skip(tracer)
    assert "InitializeInjection" in run_tool(["nm", "-D", str(tracer.library)]).stdout


REFUSED = (
    *("fork", "clone", "shell", "setsid", "kill parent", "network", "udp", "unix socket"),
    *("ptrace", "memory file", "environment", "limit of parent"),
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, Builder]:
    folder = tmp_path_factory.mktemp("hostile") / "build"
    folder.mkdir()
    tools = find_toolchain(prefer_wheel=True, cache=cache)
    builder = make_builder(tools, "sm_90", cache=cache, isolated=True)
    text = (Path(__file__).parents[1] / "sandbox" / "hostile.cu").read_text()
    done = builder.build({"hostile.cu": text}, ["hostile.cu"], [], folder, ToolLimits())
    assert done.returncode == 0, done.stderr
    return folder / "program", builder


@pytest.mark.skipif(landlock_version() == 0 or not filter_known(), reason="needs Landlock, seccomp")
def test_attacks_are_refused_with_the_rights_of_the_driver(
    hostile: tuple[Path, Builder], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, builder = hostile
    monkeypatch.setenv("LD_LIBRARY_PATH", str(builder.libraries))
    gpu = RealGpu(H100.emulated_info, "GPU-0", H100)
    answers = {}
    for attack in REFUSED:
        ran = run_plain(RunOrder(program, builder.libraries, (attack,)), gpu)
        answers[attack] = ran.found.stdout
    for path in ("/etc/passwd", "/proc/1/environ", str(Path(__file__))):
        order = RunOrder(program, builder.libraries, ("read", path))
        answers[path] = run_plain(order, gpu).found.stdout
    assert set(answers.values()) == {"refused\n"}, answers
    order = RunOrder(program, builder.libraries, ("write", "/proc/thread-self/comm"))
    assert run_plain(order, gpu).found.stdout == "done\n", "the driver names its threads"


LEAKING = r"""
#include <cstdio>
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main()
{
    const int n = 1 << 20;
    static float host[n];
    for (int i = 0; i < n; i++) host[i] = i;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<n / 256, 256>>>(x, n);
    cudaMemcpy(host, x, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%.0f\n", host[n - 1]);
    return 3;
}
"""


@pytest.mark.gpu
def test_exec_on_a_gpu_reports_measured_times() -> None:
    run = grader.exec_program(LEAKING, device="gpu")
    assert (run.exit_code, run.stdout, run.counted) == (3, "2097150\n", False)
    (kernel,) = run.kernels
    assert (kernel.kernel, kernel.launches) == ("twice", 1)
    assert kernel.time is not None
    assert kernel.time.source is Source.MEASURED
    assert 0.001 < kernel.time.ms < 1
    assert [entry.kind.value for entry in run.timeline] == ["copy", "kernel", "copy"]


@pytest.mark.gpu
def test_exec_check_on_a_gpu_finds_a_leak() -> None:
    run = grader.exec_program(LEAKING, device="gpu", check=True)
    assert (run.exit_code, run.checked, run.kernels) == (3, True, ())
    (leak,) = run.host_findings
    assert leak.kind == "leak"
    assert leak.place is not None
    assert LEAKING.splitlines()[leak.place.line - 1].strip().startswith("cudaMalloc")
