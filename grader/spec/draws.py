"""Correctness cases and input data: everything that is drawn from the seed, the same for the same
seed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from grader.cpp.cursor import LanguageError
from grader.errors import SpecError, SpecProblem
from grader.messages.syntax import describe_error
from grader.records import DeviceBuffer, Role
from grader.spec.exercise import (
    BufferSpec,
    Case,
    Exercise,
    HiddenCase,
    Initialisation,
    ScalarSpec,
    Task,
)
from grader.spec.oracle_module import run_function
from grader.spec.reader import SPEC_FILE
from grader.spec.texture_rules import shape_mistake

Pieces = Iterator[np.ndarray]
Fill = Callable[[np.random.Generator, int, np.dtype], Pieces]
"""Draws so many elements, in flat pieces of any length. The caller reads a piece before it asks for
the next."""
Gather = Callable[[Iterable[np.ndarray], tuple[int, ...], np.dtype], np.ndarray]
"""Makes a C-contiguous array of its pieces."""

LONG = 1 << 20
"""Elements from which on normal deviates are sums of windows of a pool; see `_fill_normal`."""
POOL, WINDOW = 1 << 18, 16_381
"""Deviates of each of the two parts of the pool, and of a window: a prime number, so that no
matrix has the windows' borders at the same place of each row or tile."""
WINDOWS_AT_ONCE = 16
"""A piece of so many windows fits the caches."""
LARGEST_INTEGER = 9_999
DENSITY = 0.1
"""The part of a sparse row that is not 0."""


def draw_order_seed(seed: int) -> int:
    """The seed of the order of a program's independent operations, never 0."""
    return int(np.random.default_rng((seed, zlib.crc32(b"order"))).integers(1, 1 << 63))


def gather_in_memory(
    pieces: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype
) -> np.ndarray:
    """An ordinary array of the pieces."""
    array = np.empty(shape, dtype=dtype)
    gather_pieces(pieces, array.reshape(-1))
    return array


def gather_pieces(pieces: Iterable[np.ndarray], flat: np.ndarray) -> None:
    """Put the pieces in order into a flat array of their length."""
    at = 0
    for piece in pieces:
        flat[at : at + len(piece)] = piece
        at += len(piece)


def draw_cases(task: Task, seed: int) -> tuple[Case, ...]:
    """The public cases, then the hidden cases with their sizes drawn from the seed (0 or
    larger)."""
    return (*task.public_cases, *(_draw_case(case, seed) for case in task.hidden_cases))


def _draw_case(case: HiddenCase, seed: int) -> Case:
    rng = np.random.default_rng([seed, _number_of(case.name)])
    sizes = {
        name: choices[int(rng.integers(len(choices)))] for name, choices in case.choices.items()
    }
    return Case(case.name, sizes, True, case.init)


def make_inputs(
    task: Task, case: Case, seed: int, *, gather: Gather = gather_in_memory
) -> dict[str, np.ndarray]:
    """The initial contents of every input and in-out buffer, C-contiguous, drawn from the seed, the
    case's name and the buffer's name. `gather` says where they are stored."""
    filled = (
        buffer
        for buffer in task.buffers
        if buffer.role is Role.INPUT or buffer.init is not None or buffer.function is not None
    )
    return {buffer.name: _fill(buffer, case, seed, gather) for buffer in filled}


def draw_array(
    init: Initialisation,
    dtype: str,
    shape: tuple[int, ...],
    *,
    seed: int,
    names: Sequence[str],
    gather: Gather = gather_in_memory,
) -> np.ndarray:
    """An array filled by this rule; seed and names together make it unique."""
    rng = np.random.default_rng([seed, *map(_number_of, names)])
    kind, count = np.dtype(dtype), int(np.prod(shape, dtype=np.int64))
    return gather(_FILLS[init](rng, count, kind), shape, kind)


