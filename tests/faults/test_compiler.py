"""What a faulty machine does to a compilation is never the student's doing, and what a submission
does on purpose stays the student's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import GraderError
from grader.records import CompileErrors, CompilerEnd, CompilerEnded, Status, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.artifacts import Artifacts
from grader.toolchain.demangle import demangle
from grader.toolchain.nvcc import Nvcc, Nvdisasm
from grader.toolchain.nvdisasm import disassemble

from .conftest import BROKEN, KERNEL, compile_with, replace_program

faults = pytest.mark.faults
KILL = "kill -9 $$\n"
HUGE_ARRAY = (
    "__device__ int table[2000000] = {1};\n__global__ void k(int* o) { o[0] = table[o[1]]; }\n"
)


@pytest.mark.parametrize(
    "program",
    [
        "nvvm/bin/cicc",
        pytest.param("bin/ptxas", marks=faults),
        pytest.param("bin/nvcc", marks=faults),
    ],
)
def test_a_killed_program_of_the_compiler_is_the_machines(
    program: str, nvcc: Nvcc, tmp_path: Path
) -> None:
    broken = replace_program(nvcc, tmp_path / "cuda", program, KILL)
    with pytest.raises(GraderError, match=r"signal 9 ended a program of the compiler") as caught:
        compile_with(broken)
    assert "--jobs" in caught.value.advice


def gcc_with_cc1plus(folder: Path, script: str) -> str:
    """The PATH by which gcc's compiler proper is a script."""
    folder.mkdir()
    for name, text in (
        ("cc1plus", script),
        ("gcc", f'exec /usr/bin/gcc -B{folder} "$@"\n'),
    ):
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_a_killed_preprocessor_is_the_machines(nvcc: Nvcc, tmp_path: Path) -> None:
    with pytest.raises(GraderError, match=r"signal 9 ended a program of the compiler"):
        compile_with(nvcc, path=gcc_with_cc1plus(tmp_path / "gcc", KILL))


@faults
def test_a_program_that_is_killed_once_is_run_again(nvcc: Nvcc, tmp_path: Path) -> None:
    once = f'[ -e {tmp_path}/done ] && exec REAL "$@"\ntouch {tmp_path}/done\n{KILL}'
    assert isinstance(
        compile_with(replace_program(nvcc, tmp_path / "cuda", "bin/ptxas", once)), Artifacts
    )


@faults
@pytest.mark.parametrize(
    "script",
    ["echo 'ptxas fatal   : Internal error' >&2; exit 1\n", "exit 3\n"],
    ids=["message", "silence"],
)
def test_a_tool_that_fails_on_every_file_is_the_machines(
    script: str, nvcc: Nvcc, tmp_path: Path
) -> None:
    with pytest.raises(GraderError, match="fails on an empty kernel, too"):
        compile_with(replace_program(nvcc, tmp_path / "cuda", "bin/ptxas", script))


@faults
def test_a_crash_that_only_this_file_causes_is_the_machines(nvcc: Nvcc, tmp_path: Path) -> None:
    script = (
        'for file; do [ -f "$file" ] && grep -q crash_here "$file" && kill -SEGV $$; done\n'
        'exec REAL "$@"\n'
    )
    crashing = replace_program(nvcc, tmp_path / "cuda", "bin/ptxas", script)
    text = KERNEL.replace("k(", "crash_here(")
    with pytest.raises(GraderError, match="signal 11 ended a program of the compiler"):
        compile_with(crashing, text)


IN_A_CHILD = """
import resource
from grader.errors import GraderError
from tests.faults.conftest import compile_with, find_tools
nvcc, _ = find_tools()
resource.setrlimit(resource.{kind}, ({value}, {value}))
try:
    print(compile_with(nvcc, {text!r}))
except GraderError as error:
    print("GraderError:", error)
"""


