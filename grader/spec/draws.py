"""Correctness cases and input data: everything that is drawn from the seed, the same for the same
seed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from grader.cpp.cursor import LanguageError
from grader.errors import SpecError, SpecProblem
from grader.records import DeviceBuffer, Role
from grader.spec.exercise import BufferSpec, Case, HiddenCase, Initialisation, Task
from grader.spec.reader import SPEC_FILE

Fill = Callable[[np.random.Generator, tuple[int, ...], np.dtype], np.ndarray]


def draw_cases(task: Task, seed: int) -> tuple[Case, ...]:
    """The public cases, then the hidden ones with their sizes drawn from the seed (0 or larger)."""
    hidden = (
        _draw_case(case, np.random.default_rng([seed, _number_of(case.name)]))
        for case in task.hidden_cases
    )
    return (*task.public_cases, *hidden)


def make_inputs(task: Task, case: Case, seed: int) -> dict[str, np.ndarray]:
    """What every input and every in-out buffer holds before the launch, C-contiguous, drawn from
    the seed, the case's name and its own."""
    filled = (
        buffer for buffer in task.buffers if buffer.role is Role.INPUT or buffer.init is not None
    )
    return {buffer.name: _fill(buffer, case, seed) for buffer in filled}


def draw_array(
    init: Initialisation, dtype: str, shape: tuple[int, ...], *, seed: int, names: Sequence[str]
) -> np.ndarray:
    """An array that is filled in this way; the seed and the names together tell arrays apart."""
    rng = np.random.default_rng([seed, *map(_number_of, names)])
    return _FILLS[init](rng, shape, np.dtype(dtype))


def device_buffers(task: Task, sizes: Mapping[str, int]) -> tuple[DeviceBuffer, ...]:
    """The task's buffers with concrete shapes; SpecError where a shape has no positive extent at
    these sizes."""
    return tuple(
        DeviceBuffer(buffer.name, buffer.dtype, buffer_shape(buffer, sizes), buffer.role)
        for buffer in task.buffers
    )


def buffer_shape(buffer: BufferSpec, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The buffer's shape in elements at these sizes; SpecError as for `device_buffers`."""
    try:
        shape = tuple(extent.evaluate(sizes) for extent in buffer.shape)
    except LanguageError as error:
        raise _shape_error(buffer, error.message) from None
    if min(shape) <= 0:
        raise _shape_error(
            buffer,
            f"the shape is {shape} where"
            f" {', '.join(f'{name} = {value}' for name, value in sizes.items())}",
        )
    return shape


def _shape_error(buffer: BufferSpec, message: str) -> SpecError:
    return SpecError([SpecProblem(SPEC_FILE, f"$.buffers ({buffer.name})", message)])


def _draw_case(case: HiddenCase, rng: np.random.Generator) -> Case:
    sizes = {
        name: choices[int(rng.integers(len(choices)))] for name, choices in case.choices.items()
    }
    return Case(case.name, sizes, True, case.init)


def _number_of(name: str) -> int:
    """A number that tells names apart and is the same in every process, unlike hash()."""
    return zlib.crc32(name.encode())


# --- filling --------------------------------------------------------------------------------------


def _fill(buffer: BufferSpec, case: Case, seed: int) -> np.ndarray:
    init = case.init or buffer.init or Initialisation.NORMAL
    shape = buffer_shape(buffer, case.sizes)
    return draw_array(init, buffer.dtype, shape, seed=seed, names=(case.name, buffer.name))


def _fill_normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype == np.float64:
        return rng.standard_normal(shape)
    return rng.standard_normal(shape, dtype=np.float32).astype(dtype, copy=False)


def _fill_small_integers(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype
) -> np.ndarray:
    return rng.integers(-8, 9, size=shape, dtype=np.int8).astype(dtype)


def _fill_index(_rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Each element's own number; in a float type it starts again at 0 where the type can no longer
    count."""
    numbers = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64)
    if dtype.kind == "f":
        numbers %= 1 << (np.finfo(dtype).nmant + 1)
    return numbers.astype(dtype).reshape(shape)


_FILLS: dict[Initialisation, Fill] = {
    Initialisation.NORMAL: _fill_normal,
    Initialisation.SMALL_INTEGERS: _fill_small_integers,
    Initialisation.INDEX: _fill_index,
}
