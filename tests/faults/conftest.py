"""Machines with faults: a toolkit with a program of the test's own, and small file systems."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import Completed, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.artifacts import Artifacts
from grader.toolchain.compilation import NotCompiled, Order, find_artifacts
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from grader.toolchain.workspace import Compiler

KERNEL = "__global__ void k(float* o) { o[threadIdx.x] = 1; }\n"
BROKEN = "__global__ void k(float* o) { o[threadIdx.x] = 1 }\n"


@functools.cache
def find_tools() -> tuple[Nvcc, Nvdisasm]:
    """The tools of this machine, found before it has any fault."""
    return (
        find_nvcc(os.environ, run_tool, prefer_wheel=True),
        find_nvdisasm(os.environ, run_tool),
    )


@pytest.fixture
def nvcc() -> Nvcc:
    return find_tools()[0]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system of a size (`64k`) and gives its folder."""
    folder = tmp_path / "disk"

    def mount(size: str) -> Path:
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("file systems cannot be mounted here")
        return folder

    yield mount
    if folder.exists():
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def replace_program(nvcc: Nvcc, folder: Path, program: str, script: str) -> Nvcc:
    """An nvcc of a toolkit like this one, of which a program (`nvvm/bin/cicc`) is a script. In it,
    `REAL` stands for the program that was replaced."""
    real = nvcc.path.resolve().parents[1]
    (folder / "bin").mkdir(parents=True)
    (folder / "nvvm").mkdir()
    for name in ("bin", "nvvm", "."):
        for path in (real / name).iterdir():
            if not (folder / name / path.name).exists():
                (folder / name / path.name).symlink_to(path)
    own = folder / program
    if own.parent.is_symlink():
        own.parent.unlink()
        own.parent.mkdir()
        for path in (real / program).parent.iterdir():
            (own.parent / path.name).symlink_to(path)
    own.unlink()
    own.write_text("#!/bin/sh\n" + script.replace("REAL", str(real / program)))
    own.chmod(0o755)
    (folder / "bin" / "nvcc").unlink(missing_ok=True)
    if program != "bin/nvcc":
        shutil.copy(nvcc.path, folder / "bin" / "nvcc")
    else:
        own.write_text("#!/bin/sh\n" + script.replace("REAL", str(nvcc.path)))
        own.chmod(0o755)
    return replace(nvcc, path=folder / "bin" / "nvcc")


def compile_with(
    nvcc: Nvcc,
    text: str = KERNEL,
    *,
    limits: ToolLimits | None = None,
    path: str | None = None,
) -> Artifacts | NotCompiled:
    """What the compilation of a text with this nvcc comes to, without a cache. `path` is the PATH
    of its programs."""

    def run(
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        limits: ToolLimits | None = None,
        env: dict[str, str] | None = None,
    ) -> Completed:
        return run_tool(argv, cwd=cwd, limits=limits, env=env if path is None else {"PATH": path})

    submission = Submission("student.cu", hashlib.sha256(text.encode()).hexdigest(), text)
    compiler = Compiler(nvcc, "sm_90", run, limits or ToolLimits())
    return find_artifacts(Order(submission, compiler, find_tools()[1], None))