@faults
@pytest.mark.parametrize("text", [KERNEL, BROKEN], ids=["right", "wrong"])
def test_a_small_limit_of_file_sizes_is_the_machines(text: str) -> None:
    code = IN_A_CHILD.format(kind="RLIMIT_FSIZE", value=4096, text=text)
    # -B: Python would keep its byte code, cut short
    said = run_tool(
        [sys.executable, "-B", "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert "GraderError:" in said.stdout, said
    assert "ulimit -f" in said.stdout or "temporary files: File too large" in said.stdout, said


@faults
def test_a_small_limit_excuses_no_mistake_that_it_has_no_part_in() -> None:
    text = "__global__ void k(float* o) { o[threadIdx.x] = 1;\n"
    code = IN_A_CHILD.format(kind="RLIMIT_AS", value=5 << 30, text=text)
    said = run_tool(
        [sys.executable, "-B", "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert said.stdout.startswith("CompileErrors("), said


@pytest.mark.parametrize("size", ["32k", "1m"])
@pytest.mark.parametrize(
    "text",
    [KERNEL, pytest.param(BROKEN, marks=faults)],
    ids=["right", "wrong"],
)
def test_a_full_folder_for_temporary_files_is_the_machines(
    size: str,
    text: str,
    nvcc: Nvcc,
    small_disk: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(small_disk(size)))
    with pytest.raises(
        GraderError, match=r"less than (32|64) MiB of room for temporary files: .*No space left"
    ) as caught:
        compile_with(nvcc, text)
    assert "TMPDIR" in caught.value.advice


def test_a_removed_folder_for_temporary_files_is_made_again(
    nvcc: Nvcc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "removed"))
    assert isinstance(compile_with(nvcc), Artifacts)


def test_a_compiler_that_waits_without_work_is_the_machines(nvcc: Nvcc, tmp_path: Path) -> None:
    hanging = replace_program(nvcc, tmp_path / "cuda", "bin/nvcc", "sleep 30\n")
    with pytest.raises(GraderError, match=r"s of processor time in 0\.4 s"):
        compile_with(hanging, limits=ToolLimits(wall_seconds=0.1))


def test_a_compiler_that_works_for_too_long_is_the_submissions(nvcc: Nvcc, tmp_path: Path) -> None:
    endless = replace_program(nvcc, tmp_path / "cuda", "bin/nvcc", "while :; do :; done\n")
    ended = compile_with(endless, limits=ToolLimits(wall_seconds=0.2))
    assert isinstance(ended, CompilerEnded)
    assert ended.status is Status.TIMEOUT


def test_no_words_of_a_submission_make_it_the_machines(nvcc: Nvcc) -> None:
    forged = "\n".join(
        f"#warning {words}"
        for words in (
            "gcc: fatal error: Killed signal terminated program cc1plus",
            "No space left on device",
            "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        )
    )
    made = compile_with(nvcc, f"{forged}\n#error x: Input/output error\n")
    assert isinstance(made, CompileErrors)
    assert made.line == 4


@faults
def test_a_file_that_is_too_large_twice_is_the_submissions(nvcc: Nvcc) -> None:
    ended = compile_with(nvcc, HUGE_ARRAY, limits=ToolLimits(file_bytes=4 << 20))
    assert isinstance(ended, CompilerEnded)
    assert ended.how is CompilerEnd.LARGE_FILE


@faults
def test_an_error_without_a_line_is_the_submissions_where_the_tools_work(nvcc: Nvcc) -> None:
    text = (
        "extern __device__ int missing(int);\n__global__ void k(int* o) { o[0] = missing(o[1]); }\n"
    )
    made = compile_with(nvcc, text)
    assert isinstance(made, CompileErrors)
    assert "Unresolved extern function" in made.error_text


def test_a_killed_disassembler_has_a_message(tmp_path: Path) -> None:
    program = tmp_path / "nvdisasm"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    (tmp_path / "x.cubin").touch()
    with pytest.raises(GraderError, match="nvdisasm was ended by signal 9"):
        disassemble(tmp_path / "x.cubin", nvdisasm=Nvdisasm(program, "1"), run=run_tool)


def test_a_killed_demangler_has_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c++filt").write_text("#!/bin/sh\nkill -9 $$\n")
    (tmp_path / "c++filt").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(GraderError, match=r"c\+\+filt failed: exit code -9"):
        demangle(["_Z1kv"], run_tool)
