"""Runs a reference beside PyTorch on a GPU: compiles it with a launching function, and times two
functions in turns with a cold L2. Needs nvcc and torch."""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

SOLUTIONS = Path(__file__).parents[2] / "solutions"
ROUNDS, WARM_UP = 51, 10
FLUSHED_BYTES = 256 << 20


def load_reference(exercise: str, launch: str) -> ctypes.CDLL:
    """The library of solutions/EXERCISE.cu and the C++ function `launch`, which launches it."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "reference.cu"), Path(folder, "reference.so")
        text = (SOLUTIONS / f"{exercise}.cu").read_text(encoding="utf-8")
        source.write_text(f'{text}\nextern "C" {launch}\n', encoding="utf-8")
        options = ("-std=c++17", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC")
        subprocess.run(["nvcc", *options, "-o", library, source], check=True)
        return ctypes.CDLL(str(library))


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
