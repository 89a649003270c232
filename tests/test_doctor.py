from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from grader.doctor import Machine, can_grade, examine
from grader.report.doctor import Condition, Part, print_doctor
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
    machine = Machine({"PATH": str(tmp_path), "GRADER_NVCC": str(tmp_path / "nvcc")}, run_tool, tmp_path)
    parts = parts_of(machine)
    assert not can_grade(tuple(parts.values()))
    assert parts["nvcc"].condition is Condition.MISSING
    assert parts["g++"].condition is Condition.MISSING
    assert "apt install g++" in parts["g++"].mend
    assert parts["ncu"].condition is Condition.ABSENT


def test_every_lack_has_its_cost_and_its_mend(tmp_path: Path) -> None:
    machine = Machine({"PATH": str(tmp_path), "GRADER_NVCC": str(tmp_path / "nvcc")}, run_tool, Path("/proc/no/such/folder"))
    for part in examine(machine):
        if part.condition is not Condition.FOUND:
            assert part.what, part
            assert part.costs, part
            assert part.mend, part


@pytest.mark.parametrize(
    ("parameters", "user", "condition"),
    [
        ("RmProfilingAdminOnly: 1\n", 1000, Condition.ABSENT),
        ("RmProfilingAdminOnly: 1\n", 0, Condition.FOUND),
        ("RmProfilingAdminOnly: 0\n", 1000, Condition.FOUND),
        (None, 1000, Condition.ABSENT),
    ],
)
def test_the_permission_for_counters(
    parameters: str | None, user: int, condition: Condition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if parameters is not None:
        (tmp_path / "driver" / "nvidia").mkdir(parents=True)
        (tmp_path / "driver" / "nvidia" / "params").write_text(f"EnableMSI: 1\n{parameters}")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert parts_of(Machine({"PATH": ""}, run_tool, tmp_path, tmp_path))["GPU counters"].condition is condition


def test_the_gpu_is_named_by_nvidia_smi(tmp_path: Path) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'NVIDIA H100 80GB HBM3, 580.1'\n")
    smi.chmod(0o755)
    gpu = parts_of(Machine({"PATH": str(tmp_path)}, run_tool, tmp_path, tmp_path))["GPU"]
    assert (gpu.condition, gpu.what) == (Condition.FOUND, "NVIDIA H100 80GB HBM3, 580.1")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_what_is_missing_is_printed_with_its_mend(encoding: str) -> None:
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