def draw_scalars(exercise: Exercise, seed: int) -> Exercise:
    """The exercise, and its parts, with the scalars that this seed draws."""

    def draw(task: Task) -> tuple[ScalarSpec, ...]:
        return tuple(_draw_scalar(scalar, seed) for scalar in task.scalars)

    parts = tuple(replace(part, scalars=draw(part)) for part in exercise.parts)
    return replace(exercise, scalars=draw(exercise), parts=parts)


def _draw_scalar(scalar: ScalarSpec, seed: int) -> ScalarSpec:
    if scalar.low is None or scalar.high is None:
        return scalar
    rng = np.random.default_rng([seed, _number_of(scalar.name), _number_of("scalar")])
    if scalar.dtype.startswith("float"):
        drawn = float(np.dtype(scalar.dtype).type(rng.uniform(scalar.low, scalar.high)))
    else:
        drawn = float(rng.integers(int(scalar.low), int(scalar.high), endpoint=True))
    return replace(scalar, value=drawn)


def scalars_of(task: Task) -> dict[str, np.ndarray]:
    """The values of a task's scalars, as arrays without dimensions."""
    return {each.name: np.array(each.plain, dtype=each.dtype) for each in task.scalars}


def device_buffers(task: Task, sizes: Mapping[str, int]) -> tuple[DeviceBuffer, ...]:
    """The task's buffers with concrete shapes; SpecError if a shape has no positive extent at
    these sizes, or none that its tensor map can have."""
    return tuple(_device_buffer(buffer, sizes) for buffer in task.buffers)


def _device_buffer(buffer: BufferSpec, sizes: Mapping[str, int]) -> DeviceBuffer:
    shape = buffer_shape(buffer, sizes)
    if buffer.tensor_map is not None and (mistake := shape_mistake(buffer.dtype, shape)):
        raise _shape_error(buffer, f"{mistake}: the shape is {shape} {_at(sizes)}")
    objects = buffer.texture, buffer.tensor_map
    return DeviceBuffer(buffer.name, buffer.dtype, shape, buffer.role, *objects)


