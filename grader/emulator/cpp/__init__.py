"""The runtime in C++ that translated kernels call. README.md describes its folders.

The host's g++ compiles it for this processor at first use. The shared object lies in the caller's
folder; its name contains a digest of sources, compiler, options and processor. A damaged object, or
a folder that cannot be written, costs the time of one compilation (20 s of processor).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llvmlite import binding

from grader.emulator.codegen.kept_files import read_whole, write_whole
from grader.emulator.codegen.steps import Steps
from grader.emulator.cpp.header import write_header
from grader.emulator.layouts.execution import FUNCTION_PREFIX

FLAGS = (
    *("-fPIC", "-std=c++17", "-O3", "-march=native", "-fvisibility=hidden"),
    *("-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing"),
    "-ffp-contract=off",  # the timing model's figures are the same on every processor
)
WARNINGS = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wundef", "-Wcast-align", "-Wcast-qual"),
    *("-Wdouble-promotion", "-Wduplicated-branches", "-Wduplicated-cond", "-Wextra-semi"),
    *("-Wformat=2", "-Wlogical-op", "-Wnull-dereference", "-Wold-style-cast"),
    *("-Wredundant-decls", "-Wuseless-cast", "-Wvla"),
)
SANITIZED = (
    *("-O0", "-g1", "-fno-omit-frame-pointer"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
)
"""Options for `load`. The process must preload libasan: tests/support/sanitized.py."""
SOURCES = Path(__file__).parent
_LINKING = ("-shared", "-Wl,--as-needed")
_COMPILE_SECONDS = 300.0


class CompilerFailed(Exception):  # noqa: N818 - a property of the machine, not an error of ours
    """The compiler does not start or does not compile the runtime; holds the compiler's output."""


@dataclass(frozen=True)
class Runtime:
    """The functions that Python calls; they release the GIL. Steps of kernels find the exported
    functions by name. Arguments are addresses of records.

    `run_blocks(context, first, end)` runs blocks; `finish_blocks(context)` resumes the blocks that
    wait for other blocks. Both return a FaultCode. Functions of the timing model and their records:
    `measure_traces` and `expand_traces` take a Trace, `touch` Touched, `follow_walks` Walks,
    `find_contention` ContentionSums; `simulate` and `simulate_profiled` (with a profile) take an
    SM. digests.py describes `digest(data, size_bytes, key, sums)`.
    """

    run_blocks: Callable[[int, int, int], int]
    finish_blocks: Callable[[int], int]
    measure_traces: Callable[[int], None]
    expand_traces: Callable[[int], None]
    touch: Callable[[int], None]
    follow_walks: Callable[[int], None]
    find_contention: Callable[[int], None]
    simulate: Callable[[int], None]
    simulate_profiled: Callable[[int], None]
    digest: Callable[[int, int, int, int], None]
    steps: Steps


def load(folder: Path, compiler: str, options: tuple[str, ...] = ()) -> Runtime:
    """The runtime from the folder's object, which is compiled if it is missing or damaged.

    `options` follow FLAGS, for example SANITIZED. Raises CompilerFailed. A process that confines
    itself later calls this first.
    """
    header = write_header()
    kept = folder / f"runtime-{_key(header, compiler, options)}.so"
    steps = Steps(folder / "steps")
    content = read_whole(kept)
    if content is None:
        content = _compile(header, compiler, options)
        with suppress(OSError):  # a folder that cannot be written
            write_whole(kept, content)
    try:
        return _open(kept, steps)
    except (OSError, RuntimeError):  # not kept, or removed meanwhile
        return _load_once(content, steps)


def source_files() -> list[Path]:
    """The files that are compiled."""
    return sorted(SOURCES.glob("*/*.cpp"))


def _key(header: str, compiler: str, options: tuple[str, ...]) -> str:
    files = sorted((*SOURCES.glob("*/*.cpp"), *SOURCES.glob("*/*.h")))
    sources = "".join(path.read_text(encoding="utf-8") for path in files)
    features = sorted(binding.get_host_cpu_features().items())
    flags = FLAGS + options + _LINKING
    parts = (header, sources, flags, _identify(compiler), platform.machine(), features)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _identify(compiler: str) -> str:
    """Distinguishes a compiler from others without a process: its file, size and time. A missing
    compiler has its name only: `_compile` reports it."""
    try:
        path = Path(shutil.which(compiler) or compiler).resolve(strict=True)
        found = path.stat()
    except OSError:
        return compiler
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def _compile(header: str, compiler: str, options: tuple[str, ...]) -> bytes:
    """The shared object."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "records.h").write_text(header, encoding="utf-8")
        sources = source_files()
        objects = [str(folder / f"{path.parent.name}-{path.stem}.o") for path in sources]
        command = [compiler, *FLAGS, *options, f"-I{folder}", f"-I{SOURCES}", "-c"]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            each = zip(sources, objects, strict=True)
            list(pool.map(run_compiler, ([*command, str(path), "-o", made] for path, made in each)))
        shared = folder / "runtime.so"
        run_compiler([compiler, *options, *_LINKING, *objects, "-o", str(shared)])
        return shared.read_bytes()


def run_compiler(command: list[str]) -> str:
    """The compiler's output. Raises CompilerFailed."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
            timeout=_COMPILE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerFailed(str(error)) from error
    if done.returncode != 0:
        raise CompilerFailed(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout


def _load_once(content: bytes, steps: Steps) -> Runtime:
    """Load an object that cannot be kept; the mapping outlives the file."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "runtime.so"
        path.write_bytes(content)
        return _open(path, steps)


def _open(path: Path, steps: Steps) -> Runtime:
    binding.load_library_permanently(str(path))
    library = ctypes.CDLL(str(path))
    return Runtime(
        _function(library, "run_blocks", 3, ctypes.c_uint32),
        _function(library, "finish_blocks", 1, ctypes.c_uint32),
        _function(library, "measure_traces", 1, None),
        _function(library, "expand_traces", 1, None),
        _function(library, "touch", 1, None),
        _function(library, "follow_walks", 1, None),
        _function(library, "find_contention", 1, None),
        _function(library, "simulate", 1, None),
        _function(library, "simulate_profiled", 1, None),
        _function(library, "digest", 4, None),
        steps,
    )


def _function(library: ctypes.CDLL, name: str, arguments: int, result: type | None) -> Any:  # noqa: ANN401 - a ctypes function
    function = getattr(library, f"{FUNCTION_PREFIX}{name}")
    function.restype = result
    function.argtypes = (ctypes.c_uint64,) * arguments
    return function
