"""The compiler that SourceModule gets in nvcc's place, called as PyCUDA calls it: no PyCUDA and no
GPU needed."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from grader.devices.gpu.compiler import write_compiler
from grader.devices.remote.worker_process import worker_environment
from grader.grading.as_nvcc import (
    Order,
    Settings,
    format_settings,
    parse_order,
    parse_settings,
    with_recipe,
)
from grader.records import Binary, Recipe, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import find_nvcc, find_nvdisasm

ARCH = "sm_90"
SOURCE = """#include <cuda_fp16.h>
extern "C" __global__ void plain(float* out, const float* in) { out[threadIdx.x] = 2.0f * in[threadIdx.x]; }
namespace { __global__ void hidden(float* out) { out[0] = 1.0f; } }
template <class T> __global__ void twice(T* out, const T* in) { out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x]; }
template __global__ void twice<__half>(__half*, const __half*);
template __global__ void twice<double>(double*, const double*);
"""


@dataclass(frozen=True)
class Checked:
    """A submission as the grader has compiled it, with what its compiler is told."""

    settings: Settings
    binary: Binary

    @property
    def recipe(self) -> Recipe:
        assert self.binary.recipe is not None
        return self.binary.recipe

    def told(self, settings: Settings) -> Recipe:
        """The recipe, with other settings."""
        return replace(self.recipe, program=(*self.recipe.program[:-1], format_settings(settings)))


@dataclass(frozen=True)
class Called:
    """What PyCUDA finds after it has called nvcc; `cubin` is None where there is no such file."""

    returncode: int
    stdout: str
    stderr: str
    cubin: bytes | None


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    nvcc, nvdisasm = (
        find_nvcc(os.environ, run_tool, prefer_wheel=True),
        find_nvdisasm(os.environ, run_tool),
    )
    settings = Settings(
        nvcc,
        nvdisasm,
        tmp_path_factory.mktemp("cache"),
        60.0,
        isolated=True,
        search_path=os.environ["PATH"],
    )
    source = Submission("student.cu", hashlib.sha256(SOURCE.encode()).hexdigest(), SOURCE)
    binary = compile_submission(
        source,
        nvcc=nvcc,
        nvdisasm=nvdisasm,
        arch=ARCH,
        run=run_tool,
        limits=ToolLimits(),
        cache=settings.cache,
    )
    assert isinstance(binary, Binary), binary
    return Checked(settings, with_recipe(binary, source, settings))


def call_as_pycuda(folder: Path, recipe: Recipe, cubin: bytes, *, arch: str = ARCH) -> Called:
    """As `pycuda.compiler.compile` of PyCUDA 2026.1 does with no_extern_c=True and cache_dir=False,
    in a worker's environment."""
    (tools := folder / "tools").mkdir()
    nvcc = str(write_compiler(tools, recipe, cubin))
    options = [*recipe.options, "-arch", arch, "-I" + str(folder / "pycuda" / "cuda")]
    (file_dir := folder / "tmp").mkdir()
    (file_dir / "kernel.cu").write_text(recipe.source)
    done = subprocess.run(
        [nvcc, "--cubin", *options, "kernel.cu"],
        cwd=file_dir,
        env=worker_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    made = file_dir / "kernel.cubin"
    return Called(
        done.returncode, done.stdout, done.stderr, made.read_bytes() if made.exists() else None
    )


def test_it_delivers_the_very_cubin_that_was_checked_and_compiles_nothing(
    checked: Checked, tmp_path: Path
) -> None:
    assert {kernel.name for kernel in checked.binary.kernels} == {
        "plain",
        "hidden",
        "twice<__half>",
        "twice<double>",
    }
    assert checked.recipe.source == SOURCE
    no_compiler = replace(
        checked.settings, nvcc=replace(checked.settings.nvcc, path=Path("/nonexistent/nvcc"))
    )
    called = call_as_pycuda(tmp_path, checked.told(no_compiler), checked.binary.cubin)
    # PyCUDA takes any output for a warning of nvcc's.
    assert called == Called(0, "", "", checked.binary.cubin)


def test_other_code_than_what_was_checked_is_not_delivered(
    checked: Checked, tmp_path: Path
) -> None:
    recipe = replace(checked.recipe, source=SOURCE.replace("2.0f", "3.0f"))
    called = call_as_pycuda(tmp_path, recipe, checked.binary.cubin)
    assert (called.returncode, called.cubin) == (1, None)
    assert called.stderr == "The source compiles to other machine code than the checked code.\n"


def test_an_include_outside_is_refused_without_a_word_of_it(
    checked: Checked, tmp_path: Path
) -> None:
    recipe = replace(checked.recipe, source=f'#include "/etc/passwd"\n{SOURCE}')
    called = call_as_pycuda(tmp_path, recipe, checked.binary.cubin)
    assert (called.returncode, called.stdout, called.cubin) == (1, "", None)
    assert called.stderr.startswith(
        "The submission includes a file that belongs neither to the CUDA toolkit nor"
    )
    assert "root" not in called.stderr


def test_it_is_limited(checked: Checked, tmp_path: Path) -> None:
    settings = replace(checked.settings, cache=tmp_path / "cache", wall_seconds=0.01)
    called = call_as_pycuda(tmp_path, checked.told(settings), checked.binary.cubin)
    assert (called.returncode, called.cubin) == (1, None)
    assert "0.01 s" in called.stderr


def test_options_that_nothing_was_checked_with_are_refused(
    checked: Checked, tmp_path: Path
) -> None:
    recipe = replace(checked.recipe, options=(*checked.recipe.options, "-use_fast_math"))
    called = call_as_pycuda(tmp_path, recipe, checked.binary.cubin)
    assert (called.returncode, called.cubin) == (2, None)
    assert "-use_fast_math" in called.stderr


def test_a_binary_that_is_not_kept_has_no_recipe(checked: Checked, tmp_path: Path) -> None:
    source = Submission("student.cu", "", SOURCE)
    plain = replace(checked.binary, recipe=None)
    assert with_recipe(plain, source, replace(checked.settings, cache=tmp_path)) == plain


def test_settings_survive_the_command_line(checked: Checked) -> None:
    assert parse_settings(format_settings(checked.settings)) == checked.settings


def test_nvccs_command_line_is_understood() -> None:
    order = parse_order(
        ["--cubin", "-O3", "-lineinfo", "-arch", "sm_90", "-I/a/pycuda/cuda", "kernel.cu"]
    )
    assert order == Order(Path("kernel.cu"), "sm_90", ("-O3", "-lineinfo"))
    assert isinstance(parse_order(["--version"]), str)
    assert isinstance(parse_order(["--preprocess", "-O3", "x.cu", "--compiler-options", "-P"]), str)
