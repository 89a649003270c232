"""Reading Nsight Compute's answer, and what is said when there is none. The samples are what ncu
2025.3 wrote on an H100, which was not asked for atomics then: these launches have none, and the
zeros in those columns were added.
"""

from __future__ import annotations

import csv
import os
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.devices.gpu.ncu import NOT_INSTALLED, count_with_ncu, find_ncu, ncu_command
from grader.devices.gpu.ncu_metrics import (
    DRAM_TRAFFIC,
    HARDWARE_CONFLICTS,
    CountedLaunch,
    choose_counters,
    parse_counts,
    required_metrics,
)
from grader.errors import GraderError
from grader.messages.counting import describe_not_counted
from grader.records import (
    COUNTERS,
    Binary,
    Counters,
    Dim3,
    Launch,
    Lookups,
    NotCounted,
    Program,
    RunLimits,
    Traffic,
)
from grader.sandbox.process import run_tool
from tests.support.truth import read_records

SAMPLES = Path(__file__).parents[1] / "data" / "ncu"
LOG = (SAMPLES / "h100.csv").read_text()
ARCH = "sm_90"
NAIVE_ROW, TILED, CONFLICT, PADDED, COPIES, TO_SCRATCH, FROM_SCRATCH = range(7)
SHAPES = [
    ((16, 10), (32, 32)),
    ((10, 16), (32, 32)),
    ((64, 64), (32, 8)),
    ((47, 32), (32, 8)),
    ((24, 32), (32, 8)),
    ((673,), (256,)),
    ((17, 11), (32, 8)),
]
LAUNCHES = [Launch("k", Dim3(*grid), Dim3(*block), 0, (), None, "") for grid, block in SHAPES]
TRUTH_ROWS = {
    ("gemm_naive_row", (500, 300, 411)): NAIVE_ROW,
    ("gemm_tiled", (500, 300, 411)): TILED,
    ("transpose_conflict", (2048, 2048)): CONFLICT,
    ("transpose_padded", (1000, 1500)): PADDED,
}


def counted(text: str = LOG, arch: str = ARCH) -> tuple[CountedLaunch, ...]:
    rows = parse_counts(text, LAUNCHES, arch)
    assert isinstance(rows, tuple), rows
    return rows


def reason_of(text: str) -> str:
    answer = parse_counts(text, LAUNCHES, ARCH)
    assert isinstance(answer, NotCounted), answer
    return describe_not_counted(answer)[0]


def with_cell(first: str, name: str, value: str, *, text: str = LOG) -> str:
    """The sample with one cell changed: in the column of this name, and the line whose first cell
    is this (empty: the units)."""
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("==")))
    (row,) = (row for row in rows if row[0] == first)
    row[rows[0].index(name)] = value
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)


def truth_of(name: str, size: tuple[int, ...]) -> dict[str, Any]:
    (record,) = (
        record
        for record in read_records("counted")
        if (record.kernel, tuple(record.sizes.values())) == (name, size)
    )
    assert record.launch is not None
    counters: dict[str, Any] = record.launch["counters"]
    return counters


@pytest.mark.parametrize(("name", "size"), TRUTH_ROWS, ids=str)
def test_reads_what_was_recorded_of_the_same_launch(name: str, size: tuple[int, ...]) -> None:
    got, truth = counted()[TRUTH_ROWS[name, size]].counters, truth_of(name, size)
    assert {
        "inst_executed": got.instructions_executed,
        "thread_inst_executed": got.thread_instructions_executed,
        "shared_load_instructions": got.shared_load_instructions,
        "shared_store_instructions": got.shared_store_instructions,
        "shared_load_wavefronts_exact": got.shared_load_wavefronts,
        "shared_store_wavefronts_exact": got.shared_store_wavefronts,
        "shared_atomic_wavefronts_exact": got.shared_atomic_wavefronts,
        "shared_wavefronts_ideal": got.shared_wavefronts_ideal,
        "shared_wavefronts_excessive": got.shared_wavefronts_excessive,
        "global_load_requests": got.global_load_requests,
        "global_load_sectors": got.global_load_sectors,
        "global_store_requests": got.global_store_requests,
        "global_store_sectors": got.global_store_sectors,
        "global_sectors_excessive": got.global_sectors_excessive,
        "global_load_efficiency_pct": round(100 * (got.global_load_efficiency or 0), 2),
        "global_store_efficiency_pct": round(100 * (got.global_store_efficiency or 0), 2),
    }.items() <= truth.items()


def test_the_launches_of_a_plan_add_up() -> None:
    rows = counted()
    plan = rows[TO_SCRATCH].counters + rows[FROM_SCRATCH].counters
    moved = 333 * 517 * 4
    assert plan.global_load_bytes == plan.global_store_bytes == 2 * moved
    assert plan.instructions_executed == 86_120 + 114_664


