from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from grader.doctor import Machine, can_grade, examine
from grader.report.machine_parts import Condition, Part, print_doctor
from grader.report.terminal import make_console
from grader.sandbox.process import run_tool


def parts_of(machine: Machine) -> dict[str, Part]:
    return {part.name: part for part in examine(machine)}


def test_this_machine_can_grade(tmp_path: Path) -> None:
    parts = parts_of(Machine(os.environ, run_tool, tmp_path))
    assert can_grade(tuple(parts.values()))
    assert parts["nvcc"].condition is Condition.FOUND
    assert parts["cache folder"].what == str(tmp_path)


def test_a_machine_without_programs_is_told_what_to_install(tmp_path: Path) -> None:
    environ = {
        "PATH": str(tmp_path),
        "GRADER_NVCC": str(tmp_path / "nvcc"),
        "GRADER_NCU": str(tmp_path / "ncu"),
    }
    machine = Machine(environ, run_tool, tmp_path)
    parts = parts_of(machine)
    assert not can_grade(tuple(parts.values()))
    assert parts["nvcc"].condition is Condition.MISSING
    assert parts["g++"].condition is Condition.MISSING
    assert "apt install g++" in parts["g++"].fix
    assert parts["ncu"].condition is Condition.ABSENT


def test_every_lack_has_its_cost_and_its_fix(tmp_path: Path) -> None:
    machine = Machine(
        {"PATH": str(tmp_path), "GRADER_NVCC": str(tmp_path / "nvcc")},
        run_tool,
        Path("/proc/no/such/folder"),
    )
    for part in examine(machine):
        if part.condition is not Condition.FOUND:
            assert part.what, part
            assert part.costs, part
            assert part.fix, part


SYS_ADMIN, PERFMON, ORDINARY = "000001ffffffffff", "0000004000000000", "00000000a80425fb"
ONLY_ADMIN, EVERYONE = "RmProfilingAdminOnly: 1\n", "RmProfilingAdminOnly: 0\n"


@pytest.mark.parametrize(
    ("parameters", "capabilities", "driver", "condition"),
    [
        (ONLY_ADMIN, ORDINARY, 580, Condition.ABSENT),
        (ONLY_ADMIN, SYS_ADMIN, 470, Condition.FOUND),
        (ONLY_ADMIN, PERFMON, 580, Condition.FOUND),
        (ONLY_ADMIN, PERFMON, 550, Condition.ABSENT),
        (EVERYONE, ORDINARY, 470, Condition.FOUND),
        (None, SYS_ADMIN, 580, Condition.ABSENT),
    ],
)
def test_the_permission_for_counters(
    parameters: str | None, capabilities: str, driver: int, condition: Condition, tmp_path: Path
) -> None:
    (tmp_path / "driver" / "nvidia").mkdir(parents=True)
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "status").write_text(
        f"Name:\tgrade\nCapEff:\t{capabilities}\nCapBnd:\t{SYS_ADMIN}\n"
    )
    version = (
        f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {driver}.159.04  Release"
        " Build\nGCC version: gcc 12.3.0\n"
    )
    (tmp_path / "driver" / "nvidia" / "version").write_text(version)
    if parameters is not None:
        (tmp_path / "driver" / "nvidia" / "params").write_text(f"EnableMSI: 1\n{parameters}")
    part = parts_of(Machine({"PATH": ""}, run_tool, tmp_path, tmp_path))["GPU counters"]
    assert part.condition is condition
    assert bool(part.fix) is (condition is not Condition.FOUND)


def counters_of(proc: Path, path: Path | str = "") -> Part:
    return parts_of(Machine({"PATH": str(path)}, run_tool, proc, proc))["GPU counters"]


def test_without_a_driver_there_is_nothing_to_permit(tmp_path: Path) -> None:
    for version in ("Linux version 6.8.0", "Linux version 5.15.90.1-microsoft-standard-WSL2"):
        (tmp_path / "version").write_text(version)
        part = counters_of(tmp_path)
        assert "nothing to count on" in part.what
        for word in ("ERR_NVGPUCTRPERM", "WSL", "Windows", "RmProfiling"):
            assert word not in f"{part.what} {part.costs} {part.fix}"


def test_windows_is_named_under_wsl_only(tmp_path: Path) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'NVIDIA RTX A2000, 552.1'\n")
    smi.chmod(0o755)
    (tmp_path / "version").write_text("Linux version 5.15.90.1-microsoft-standard-WSL2")
    assert "NVIDIA Control Panel" in counters_of(tmp_path, tmp_path).fix
    (tmp_path / "version").write_text("Linux version 6.8.0")
    (tmp_path / "driver" / "nvidia").mkdir(parents=True)
    (tmp_path / "driver" / "nvidia" / "version").write_text("NVRM version: 580.159.04\n")
    part = counters_of(tmp_path, tmp_path)
    assert part.condition is Condition.ABSENT
    assert "ERR_NVGPUCTRPERM" in part.costs
    assert "Windows" not in part.fix


def test_a_program_that_python_runs_tells_its_last_line(tmp_path: Path) -> None:
    machine = Machine(os.environ, run_tool, tmp_path)
    assert machine.ask_python("print('first'); print('last')") == (True, "last")
    assert machine.ask_python("raise RuntimeError('libcuda.so.1: no such file')") == (
        False,
        "RuntimeError: libcuda.so.1: no such file",
    )
    assert machine.ask_python("import os; os.abort()") == (False, "exit code -6")


@pytest.mark.parametrize(
    "names", [["NVIDIA H100 80GB HBM3, 580.1"], ["NVIDIA L4, 570.2", "NVIDIA L4, 570.2"]], ids=len
)
def test_the_gpus_are_named_by_nvidia_smi(names: list[str], tmp_path: Path) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\n" + "".join(f"echo '{name}'\n" for name in names))
    smi.chmod(0o755)
    gpu = parts_of(Machine({"PATH": str(tmp_path)}, run_tool, tmp_path, tmp_path))["GPU"]
    assert (gpu.condition, gpu.what) == (Condition.FOUND, "; ".join(names))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_what_is_missing_is_printed_with_its_fix(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    parts = (
        Part("Python", Condition.FOUND, "3.11 [bold]"),
        Part("ncu", Condition.ABSENT, "not on PATH", "No counters.", "Install it."),
        Part("g++", Condition.MISSING, "not on PATH", "Nothing compiles.", "apt install g++"),
    )
    print_doctor(parts, console=make_console(stream, environ={}))
    stream.seek(0)
    shown = stream.read()
    assert "3.11 [bold]" in shown
    assert "g++: Nothing compiles.\napt install g++" in shown
    assert "Missing: g++." in shown
    assert "modelled" not in shown


def test_where_all_is_there_it_says_what_the_figures_are() -> None:
    stream = io.StringIO()
    print_doctor((Part("Python", Condition.FOUND, "3.11"),), console=make_console(stream))
    assert "counters are exact, times are modelled" in " ".join(stream.getvalue().split())


def test_it_lists_the_gpus_that_the_emulated_device_can_stand_for(tmp_path: Path) -> None:
    (listed,) = (
        part.what
        for part in examine(Machine(os.environ, run_tool, tmp_path))
        if part.name == "emulated GPUs"
    )
    assert listed.split(", ")[0] == "emulated:h100"
    assert {
        "emulated:t4",
        "emulated:a100",
        "emulated:rtx3090",
        "emulated:rtx4090",
        "emulated:h200",
    } <= set(listed.split(", "))
