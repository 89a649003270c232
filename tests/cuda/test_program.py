"""Programs run by `grade exec` and `grader.exec_program`: their input, output and exit code."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import grader
from grader.records.timeline import ActivityKind
from tests.cuda.compiling import compile_program

ECHO = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <unistd.h>
int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "abort")) abort();
    if (count > 1 && !strcmp(words[1], "sleep")) { sleep(30); return 1; }
    if (count > 1 && !strcmp(words[1], "catch")) {
        signal(SIGINT, [](int) { puts("caught"); fflush(stdout); _exit(9); });
        write(1, "ready\\n", 6); sleep(30); return 1;
    }
    int c; while ((c = getchar()) != EOF) putchar(c);
    for (int i = 1; i < count; ++i) fprintf(stderr, "[%s]", words[i]);
    return 7;
}
"""
STREAMS = """\
#include <cstdio>
__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i] + 1;
}
int main() {
    const int n = 1 << 20;
    float *host, *device;
    cudaMallocHost(&host, n * sizeof(float));
    cudaMalloc(&device, n * sizeof(float));
    for (int i = 0; i < n; ++i) host[i] = i % 100;
    cudaStream_t streams[2];
    cudaEvent_t start, stop;
    cudaEventCreate(&start); cudaEventCreate(&stop);
    for (auto &stream : streams) cudaStreamCreate(&stream);
    cudaEventRecord(start);
    for (int chunk = 0; chunk < 4; ++chunk) {
        int at = chunk * n / 4;
        cudaStream_t stream = streams[chunk % 2];
        cudaMemcpyAsync(device + at, host + at, n, cudaMemcpyHostToDevice, stream);
        scale<<<n / 4 / 256, 256, 0, stream>>>(device + at, n / 4);
        cudaMemcpyAsync(host + at, device + at, n, cudaMemcpyDeviceToHost, stream);
    }
    cudaEventRecord(stop);
    cudaDeviceSynchronize();
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    for (int i = 0; i < n; ++i) if (host[i] != 2 * (i % 100) + 1) return 1;
    printf("right in %d us\\n", (int)(1000 * ms));
    cudaFree(device); cudaFreeHost(host);
    return 0;
}
"""
CLOCKS = """\
#include <cstdio>
__global__ void spin(long long *times, long long cycles) {
    unsigned long long now;
    long long start = clock64();
    while (clock64() - start < cycles) ;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    times[0] = start; times[1] = clock64(); times[2] = now;
}
int main() {
    long long *times, host[3];
    cudaMalloc(&times, sizeof host);
    cudaEvent_t start, stop;
    cudaEventCreate(&start); cudaEventCreate(&stop);
    for (int i = 0; i < 4; ++i) {
        cudaEventRecord(start);
        spin<<<1, 1>>>(times, 175500);
        cudaEventRecord(stop);
        cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost);
        float ms;
        cudaEventElapsedTime(&ms, start, stop);
        printf("%lld %lld %lld %g\\n", host[0], host[1], host[2], ms);
    }
    cudaFree(times);
}
"""


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    path = tmp_path / "echo.cu"
    path.write_text(ECHO)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The echo program, compiled."""
    path = tmp_path_factory.mktemp("echo") / "echo.cu"
    path.write_text(ECHO)
    return str(compile_program(path))


def grade(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "grader", "exec", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_input_output_and_exit_code_are_the_programs_own(echo: Path) -> None:
    run = grader.exec_program(echo, args=["a b", "c"], stdin="some text")
    assert (run.exit_code, run.stdout, run.stderr) == (7, "some text", "[a b][c]")


def test_a_signal_is_128_more(program: str) -> None:
    run = grader.exec_program(command=[program, "abort"])
    assert run.exit_code == 128 + signal.SIGABRT


def test_a_program_that_takes_too_long_is_ended(program: str) -> None:
    start = time.monotonic()
    run = grader.exec_program(command=[program, "sleep"], timeout_s=1.0)
    assert run.exit_code == 128 + signal.SIGKILL
    assert time.monotonic() - start < 25


def test_the_command_has_the_programs_exit_code(program: str) -> None:
    done = grade("--", program, "x", input="text")
    assert (done.returncode, done.stdout) == (7, "text")
    assert "[x]" in done.stderr
    assert "exit code 7" in done.stderr.splitlines()[-3]


def test_an_interrupt_is_the_programs(program: str) -> None:
    command = [sys.executable, "-m", "grader", "exec", "--", program, "catch"]
    with start_group(command) as process:
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate()[0] == "caught\n"
    assert process.returncode == 9


def test_a_signal_ends_all_processes_with_one_line(program: str) -> None:
    with start_group([sys.executable, "-m", "grader", "exec", "--", program, "catch"]) as process:
        os.killpg(process.pid, signal.SIGTERM)
        assert "Traceback" not in process.communicate()[1]


ENDLESS = """
#include <cstdio>
__global__ void spin(long *x) { for (long n = 0; n < 1l << 60; n++) *x = *x * 3 + n; }
int main()
{
    long *x;
    cudaMalloc(&x, 8);
    puts("ready");
    fflush(stdout);
    spin<<<1, 1>>>(x);
    return cudaDeviceSynchronize();
}
"""


def test_no_process_of_the_device_outlives_a_killed_command(tmp_path: Path) -> None:
    source = tmp_path / "spin.cu"
    source.write_text(ENDLESS)
    command = [sys.executable, "-m", "grader", "exec", str(source), "--no-model"]
    with start_group(command) as process:
        ours = list_group(process.pid)
        assert len(ours) >= 3  # the command, the server and the session
        process.kill()
        end = time.monotonic() + 5
        while process.poll() is None or (list_group(process.pid) and time.monotonic() < end):
            time.sleep(0.02)
        left = list_group(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
    assert not left


def list_group(group: int) -> list[int]:
    """The running Python processes of a process group."""
    python, found = Path(sys.executable).resolve(), []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            running = int(fields[2]) == group and fields[0] != "Z"
            if running and (folder / "exe").readlink() == python:
                found.append(int(folder.name))
    return found


def start_group(command: list[str]) -> subprocess.Popen[str]:
    """A program that has printed `ready`, in a process group of its own."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_mistake_is_shown_as_nvcc_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text("int main() { return unknown; }")
    done = grade(str(path))
    assert done.returncode == 1
    assert 'wrong.cu(1): error: identifier "unknown" is undefined' in done.stderr
    assert "--nvcc=OPTION" in done.stderr