def buffer_shape(buffer: BufferSpec, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The buffer's shape in elements at these sizes; SpecError as for `device_buffers`."""
    try:
        shape = tuple(extent.evaluate(sizes) for extent in buffer.shape)
    except LanguageError as error:
        raise _shape_error(buffer, describe_error(error)) from None
    if min(shape) <= 0:
        raise _shape_error(buffer, f"the shape is {shape} {_at(sizes)}")
    return shape


def _at(sizes: Mapping[str, int]) -> str:
    return f"where {', '.join(f'{name} = {value}' for name, value in sizes.items())}"


def _shape_error(buffer: BufferSpec, message: str) -> SpecError:
    return SpecError([SpecProblem(SPEC_FILE, f"$.buffers ({buffer.name})", message)])


def _number_of(name: str) -> int:
    """The same in every process, unlike hash()."""
    return zlib.crc32(name.encode())


# --- filling --------------------------------------------------------------------------------------


def _fill(buffer: BufferSpec, case: Case, seed: int, gather: Gather) -> np.ndarray:
    init = case.init or buffer.init or Initialisation.NORMAL
    shape = buffer_shape(buffer, case.sizes)
    names = (case.name, buffer.name)
    if buffer.function is not None:
        rng = np.random.default_rng([seed, *map(_number_of, names)])
        made = run_function(buffer.function, rng, shape, np.dtype(buffer.dtype), case.sizes)
        return gather([made.reshape(-1)], shape, made.dtype)
    return draw_array(init, buffer.dtype, shape, seed=seed, names=names, gather=gather)


def _fill_normal(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    """Normal deviates; a long row costs hardly more than writing it.

    Each of its windows is the sum of two windows of a pool of deviates of half the variance, at
    places of their own: sums of two normal deviates are normal, too. No window occurs twice, and no
    element of the row predicts another: a reader who knows the method, but neither the pool nor the
    places, cannot find the two parts of a rounded sum.
    """
    kind: type[np.float32] | type[np.float64] = np.float32
    if dtype == np.float64:
        kind = np.float64
    if count < LONG:
        yield rng.standard_normal(count, dtype=kind).astype(dtype, copy=False)
        return
    pool = rng.standard_normal((2, POOL), dtype=kind) * kind(0.5**0.5)
    starts = rng.integers(POOL - WINDOW + 1, size=(-(-count // WINDOW), 2)).tolist()
    piece = np.empty(WINDOWS_AT_ONCE * WINDOW, dtype=kind)
    for first in range(0, len(starts), WINDOWS_AT_ONCE):
        for at, (one, other) in enumerate(starts[first : first + WINDOWS_AT_ONCE]):
            window = piece[at * WINDOW : (at + 1) * WINDOW]
            np.add(pool[0, one : one + WINDOW], pool[1, other : other + WINDOW], out=window)
        yield piece[: count - first * WINDOW].astype(dtype, copy=False)


def _fill_small_integers(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    yield rng.integers(-8, 9, size=count, dtype=np.int8).astype(dtype)


def _fill_uniform(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    for part in _parts(count):
        bits = np.finfo(dtype).nmant + 1  # so that no value is rounded to 1
        yield (rng.integers(1 << bits, size=part) / (1 << bits)).astype(dtype)


def _fill_positive(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    for part in _parts(count):
        if dtype.kind == "f":
            yield np.exp(rng.standard_normal(part, dtype=np.float32)).astype(dtype)
        else:
            yield rng.integers(1, _largest(dtype), size=part, endpoint=True).astype(dtype)


def _fill_integers(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    for part in _parts(count):
        yield rng.integers(_largest(dtype), size=part, endpoint=True).astype(dtype)


def _fill_sorted(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    fill = _fill_normal if dtype.kind == "f" else _fill_integers
    row = np.empty(count, dtype=dtype)
    gather_pieces(fill(rng, count, dtype), row)
    row.sort()
    yield row


def _fill_sparse(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    for values in _fill_positive(rng, count, dtype):
        values[rng.random(len(values), dtype=np.float32) >= DENSITY] = 0
        yield values


def _fill_constant(_rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    for part in _parts(count):
        yield np.ones(part, dtype=dtype)


def _parts(count: int) -> Iterator[int]:
    """The lengths of the pieces of a row."""
    yield from (min(LONG, count - at) for at in range(0, count, LONG))


def _largest(dtype: np.dtype) -> int:
    """The largest of the integers that a row is filled with."""
    exact = 1 << (np.finfo(dtype).nmant + 1) if dtype.kind == "f" else int(np.iinfo(dtype).max)
    return min(LARGEST_INTEGER, exact)


def _fill_index(_rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    """Each element's own number; in a float type it restarts at 0 when the type can no longer
    count."""
    numbers = np.arange(count, dtype=np.int64)
    if dtype.kind == "f":
        numbers %= 1 << (np.finfo(dtype).nmant + 1)
    yield numbers.astype(dtype)


def _fill_permutation(rng: np.random.Generator, count: int, dtype: np.dtype) -> Pieces:
    """The values of `_fill_index`, in random order."""
    for numbers in _fill_index(rng, count, dtype):
        rng.shuffle(numbers)
        yield numbers


_FILLS: dict[Initialisation, Fill] = {
    Initialisation.NORMAL: _fill_normal,
    Initialisation.UNIFORM: _fill_uniform,
    Initialisation.POSITIVE: _fill_positive,
    Initialisation.SMALL_INTEGERS: _fill_small_integers,
    Initialisation.INTEGERS: _fill_integers,
    Initialisation.INDEX: _fill_index,
    Initialisation.PERMUTATION: _fill_permutation,
    Initialisation.SORTED: _fill_sorted,
    Initialisation.SPARSE: _fill_sparse,
    Initialisation.CONSTANT: _fill_constant,
}