def test_asynchronous_copies_are_loads_and_their_wavefronts_count() -> None:
    counters = counted()[COPIES].counters
    assert (counters.global_load_bytes, counters.global_load_sectors) == (
        1024 * 768 * 4,
        1024 * 768 * 4 // 32,
    )
    assert counters.global_load_efficiency == 1.0
    assert counters.shared_store_instructions == 0
    assert counters.shared_store_wavefronts > 0
    assert counters.shared_wavefronts_excessive == 0


def test_atomics_are_counted_apart() -> None:
    """`atom` returns what was there, `red` does not; their wavefronts of shared memory are neither
    loads nor stores."""
    cells = {
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum": 3,
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": 5,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_atom.sum": 30,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_red.sum": 50,
        "smsp__sass_data_bytes_mem_global_op_atom.sum": 300,
        "smsp__sass_data_bytes_mem_global_op_red.sum": 500,
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum": 1000,
        "smsp__inst_executed_op_shared_atom.sum": 100,
    }
    text = LOG
    for name, value in cells.items():
        text = with_cell("10", name, str(value), text=text)
    without, counters = counted()[CONFLICT].counters, counted(text)[CONFLICT].counters
    assert counters == replace(
        without,
        shared_atomic_instructions=100,
        shared_atomic_wavefronts=1000,
        shared_store_wavefronts=without.shared_store_wavefronts - 1000,
        global_atomic_requests=8,
        global_atomic_sectors=80,
        global_atomic_bytes=800,
        global_fetch_requests=3,
        global_fetch_sectors=30,
        global_fetch_bytes=300,
    )


def test_what_varies_is_kept_apart_for_information() -> None:
    row = counted()[PADDED]
    assert row.counters.shared_wavefronts_excessive == 0
    assert row.hardware_bank_conflicts == 9_089
    assert row.traffic == Traffic(6_004_736)  # ncu was not asked for hits then


def test_hits_are_read_beside_the_sectors_that_were_asked_for() -> None:
    text = with_cell("ID", HARDWARE_CONFLICTS, "lts__t_sectors_lookup_hit.sum")
    text = with_cell("ID", DRAM_TRAFFIC[0], "lts__t_sectors.sum", text=text)
    text = with_cell("10", "lts__t_sectors_lookup_hit.sum", "30", text=text)
    traffic = counted(with_cell("10", "lts__t_sectors.sum", "40", text=text))[CONFLICT].traffic
    assert traffic == Traffic(None, None, Lookups(30, 40))
    assert traffic.l2 is not None
    assert traffic.l2.hit_rate == 0.75


def test_thousands_may_be_separated() -> None:
    text = with_cell("10", "smsp__inst_executed.sum", "4,587,520")
    assert counted(text)[CONFLICT].counters.instructions_executed == 4_587_520


@pytest.mark.parametrize("metric", required_metrics(ARCH))
def test_a_metric_without_a_count_is_a_reason_and_no_zero(metric: str) -> None:
    assert metric in reason_of(with_cell("10", metric, ""))
    assert metric in reason_of(with_cell("10", metric, "n/a"))
    assert metric in reason_of(with_cell("10", metric, "nan"))
    assert metric in reason_of(with_cell("ID", metric, "another"))
    assert metric in reason_of(with_cell("", metric, "Kbyte"))


@pytest.mark.parametrize("metric", [HARDWARE_CONFLICTS, *DRAM_TRAFFIC])
def test_a_figure_for_information_may_be_missing(metric: str) -> None:
    row = counted(with_cell("ID", metric, "another"))[CONFLICT]
    assert row.counters == counted()[CONFLICT].counters
    assert (row.traffic.dram_bytes is None) is (metric in DRAM_TRAFFIC)
    assert (row.hardware_bank_conflicts is None) is (metric == HARDWARE_CONFLICTS)


@pytest.mark.parametrize(
    ("name", "metric"), [(name, row.matrices) for name, row in COUNTERS.items() if row.matrices]
)
def test_matrices_are_loads_and_stores_of_shared_memory(name: str, metric: str) -> None:
    named = with_cell("ID", HARDWARE_CONFLICTS, metric)
    before, after = (counted(text)[CONFLICT] for text in (LOG, named))
    assert before.hardware_bank_conflicts
    more = getattr(after.counters, name) - getattr(before.counters, name)
    assert more == before.hardware_bank_conflicts


def test_a_gpu_without_asynchronous_copies_is_not_asked_for_them() -> None:
    assert {name for name in required_metrics("sm_90") if "ldgsts" in name} == {
        name for name in required_metrics("sm_80") if "ldgsts" in name
    }
    assert not [name for name in required_metrics("sm_75") if "ldgsts" in name]
    assert counted(arch="sm_75")[CONFLICT] == counted()[CONFLICT]


