"""Whole CUDA programs run on the emulated device as on a GPU: equal output and exit code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.cuda.program import exec_program
from grader.records.program_run import ProgramRun
from tests.cuda.compiling import compile_program
from tests.cuda.program_files import PROGRAMS, Program, read_programs, read_recorded

QUICK = {"faults", "graph_nodes", "streams_events"}
"""The default tests run these; compiling a program takes seconds."""
LIMIT_S = 120
TWO_DEVICES = """\
device 0
device 1
access possible 1
twice: cudaErrorPeerAccessAlreadyEnabled
2 98 50
stream of another device: cudaErrorInvalidResourceHandle
no third device: cudaErrorInvalidDevice
"""


def parameters() -> list[object]:
    """The slow programs carry the mark of the option `--run-slow`."""
    return [
        pytest.param(each, id=each.name, marks=() if each.name in QUICK else pytest.mark.slow)
        for each in read_programs()
    ]


def run(program: Program, folder: Path, devices: int = 1) -> ProgramRun:
    """Runs a copy in `folder`, where the program may write files."""
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    if program.is_folder:
        command = ("make", "-s", "test")
        cwd = folder / program.name
        return exec_program(command=command, cwd=cwd, devices=devices, timeout_s=LIMIT_S)
    return exec_program(
        command=(str(compile_program(program.source, program.options)), *program.arguments),
        stdin=program.stdin,
        cwd=folder,
        devices=devices,
        timeout_s=LIMIT_S,
    )


@pytest.mark.parametrize("program", parameters())
def test_output_and_exit_code_equal_those_of_a_gpu(program: Program, tmp_path: Path) -> None:
    recorded = read_recorded(program)
    result = run(program, tmp_path)
    assert result.stdout == recorded.stdout, result.stderr
    assert result.exit_code == recorded.exit_code


@pytest.mark.slow
def test_two_devices_exchange_data(tmp_path: Path) -> None:
    peers = next(each for each in read_programs() if each.name == "peers")
    assert run(peers, tmp_path, devices=2).stdout == TWO_DEVICES


def test_every_program_has_recorded_results() -> None:
    for program in read_programs():
        read_recorded(program)
