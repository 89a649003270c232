"""Runs a reference or known submission beside PyTorch on a GPU: compiles it with a launching
function, and times two functions in turns with a cold L2. Needs nvcc and torch."""

from __future__ import annotations

import ctypes
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

ROOT = Path(__file__).parents[2]
ROUNDS, WARM_UP = 51, 10
FLUSHED_BYTES = 256 << 20
_LAUNCH = re.compile(r"^// launch: (.+?);?$", re.MULTILINE)
_SHARED = re.compile(r"(\w+)<<<.*, (\w+|\d \* \w+)>>>")
"""A kernel and its dynamic shared memory, in a launch line with three arguments."""
CEIL_DIV = "#define ceil_div(a, b) (((a) + (b) - 1) / (b))"


def find_program(exercise: str, submission: str = "") -> Path:
    """The file of a reference, or of a known submission (`passed--warp_groups`)."""
    if submission:
        return ROOT / "tests" / "submissions" / exercise / f"{submission}.cu"
    return ROOT / "solutions" / f"{exercise}.cu"


def launch_lines(program: Path) -> list[str]:
    """The program's launch lines, as C++ statements without their semicolons."""
    return _LAUNCH.findall(program.read_text(encoding="utf-8"))


def name_of(exercise: str, submission: str = "") -> str:
    """The title of a program's line."""
    return f"{exercise}/{submission}" if submission else exercise


def load_program(program: Path, parameters: str, lines: Sequence[str] = ()) -> Callable[..., None]:
    """A function with these C++ parameters that performs the program's launch lines, or `lines`
    instead."""
    text = program.read_text(encoding="utf-8")
    lines = lines or launch_lines(program)
    attributes = [
        f"static const auto set_{kernel} = cudaFuncSetAttribute({kernel},"
        f" cudaFuncAttributeMaxDynamicSharedMemorySize, {size})"
        for kernel, size in _SHARED.findall("\n".join(lines))
    ]
    body = ";\n".join([*attributes, *lines])
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "program.cu"), Path(folder, "program.so")
        source.write_text(
            f'{text}\n{CEIL_DIV}\nextern "C" void launch({parameters})\n{{\n{body};\n}}\n',
            encoding="utf-8",
        )
        options = ("-std=c++17", "-O3", *architecture(), "-shared", "-Xcompiler", "-fPIC")
        subprocess.run(["nvcc", *options, "-o", library, source], check=True)
        function: Callable[..., None] = ctypes.CDLL(str(library)).launch
        return function


def architecture() -> tuple[str, ...]:
    """nvcc's option for this GPU: sm_90a for Hopper, because `wgmma` needs it."""
    major, minor = torch.cuda.get_device_capability()
    name = f"{major}{minor}a" if major == 9 else f"{major}{minor}"
    return ("-gencode", f"arch=compute_{name},code=sm_{name}")


def pointers(*tensors: torch.Tensor) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]


def print_comparison(
    title: str,
    reference: Callable[[], object],
    library: Callable[[], object],
    name: str,
    *,
    is_right: Callable[[], bool],
) -> bool:
    """Prints a line for compare.py: medians in milliseconds, and the library's time over the
    reference's (above 1: the reference is faster). Returns whether the reference's output is
    right."""
    functions = (reference, library)
    times: tuple[list[float], list[float]] = ([], [])
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")
    for turn in range(WARM_UP + ROUNDS):
        for function, samples in zip(functions, times, strict=True):
            flushed.zero_()
            time_ms = _time(function)
            if turn >= WARM_UP:
                samples.append(time_ms)
    ours, theirs = map(statistics.median, times)
    reference()
    right = is_right()
    print(
        f"{title}: reference {ours:.4f} ms, {name} {theirs:.4f} ms, ratio {theirs / ours:.3f},"
        f" {'right' if right else 'WRONG'}"
    )
    return right


def _time(function: Callable[[], object]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    function()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))
