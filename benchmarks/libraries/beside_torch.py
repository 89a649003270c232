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
    library: Callable[[], torch.Tensor],
    name: str,
    *,
    out: torch.Tensor,
    relative: float,
    absolute: float,
) -> None:
    """Prints a line for compare.py: medians in milliseconds, the library's time over the
    reference's (above 1: the reference is faster), and whether `out`, which the reference writes,
    agrees with the library's result."""
    functions = (reference, library)
    times: tuple[list[float], list[float]] = ([], [])
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")
    out.view(torch.uint8).fill_(255)  # NaN, where the reference leaves an element out
    for turn in range(WARM_UP + ROUNDS):
        for function, samples in zip(functions, times, strict=True):
            flushed.zero_()
            time_ms = _time(function)
            if turn >= WARM_UP:
                samples.append(time_ms)
    right = torch.allclose(out, library(), rtol=relative, atol=absolute)
    ours, theirs = map(statistics.median, times)
    print(
        f"{title}: reference {ours:.4f} ms, {name} {theirs:.4f} ms, ratio {theirs / ours:.3f},"
        f" {'right' if right else 'WRONG'}"
    )


def _time(function: Callable[[], object]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    function()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))