def test_every_counter_has_its_metric() -> None:
    together = {f"global_{kind}_sectors_ideal" for kind in ("store", "atomic", "fetch")}
    without = {name for name, row in COUNTERS.items() if row.sums and not row.metrics}
    assert without == together


def test_chosen_counters_need_their_metrics_only() -> None:
    (loads,) = choose_counters(["global_load_sectors"])
    names = required_metrics(ARCH, [loads])
    assert names == (*loads.metrics, loads.copies)
    (row, *_) = parse_counts(LOG, LAUNCHES, ARCH, [loads]) or ()
    assert row.counters == Counters(global_load_sectors=counted()[0].counters.global_load_sectors)
    stores = choose_counters(["shared_store_wavefronts"])
    assert {*stores[0].less} < {row.name for row in stores}  # subtracted
    assert choose_counters(["shared_store_wavefronts", "another"]) == choose_counters([])


def test_a_launch_that_is_missing_or_another_is_a_reason() -> None:
    assert "6 launches" in reason_of(LOG[: LOG.rindex('"51"')])
    assert "other shapes" in reason_of(with_cell("10", "Grid Size", "(1, 1, 1)"))


@pytest.mark.parametrize(
    ("line", "reason", "advice"),
    [
        (
            (
                "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA"
                " GPU Performance Counters on the device."
            ),
            "ERR_NVGPUCTRPERM",
            "NVreg_RestrictProfilingToAdminUsers=0",
        ),
        (
            "==ERROR== Failed to find metric regex:^dram__bytes_read\\.(sum|min|max)$",
            "no metric dram__bytes_read",
            "newer Nsight Compute",
        ),
        (
            (
                "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that"
                " no other tool (like DCGM) is profiling."
            ),
            "another profiler",
            "dcgmi profile --pause",
        ),
        (
            "==ERROR== Failed to initialize the profiler: LibraryNotLoaded",
            "cannot reach the driver",
            "gVisor",
        ),
        ("==ERROR== LaunchFailed", "a launch failed", "--device emulated"),
        ("==WARNING== No kernels were profiled.", "no launch", ""),
        ("==ERROR== Something new.", "Something new.", ""),
        ("", "printed no counters", ""),
    ],
)
def test_error_lines_become_reasons_with_advice(line: str, reason: str, advice: str) -> None:
    text = (
        f"==PROF== Connected to process 1 (/usr/bin/python3)\n{line}\n==PROF== Disconnected from"
        " process 1\n"
    )
    answer = parse_counts(text, LAUNCHES, ARCH)
    assert isinstance(answer, NotCounted)
    shown = describe_not_counted(answer)
    assert reason in shown[0]
    assert advice in shown[1]


def test_rows_beside_an_error_are_not_taken() -> None:
    assert "a launch failed" in reason_of(
        LOG.replace("==PROF== Disconnected", "==ERROR== LaunchFailed\n==PROF== Disconnected")
    )


def test_the_command_asks_for_exact_names_and_base_units() -> None:
    command = ncu_command(Path("/opt/ncu"), ["a.sum", "b"], Path("/tmp/folder"))
    assert command[0] == "/opt/ncu"
    assert command[command.index("--metrics") + 1] == "a.sum,b"
    for option, value in {
        "--profile-from-start": "off",
        "--clock-control": "none",
        "--print-units": "base",
        "--page": "raw",
    }.items():
        assert command[command.index(option) + 1] == value
    assert command[-4:] == [sys.executable, "-m", "grader.devices.gpu.profiled", "/tmp/folder"]


def test_ncu_is_found_by_variable_then_path(tmp_path: Path) -> None:
    ncu = tmp_path / "ncu"
    ncu.write_text("#!/bin/sh\n")
    assert find_ncu({"GRADER_NCU": str(ncu)}) is None  # it cannot be run
    ncu.chmod(0o755)
    assert find_ncu({"GRADER_NCU": str(ncu)}) == find_ncu({"PATH": str(tmp_path)}) == ncu


BINARY = Binary(ARCH, "", b"", ())
PROGRAM = Program("submission", BINARY, tuple(LAUNCHES), ())
LIMITS = RunLimits(warp_instructions=1, wall_seconds=2.0)


def test_no_ncu_is_a_reason() -> None:
    missing = {"GRADER_NCU": "/no/such/ncu"}
    assert (
        count_with_ncu(
            Program("submission", BINARY, (), ()),
            {},
            gpu_index=0,
            run=run_tool,
            limits=LIMITS,
            environ=missing,
        )
        == NOT_INSTALLED
    )


