"""The script that SourceModule gets in nvcc's place, called as PyCUDA calls it: no PyCUDA and no
GPU needed."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.gpu.compiler import write_compiler
from grader.devices.remote.worker_process import worker_environment
from grader.grading.building import with_recipe
from grader.records import Binary, Recipe, Submission

ARCH = "sm_90"
SOURCE = '// "quoted", $HOME, `ls`, größer\n__global__ void k() {}\n'
CHECKED = with_recipe(Binary(ARCH, "13.0", b"\x7fELF code", ()), Submission("k.cu", "", SOURCE))


@dataclass(frozen=True)
class Called:
    """The result for PyCUDA of a call of nvcc; `cubin` is None where there is no such file."""

    returncode: int
    stdout: str
    stderr: str
    cubin: bytes | None


def recipe_of(binary: Binary) -> Recipe:
    assert binary.recipe is not None
    return binary.recipe


def call_as_pycuda(
    folder: Path, binary: Binary = CHECKED, *, source: str = SOURCE, more: tuple[str, ...] = ()
) -> Called:
    """As `pycuda.compiler.compile` of PyCUDA 2026.1 does with no_extern_c=True and cache_dir=False,
    in a worker's environment."""
    (tools := folder / "the tools").mkdir()
    nvcc = str(write_compiler(tools, binary, recipe_of(binary)))
    options = [*recipe_of(CHECKED).options, *more, "-arch", ARCH, f"-I{folder}/pycuda/cuda"]
    (file_dir := folder / "tmp").mkdir()
    (file_dir / "kernel.cu").write_text(source)
    done = subprocess.run(
        [nvcc, "--cubin", *options, "kernel.cu"],
        cwd=file_dir,
        env=worker_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    made = file_dir / "kernel.cubin"
    cubin = made.read_bytes() if made.exists() else None
    return Called(done.returncode, done.stdout, done.stderr, cubin)


def test_delivers_the_checked_code_without_a_word(tmp_path: Path) -> None:
    # PyCUDA takes any output for a warning of nvcc's.
    assert call_as_pycuda(tmp_path) == Called(0, "", "", CHECKED.cubin)


def test_refuses_another_source(tmp_path: Path) -> None:
    called = call_as_pycuda(tmp_path, source=SOURCE.replace("k()", "j()"))
    assert called == Called(1, "", "The source is not the checked source.\n", None)


def test_refuses_code_that_the_source_did_not_give(tmp_path: Path) -> None:
    called = call_as_pycuda(tmp_path, replace(CHECKED, cubin=b"\x7fELF other"))
    message = "The source compiles to other machine code than the checked code.\n"
    assert called == Called(1, "", message, None)


def test_refuses_options_that_were_not_checked(tmp_path: Path) -> None:
    called = call_as_pycuda(tmp_path, more=("-use_fast_math",))
    assert (called.returncode, called.cubin) == (1, None)
    assert "-use_fast_math" in called.stderr
