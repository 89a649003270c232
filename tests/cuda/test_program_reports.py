"""Reports on a program's run: terminal, JSON, CSV, trace, HTML, and host findings as sentences."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from grader.cuda.sessions import join_sessions
from grader.messages.host_findings import ROWS, describe_host_findings
from grader.messages.programs import advise_on_compilation, explain_missing
from grader.records import Bound, Counters, Dim3, Finding, FindingKind, LineCounters, Modelled
from grader.records.program_run import ProgramRun
from grader.records.programs import (
    Frame,
    HostFinding,
    HostPlace,
    LaunchGroup,
    ProgramLaunch,
    SessionRecord,
)
from grader.records.timeline import ActivityKind, TimelineEntry
from grader.report.html.program import render_program_fragment, render_program_page
from grader.report.program_csv import format_csv
from grader.report.program_page import format_program, print_program, print_program_lines
from grader.report.program_trace import write_program_trace
from grader.sandbox.process import run_tool

SOURCE = (
    "#include <x>\n__global__ void scale(float *x)\n{\n  x[threadIdx.x] *= 2;\n}\nint main() {}\n"
)
COUNTERS = Counters(
    instructions_executed=100,
    global_load_requests=10,
    global_load_sectors=80,
    global_load_sectors_ideal=40,
    global_load_bytes=1280,
    shared_load_wavefronts=30,
    shared_wavefronts_ideal=10,
)
MODELLED = Modelled(
    0.002,
    4096,
    (Bound("DRAM", 0.8, "Move fewer bytes."),),
    8,
    8,
    kind="small",
    interval_ms=(0.0016, 0.003),
)


def group(source: Path, *, grid: int = 8, launches: int = 2) -> LaunchGroup:
    return LaunchGroup(
        *("scale", Dim3(grid), Dim3(32), 16, 0, 1024, 0, 0.5),
        symbol="_Z5scalePf",
        source=str(source),
        launches=launches,
        counters=COUNTERS,
        lines=(LineCounters(4, COUNTERS),),
        instructions=100 * launches,
        modelled=MODELLED,
    )


def session(source: Path, **changes: object) -> SessionRecord:
    launches = tuple(ProgramLaunch(0, 0, 3 + n, 0, 100, COUNTERS, 0.002) for n in (0, 1))
    entries = (
        TimelineEntry(ActivityKind.COPY, "host to device", 0, 0, 0.0, 0.5, 1 << 20),
        TimelineEntry(ActivityKind.KERNEL, "scale", 0, 3, 0.5, 0.502, launch=0),
        TimelineEntry(ActivityKind.WAIT, "stream synchronize", 0, None, 0.1, 0.502),
    )
    found = Finding(FindingKind.RACE, "two threads write x[3]", "scale", 4)
    made = SessionRecord(1, "emulated H100", (group(source),), launches, (found,), timeline=entries)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "scale.cu"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def run(source: Path) -> ProgramRun:
    return join([session(source)])


def join(sessions: list[SessionRecord]) -> ProgramRun:
    return join_sessions(sessions, exit_code=3, modelled=True, checked=True, run=run_tool)


def printed(run: ProgramRun) -> str:
    text = io.StringIO()
    console = Console(file=text, width=80)
    print_program_lines(run, console=console)
    print_program(run, console=console, details="above")
    return text.getvalue()


def test_processes_are_joined(source: Path) -> None:
    run = join([session(source), session(source, groups=(group(source, grid=9), group(source)))])
    assert [(each.grid.x, each.launches) for each in run.kernels] == [(8, 4), (9, 2)]
    assert [each.group for each in run.launches] == [0, 0, 1, 1]
    assert [each.launch for each in run.timeline] == [None, 0, None, None, 2, None]
    assert run.kernels[0].counters == COUNTERS + COUNTERS
    assert run.kernels[0].lines == (LineCounters(4, COUNTERS + COUNTERS),)


def test_times_are_summed_with_their_interval(run: ProgramRun) -> None:
    time = run.kernels[0].time
    assert time is not None
    assert time.ms == pytest.approx(0.004)
    assert time.interval_ms == pytest.approx((0.0032, 0.006))
    assert time.bound == "DRAM"


def test_the_report_fits_a_narrow_terminal(run: ProgramRun) -> None:
    text = printed(run)
    lines = text[text.index("emulated H100") :].splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.partition(":")[0] for line in lines[-3:]] == ["Program", "Next", "Details"]
    for part in ("scale", " 8 ", "0.004", "DRAM", "50 %", "two threads write x[3]"):
        assert part in text, part
    assert "exit code 3, 1 kernel, 2 launches, 1 finding" in text


def test_the_lines_of_the_source_have_their_cost(run: ProgramRun) -> None:
    row = next(line for line in printed(run).splitlines() if "*= 2" in line)
    assert "100" in row


def test_json_has_all_parts(run: ProgramRun) -> None:
    plain = json.loads(format_program(run))
    assert plain["exit_code"] == 3
    assert plain["kernels"][0]["counters"]["global_load_sectors"] == 80
    assert plain["kernels"][0]["time"]["ms"] == pytest.approx(0.004)
    assert plain["launches"][1]["stream"] == 4
    assert plain["findings"][0]["line"] == 4
    assert plain["timeline"][0]["kind"] == "copy"
    assert plain["host_findings"] == []


def test_csv_has_the_columns_of_nsight_compute(run: ProgramRun) -> None:
    names, units, *rows = csv.reader(io.StringIO(format_csv(run)))
    assert len(names) == len(units) == len(set(names))
    first = dict(zip(names, rows[0], strict=True))
    assert len(rows) == 2
    assert first["Kernel Name"] == "scale"
    assert first["Grid Size"] == "(8, 1, 1)"
    assert first["gpu__time_duration.sum"] == "2000"
    assert first["smsp__inst_executed.sum"] == "100"
    assert first["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum"] == "80"
    assert first["derived__memory_l1_wavefronts_shared_excessive"] == "20"
    assert dict(zip(names, units, strict=True))["gpu__time_duration.sum"] == "nsecond"


def test_the_trace_has_a_track_per_stream(run: ProgramRun, tmp_path: Path) -> None:
    write_program_trace(tmp_path / "trace.json", run)
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    tracks = {each["args"]["name"] for each in events if each["name"] == "thread_name"}
    assert tracks == {"host", "default stream", "stream 3"}
    kernel = next(each for each in events if each.get("cat") == "kernel")
    assert (kernel["ts"], kernel["dur"]) == (pytest.approx(500), pytest.approx(2))
    assert kernel["args"]["grid"] == "(8, 1, 1)"


def test_the_page_has_tables_timeline_and_source(run: ProgramRun) -> None:
    hostile = replace(run, stdout="<script>alert(1)</script>")
    for html in (render_program_page(hostile, "a<b"), render_program_fragment(hostile)):
        assert "<script>alert" not in html
        assert html.count("<rect") >= 3
        for part in ("DRAM", "two threads write x[3]", "*= 2", "Timeline"):
            assert part in html, part


def test_a_run_without_calls_has_a_report() -> None:
    run = replace(join([]), notes=(explain_missing(b""),))
    assert "make NVCC=nvcc" in " ".join(printed(run).split())
    assert "exit code 3" in printed(run)


@pytest.mark.parametrize("kind", [*ROWS, "new_kind"])
def test_a_host_finding_names_the_programs_own_line(kind: str) -> None:
    frames = (Frame("/lib/libcudart.so.13", 1), Frame("/a.out", 2))
    places = {
        frames[0]: (HostPlace("libcudart.so.13"),),
        frames[1]: (
            HostPlace("/x/nvidia/cu13/include/cuda_runtime.h", 9),
            HostPlace("/home/a/main.cu", 12, "main"),
        ),
    }
    finding = HostFinding(kind, 4096, 128, {"call": "cudaMemcpy"}, frames)
    (mistake,) = describe_host_findings([finding, finding], places)
    assert mistake.place == HostPlace("/home/a/main.cu", 12, "main")
    assert mistake.count == 2
    assert "{" not in mistake.message


def test_the_advice_follows_the_compilers_messages() -> None:
    assert "grade run" in advise_on_compilation("undefined reference to `main'")
    assert "--nvcc=-I" in advise_on_compilation("fatal error: a.h: No such file or directory")
    assert "--nvcc=OPTION" in advise_on_compilation("error: expected a ';'")


def test_a_static_runtime_is_named() -> None:
    assert "-cudart shared" in explain_missing(b"\x7fELF .nvFatBinSegment libcuda.so.1")
