"""Times a library's operation on a GPU through CuPy or PyTorch: cuBLAS for a matrix product."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

FLUSH_BYTES = 256 << 20
"""Written before every launch: more than any L2 cache holds."""
WARM_UPS, REPEATS = 3, 21

Operation = Callable[[Mapping[str, Any]], object]


def find_array_library() -> str | None:
    """`cupy` or `torch`, the first that is installed; it is not loaded."""
    return next(
        (name for name in ("cupy", "torch") if importlib.util.find_spec(name) is not None), None
    )


def time_on_gpu(
    operation: Operation, inputs: Mapping[str, np.ndarray], *, library: str, gpu_index: int
) -> list[float]:
    """Milliseconds of each of REPEATS runs of the operation on arrays of `library`, between two
    CUDA events, each with a cold L2.

    Matrix products use float32 throughout, no tensor cores with tf32.
    """
    with _TIMERS[library](inputs, gpu_index) as (arrays, flush, time_once):
        samples = []
        for _ in range(WARM_UPS + REPEATS):
            flush()
            samples.append(time_once(lambda: operation(arrays)))
        return samples[WARM_UPS:]


@contextmanager
def _with_cupy(
    inputs: Mapping[str, np.ndarray], gpu_index: int
) -> Iterator[tuple[Any, Callable[[], object], Callable[..., float]]]:
    import cupy

    with cupy.cuda.Device(gpu_index):
        spare = cupy.empty(FLUSH_BYTES, dtype=cupy.uint8)

        yield (
            {name: cupy.asarray(array) for name, array in inputs.items()},
            lambda: spare.fill(1),
            _stopwatch(cupy.cuda.Event, cupy.cuda.get_elapsed_time),
        )


@contextmanager
def _with_torch(
    inputs: Mapping[str, np.ndarray], gpu_index: int
) -> Iterator[tuple[Any, Callable[[], object], Callable[..., float]]]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.cuda.device(gpu_index):
        spare = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")

        arrays = {name: torch.as_tensor(array, device="cuda") for name, array in inputs.items()}
        yield (
            arrays,
            lambda: spare.fill_(1),
            _stopwatch(
                lambda: torch.cuda.Event(enable_timing=True),
                lambda begin, end: begin.elapsed_time(end),
            ),
        )


def _stopwatch(
    make_event: Callable[[], Any], elapsed_ms: Callable[[Any, Any], float]
) -> Callable[..., float]:
    """A function that times an action on the GPU, in milliseconds, between two events of a
    library."""

    def time_once(action: Callable[[], object]) -> float:
        begin, end = make_event(), make_event()
        begin.record()
        action()
        end.record()
        end.synchronize()
        return float(elapsed_ms(begin, end))

    return time_once


_TIMERS = {"cupy": _with_cupy, "torch": _with_torch}
