"""Compiles the library that records a program's activities with CUPTI, once per machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.records import RunTool, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.nvcc import Nvcc

SOURCE = Path(__file__).with_name("tracer.cpp")
LIBRARY, TRACE_VARIABLE = "CUDA_INJECTION64_PATH", "GRADER_TRACE"
_FLAGS = ("-shared", "-fPIC", "-O2", "-std=c++17")


@dataclass(frozen=True)
class Tracer:
    """The library that records activities, and the folder of the CUPTI that it loads: a confined
    program must be able to read both."""

    library: Path
    cupti: Path


def find_tracer(nvcc: Nvcc, cache_folder: Path, run: RunTool = run_tool) -> Tracer | str:
    """The library, compiled into the cache on first use; or a clause with the reason why there is
    none."""
    places = _find_cupti(nvcc)
    compiler = shutil.which("g++")
    if places is None:
        return "CUPTI (cupti.h and libcupti.so, parts of the CUDA toolkit) is not installed"
    if compiler is None:
        return "g++ is not installed"
    include, library = places
    parts = (SOURCE.read_text("utf-8"), str(include), str(library.resolve()))
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    made = cache_folder / f"cuda-tracer-{key}" / "libtracer.so"
    tracer = Tracer(made, library.resolve().parent)
    if made.exists():
        return tracer
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=made.parent) as name:
        new = Path(name) / made.name
        paths = [f"-I{include}", str(SOURCE), str(library), f"-Wl,-rpath,{library.parent}"]
        done = run([compiler, *_FLAGS, *paths, "-o", str(new)], limits=ToolLimits(120.0))
        if done.returncode != 0:
            return f"the tracer does not compile: {done.stderr.strip()[:500]}"
        new.replace(made)
    return tracer


def trace_environment(tracer: Tracer, trace: Path) -> Mapping[str, str]:
    """The variables that make the driver load the tracer. Kernels are loaded at the start, so that
    no load lies between the activities."""
    return {
        LIBRARY: str(tracer.library),
        TRACE_VARIABLE: str(trace),
        "CUDA_MODULE_LOADING": "EAGER",
    }


def _find_cupti(nvcc: Nvcc) -> tuple[Path, Path] | None:
    """The folder of cupti.h and the library, from the same installation."""
    for root in _roots(nvcc):
        headers = [root / "include", root / "extras" / "CUPTI" / "include"]
        include = next((each for each in headers if (each / "cupti.h").exists()), None)
        libraries = (
            path
            for part in ("lib64", "extras/CUPTI/lib64", "lib")
            for path in sorted((root / part).glob("libcupti.so*"))
        )
        library = next(libraries, None)
        if include is not None and library is not None:
            return include, library
    return None


def _roots(nvcc: Nvcc) -> Iterator[Path]:
    """Toolkits, and NVIDIA's packages for Python."""
    yield nvcc.path.resolve().parents[1]
    yield from (root.parent for root in nvcc.include_roots)
    if home := os.environ.get("CUDA_HOME"):
        yield Path(home)
    yield Path("/usr/local/cuda")
    for folder in _python_folders():
        yield from (folder / "nvidia").glob("cu[0-9]*")
        yield folder / "nvidia" / "cuda_cupti"


@cache
def _python_folders() -> tuple[Path, ...]:
    return tuple(Path(part) for part in sys.path if part)