def fake_ncu(folder: Path, script: str) -> dict[str, str]:
    """An environment whose ncu is this script; `$log` is where it is to write, `$folder` what the
    worker would be given."""
    program = folder / "ncu"
    prelude = (
        'while [ "$1" != --log-file ]; do shift; done; log=$2; metrics=$4; for folder; do :; done\n'
    )
    program.write_text(f"#!/bin/sh\n{prelude}{script}\n")
    program.chmod(0o755)
    return {**os.environ, "GRADER_NCU": str(program)}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (f"cp {SAMPLES / 'h100.csv'} $log", None),
        ("exit 3", "printed no counters"),
        (
            "echo 'there is no GPU 7' > $folder/error.txt; exit 1",
            "the plan failed under ncu: there is no GPU 7",
        ),
        ("echo '==ERROR== ERR_NVGPUCTRPERM - no' > $log; exit 1", "ERR_NVGPUCTRPERM"),
        (
            (
                "while [ ! -e $folder/request.pickle ]; do sleep 0.01; done; touch $folder/ready;"
                " while [ ! -e $folder/go ]; do sleep 0.01; done;"
                " echo '==ERROR== it was there' > $log"
            ),
            "it was there",
        ),
        # An older ncu that does not know a metric collects nothing: it is asked again for what is
        # needed.
        (
            (
                "case $metrics in *dram__bytes_read*) echo '==ERROR== Failed to find metric"
                f" dram__bytes_read.sum' > $log;; *) cp {SAMPLES / 'h100.csv'} $log;; esac"
            ),
            None,
        ),
        (
            "echo '==ERROR== Failed to find metric smsp__inst_executed.sum' > $log",
            "no metric smsp__inst_executed",
        ),
    ],
)
def test_what_the_process_does_decides(script: str, reason: str | None, tmp_path: Path) -> None:
    """The part that runs ncu, with a script in its place: every end that ncu itself can have."""
    environ = fake_ncu(tmp_path, script)
    answer = count_with_ncu(PROGRAM, {}, gpu_index=7, run=run_tool, limits=LIMITS, environ=environ)
    if reason is None:
        assert answer == counted()
    else:
        assert isinstance(answer, NotCounted)
        assert re.search(re.escape(reason), describe_not_counted(answer)[0])


def test_a_full_disk_is_a_reason(tmp_path: Path) -> None:
    environ = fake_ncu(tmp_path, "exit 3")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
    try:
        answer = count_with_ncu(
            PROGRAM, {}, gpu_index=0, run=run_tool, limits=LIMITS, environ=environ
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert isinstance(answer, NotCounted)
    reason, advice = describe_not_counted(answer)
    assert "could not be written: File too large" in reason
    assert "TMPDIR" in advice


def test_an_endless_ncu_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.devices.gpu.ncu.START_SECONDS", 0.0)
    monkeypatch.setattr("grader.devices.gpu.ncu.WAIT_SECONDS", 0.0)
    environ = fake_ncu(tmp_path, "sleep 60")
    answer = count_with_ncu(PROGRAM, {}, gpu_index=0, run=run_tool, limits=LIMITS, environ=environ)
    assert isinstance(answer, NotCounted)
    assert "limit of time (2 s)" in describe_not_counted(answer)[0]


WAITING = """touch $folder/ready
while [ ! -e $folder/go ]; do test -e $folder/needed || exit 1; sleep 0.01; done
"""


def test_the_gpu_is_held_only_when_the_worker_has_started(tmp_path: Path) -> None:
    events: list[str] = []

    @contextmanager
    def hold() -> Iterator[None]:
        events.append(
            "ended"
            if (tmp_path / "ended").exists()
            else "started"
            if (tmp_path / "started").exists()
            else "not started"
        )
        yield
        events.append("ended" if (tmp_path / "ended").exists() else "running")

    script = (
        f"sleep 0.2; touch {tmp_path}/started; {WAITING} touch {tmp_path}/ended; cp"
        f" {SAMPLES / 'h100.csv'} $log"
    )
    environ = fake_ncu(tmp_path, script)
    answer = count_with_ncu(
        PROGRAM,
        {},
        gpu_index=0,
        run=run_tool,
        limits=LIMITS,
        environ=environ,
        hold=hold,
    )
    assert answer == counted()
    assert events == ["started", "ended"]


def test_a_gpu_that_cannot_be_had_ends_the_worker(tmp_path: Path) -> None:
    @contextmanager
    def hold() -> Iterator[None]:
        raise GraderError("The GPU was in use by another grading for 600 s.")
        yield

    environ = fake_ncu(tmp_path, f"{WAITING} cp {SAMPLES / 'h100.csv'} $log")
    with pytest.raises(GraderError, match="in use"):
        count_with_ncu(
            PROGRAM,
            {},
            gpu_index=0,
            run=run_tool,
            limits=LIMITS,
            environ=environ,
            hold=hold,
        )