def test_local_headers_and_several_files(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "twice.h").write_text("__device__ int twice(int x);\n")
    (tmp_path / "twice.cu").write_text(
        '#include "twice.h"\n__device__ int twice(int x) { return 2 * x; }\n'
    )
    (tmp_path / "main.cu").write_text(
        '#include "twice.h"\n__global__ void k(int *x) { *x = twice(*x); }\n'
        "int main() { int *x; cudaMallocManaged(&x, 4); *x = 4; k<<<1, 1>>>(x);"
        " cudaDeviceSynchronize(); return *x; }\n"
    )
    options = ["-rdc=true", "-Iinclude"]
    run = grader.exec_program(["main.cu", "twice.cu"], nvcc=options, cwd=tmp_path)
    assert run.exit_code == 8


def test_a_program_is_named_as_if_it_lay_beside_its_source(tmp_path: Path) -> None:
    (tmp_path / "name.cu").write_text(
        "#include <cstdio>\nint main(int, char **words) { puts(words[0]); }\n"
    )
    assert grader.exec_program("name.cu", cwd=tmp_path).stdout == "./name\n"
    path = tmp_path / "name.cu"
    assert grader.exec_program(path).stdout == f"{path.with_suffix('')}\n"


def test_make_builds_and_runs_a_program(tmp_path: Path, echo: Path) -> None:
    (tmp_path / "Makefile").write_text(
        "test: echo\n\t./echo x\necho: echo.cu\n\tnvcc -arch=sm_30 -o $@ $<\n"
    )
    run = grader.exec_program(command=["make", "-s", "test"], cwd=tmp_path)
    assert "[x]" in (run.stderr or "")
    assert run.exit_code == 2


def test_streams_overlap_and_the_report_has_all_parts(tmp_path: Path) -> None:
    path = tmp_path / "streams.cu"
    path.write_text(STREAMS)
    files = [f"--{name}={tmp_path / 'out'}.{name}" for name in ("json", "csv", "html", "trace")]
    done = grade(str(path), *files)
    assert done.returncode == 0, done.stdout + done.stderr
    plain = json.loads((tmp_path / "out.json").read_text())
    (kernel,) = plain["kernels"]
    assert (kernel["kernel"], kernel["launches"], kernel["grid"]) == ("scale", 4, [1024, 1, 1])
    assert kernel["counters"]["global_load_sectors"] == 4 * (1 << 20) // 32
    kinds = [entry["kind"] for entry in plain["timeline"]]
    assert (kinds.count("kernel"), kinds.count("copy")) == (4, 8)
    shown_us = int(done.stdout.split()[2])
    assert 90 < shown_us < 160
    assert (tmp_path / "out.csv").read_text().count("scale") == 4
    assert "Timeline" in (tmp_path / "out.html").read_text()
    assert "scale" in done.stderr
    again = grader.exec_program(command=[str(compile_program(path))])
    assert again.stdout == done.stdout
    copies = [entry for entry in again.timeline if entry.kind is ActivityKind.COPY]
    assert any(
        one.start_ms < other.end_ms and other.start_ms < one.end_ms
        for one in copies
        for other in copies
        if one.name != other.name
    )


def test_clocks_follow_the_modelled_clock(tmp_path: Path) -> None:
    path = tmp_path / "clocks.cu"
    path.write_text(CLOCKS)
    command = [str(compile_program(path))]
    first = grader.exec_program(command=command)
    rows = [list(map(float, line.split())) for line in (first.stdout or "").splitlines()]
    cycles = [each for row in rows for each in row[:2]]
    timers = [row[2] for row in rows]
    assert cycles == sorted(cycles)
    assert timers == sorted(timers)
    for start, end, timer, ms in rows:
        assert 175_500 <= end - start < 176_000
        assert 0.1 < ms < 0.12
        assert abs(timer - end / 1.75) < 100
    assert grader.exec_program(command=command).stdout == first.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a source file, or a command"),
        (["none.cu"], "there is no file none.cu"),
        (["--", "no-such-command"], "there is no command 'no-such-command'"),
        (["--device", "gpu:first", "a.cu"], "there is no GPU 'first'"),
        (["--devices", "0", "a.cu"], "a program needs a GPU"),
        (["--html", "-", "a.cu"], "only --json has the form -"),
    ],
)
def test_bad_usage_ends_with_2(words: list[str], message: str) -> None:
    done = grade(*words)
    assert done.returncode == 2
    assert message in done.stderr
