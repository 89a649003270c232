"""Compiles host programs, for a GPU or against a CUDA runtime that needs none."""

from __future__ import annotations

import atexit
import functools
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.compiling import find_tools

RUNTIME = Path(__file__).with_name("runtime.cpp")
OPTIONS = ("-O3", "-std=c++17", "-lineinfo")


@dataclass(frozen=True)
class Ran:
    """How a program ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def launches(self) -> list[str]:
        """Grid and block of every launch, where the runtime is the one without a GPU."""
        return [
            line.removeprefix("launch ")
            for line in self.stderr.splitlines()
            if line.startswith("launch ")
        ]


def wheel_folder(name: str) -> Path:
    """The folder of this file of the CUDA runtime's wheel."""
    files = importlib.metadata.files("nvidia-cuda-runtime") or []
    return next(Path(str(file.locate())).parent for file in files if file.name == name)


def compile_object(source: Path) -> Path:
    """`nvcc -c` for sm_90 with the wheels alone; every warning is an error."""
    (nvcc, _), target = find_tools(), source.with_suffix(".o")
    headers = ["-I", wheel_folder("cuda_runtime.h")]
    run_checked(
        [
            nvcc.path,
            *OPTIONS,
            "-arch=sm_90",
            "-Werror",
            "all-warnings",
            *headers,
            "-c",
            "-o",
            target,
            source,
        ]
    )
    return target


def link_for_gpu(compiled: Path) -> Path:
    """The program, with the wheel's CUDA runtime."""
    target = compiled.with_suffix("")
    libraries = [
        "-L",
        wheel_folder("libcudart_static.a"),
        "-lcudart_static",
        "-ldl",
        "-lrt",
        "-lpthread",
    ]
    run_checked(["g++", "-o", target, compiled, *libraries])
    return target


def link_without_gpu(compiled: Path) -> Path:
    """The program, with the runtime that needs no GPU."""
    target = compiled.with_suffix("")
    run_checked(["g++", "-o", target, runtime_object(), compiled])
    return target


@functools.cache
def runtime_object() -> Path:
    """The runtime that needs no GPU, compiled once in a run."""
    target = Path(tempfile.mkdtemp(prefix="grader-runtime-")) / "runtime.o"
    atexit.register(shutil.rmtree, target.parent)
    run_checked(["g++", "-O2", "-I", wheel_folder("cuda_runtime.h"), "-c", "-o", target, RUNTIME])
    return target


def run_program(command: list[str], environ: Mapping[str, str] | None = None) -> Ran:
    done = subprocess.run(
        command, env={**os.environ, **(environ or {})}, capture_output=True, text=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def run_checked(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
