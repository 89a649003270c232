"""An exercise's oracle: loads `oracle.py`, and checks its results against the shapes and dtypes of
the spec. Several gradings can share an oracle, which then computes each answer once."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grader.cpp.cursor import did_you_mean, quote
from grader.records import Role
from grader.spec.draws import buffer_shape, scalars_of
from grader.spec.exercise import BufferSpec, Exercise, Part
from grader.spec.oracle_module import load_module, oracle_error, running
from grader.spec.reader import ORACLE_FILE, ORACLE_FUNCTION, oracle_function

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

LIBRARY_FUNCTION = "library"
BLOCK_FUNCTION = "expected_block"
_STRIPE = 128
"""Columns that are asked for at once."""
_MOST_THREADS = 4
"""That ask for stripes: each needs a copy of the inputs' rows, 0.2 GB for a product of 4096³."""
_SMALL = 1 << 20
"""Elements of all inputs up to which one BLAS thread is used: a product of 700³ takes 20 ms with
it."""
_CHECKED_AT_ONCE = 1 << 16
"""Elements that stay in the caches."""

LEAST_REMEMBERED_BYTES = 8 << 20
"""Inputs of correctness cases are smaller: they are drawn anew for each grading."""

Arrays = dict[str, np.ndarray]
Sizes = Mapping[str, int]
Places = Mapping[str, np.ndarray]
"""Elements of each output: their indices in the flat buffer."""


Operation = Callable[[Arrays, Sizes], Arrays]
"""Another way to compute the outputs, to compare with."""
MAX_KEPT_BYTES = 1 << 30
"""Most bytes of kept answers. Larger answers are computed each time."""


@dataclass(frozen=True)
class Oracle:
    """An exercise's `expected(inputs, sizes) -> outputs`, or a part's `expected_<part>`, checked at
    every call.

    Each output is in the buffer's dtype: a float64 result of a float buffer is rounded to it, any
    other difference is a mistake. It may be a view of the inputs, which are read-only to the
    oracle: a transpose is not copied. SpecError for any mistake, with the oracle's line.
    """

    path: Path
    function: str
    expected: Callable[[Arrays, dict[str, int]], object]
    outputs: tuple[BufferSpec, ...]
    block: Callable[[Arrays, dict[str, int], np.ndarray, slice], object] | None = None
    scalars: Arrays = field(default_factory=dict)

    def __call__(self, inputs: Arrays, sizes: Sizes) -> Arrays:
        """The expected outputs."""
        answer = self._ask(inputs, sizes)
        return {each.name: self._round(each, answer[each.name]) for each in self.outputs}

    def at(self, inputs: Arrays, sizes: Sizes, places: Places) -> Arrays:
        """The same for some elements only, as flat rows."""
        if self.block is not None:
            (buffer,) = self.outputs
            chosen = self._ask_blocks(inputs, sizes, places[buffer.name])
            return {buffer.name: self._round(buffer, chosen)}
        answer = self._ask(inputs, sizes)
        return {
            each.name: self._round(each, _pick(answer[each.name], places[each.name]))
            for each in self.outputs
        }

    def check(self, inputs: Arrays, sizes: Sizes) -> None:
        """Raises SpecError if it fails, or if it returns other values for some elements than for
        all."""
        whole = self(inputs, sizes)
        every = {name: np.arange(array.size, dtype=np.uint32) for name, array in whole.items()}
        for name, some in self.at(inputs, sizes, every).items():
            margin = 1e-6 * float(np.abs(whole[name]).max())
            if not np.allclose(some, whole[name].reshape(-1), rtol=1e-6, atol=margin):
                others = f"other values for {quote(name)} than {self.function}"
                raise oracle_error(self.path, f"{BLOCK_FUNCTION} returns {others}")

    def _ask(self, inputs: Arrays, sizes: Sizes) -> Arrays:
        """The function's result, with the right names, shapes and types."""
        small = sum(array.size for array in inputs.values()) <= _SMALL
        with running(self.path), one_thread() if small else nullcontext():
            answer = self.expected({**_read_only(inputs), **self.scalars}, dict(sizes))
        checked = _check_names(self.path, self.function, answer, self.outputs)
        for buffer in self.outputs:
            shape = buffer_shape(buffer, sizes)
            _check_array(self.path, buffer, checked[buffer.name], shape)
        return checked

    def _round(self, buffer: BufferSpec, array: np.ndarray) -> np.ndarray:
        """The oracle's output in the buffer's dtype."""
        dtype = np.dtype(buffer.dtype)
        with np.errstate(over="ignore"):
            result = array.astype(dtype, copy=False)
        if dtype.kind == "f" and not _is_finite(result):
            message = f"the output {quote(buffer.name)} has values that are not finite in {dtype}"
            raise oracle_error(self.path, message)
        return result

    def _ask_blocks(self, inputs: Arrays, sizes: Sizes, places: np.ndarray) -> np.ndarray:
        """The elements at these places: of each stripe of columns, the rows that hold any."""
        block, (buffer,) = self.block, self.outputs
        assert block is not None
        height, width = buffer_shape(buffer, sizes)
        rows, columns = np.divmod(places, np.uint32(width))
        stripes = (columns // _STRIPE).astype(np.uint16)
        order = np.argsort(stripes, kind="stable")  # of numbers this small, in linear time
        edges = np.searchsorted(stripes[order], np.arange(-(-width // _STRIPE) + 1))
        values = np.empty(len(places), dtype=np.float64)
        given = {**_read_only(inputs), **self.scalars}

        def fill(stripe: int, here: np.ndarray) -> None:
            asked = np.zeros(height, dtype=np.bool_)
            asked[rows[here]] = True
            needed, first = np.flatnonzero(asked), stripe * _STRIPE
            if not len(needed):
                return
            part = slice(first, min(first + _STRIPE, width))
            with running(self.path):
                answer = block(given, dict(sizes), needed, part)
            checked = _check_names(self.path, BLOCK_FUNCTION, answer, self.outputs)[buffer.name]
            _check_array(self.path, buffer, checked, (len(needed), part.stop - first))
            row = np.cumsum(asked)[rows[here]] - 1
            values[here] = checked[row, columns[here] - first]

        stripes_of = np.split(order, edges[1:-1])
        threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
        # conversions take as long as products, and BLAS shares only products among its threads
        with one_thread(), ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, count(), stripes_of))
        return values


def load_oracle(exercise: Exercise, part: Part | None = None) -> Oracle:
    """The oracle of the exercise, or of a part. SpecError if there is none."""
    path = exercise.folder / ORACLE_FILE
    function = ORACLE_FUNCTION if part is None else oracle_function(part.name)
    module = load_module(path)
    expected = getattr(module, function, None)
    if not callable(expected):
        raise oracle_error(path, f"there is no function {function}(inputs, sizes)")
    outputs = [buffer for buffer in (part or exercise).buffers if buffer.role is Role.OUTPUT]
    block = getattr(module, BLOCK_FUNCTION, None) if part is None else None
    if not callable(block) or len(outputs) != 1 or len(outputs[0].shape) != 2:
        block = None
    scalars = scalars_of(part or exercise)
    return Oracle(path, function, expected, tuple(outputs), block, scalars)


def load_library(exercise: Exercise) -> Operation | None:
    """The optional `library(inputs, sizes)` of oracle.py: the task with operators that NumPy, CuPy
    and PyTorch arrays share, in float32.

    It serves comparisons only (`@` is cuBLAS on a GPU), never correctness. None if there is
    none.
    """
    path = exercise.folder / ORACLE_FILE
    function = getattr(load_module(path), LIBRARY_FUNCTION, None)
    if not callable(function):
        return None

    def library(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
        with running(path):
            answer: Arrays = function({**inputs, **scalars_of(exercise)}, dict(sizes))
        return answer

    return library


def _check_names(
    path: Path, function: str, answer: object, outputs: Sequence[BufferSpec]
) -> Arrays:
    if not isinstance(answer, dict):
        kind = type(answer).__name__
        raise oracle_error(path, f"{function} must return a dict of arrays, got {kind}")
    names = [buffer.name for buffer in outputs]
    for name in (str(each) for each in answer if each not in names):
        near = did_you_mean(name, names)
        raise oracle_error(path, f"{quote(name)} is no output of the spec{near}")
    for name in names:
        if name not in answer:
            message = f"the output {quote(name)} is missing from the result of {function}"
            raise oracle_error(path, message)
    return answer


def _check_array(path: Path, buffer: BufferSpec, array: object, shape: tuple[int, ...]) -> None:
    if (mistake := _find_mistake(np.dtype(buffer.dtype), array, shape)) is not None:
        raise oracle_error(path, f"the output {quote(buffer.name)} {mistake}")


def _find_mistake(dtype: np.dtype, array: object, shape: tuple[int, ...]) -> str | None:
    if not isinstance(array, np.ndarray):
        return f"must be a NumPy array, got {type(array).__name__}"
    if array.shape != shape:
        return f"has the shape {array.shape}; the spec requires {shape}"
    rounds = array.dtype == np.float64 and dtype.kind == "f"
    if array.dtype != dtype and not rounds:
        return f"has the dtype {array.dtype}; the spec requires {dtype}"
    return None


def _pick(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Elements of an array by their flat indices; a non-contiguous array, such as a view of the
    inputs, is not copied."""
    if array.flags.c_contiguous:
        return np.asarray(array.reshape(-1)[places])
    return np.asarray(array[np.unravel_index(places, array.shape)])


def _is_finite(array: np.ndarray) -> bool:
    """Whether all values are finite. The sum is checked first, in a fifth of the time: it is finite
    unless a value is not, or values are very large."""
    flat = array.ravel(order="K")  # no copy of a transpose
    parts = (flat[at : at + _CHECKED_AT_ONCE] for at in range(0, len(flat), _CHECKED_AT_ONCE))
    with np.errstate(over="ignore", invalid="ignore"):
        return all(np.isfinite(part.sum()) or bool(np.isfinite(part).all()) for part in parts)


def _read_only(inputs: Arrays) -> Arrays:
    views = {name: array.view() for name, array in inputs.items()}
    for view in views.values():
        view.flags.writeable = False
    return views


def one_thread() -> AbstractContextManager[object]:
    """In this context BLAS has a single thread. If several Python threads are in it at once, the
    setting of one of them holds.

    More threads do not speed up products of small matrices: they then spin while they wait for the
    next product, 10 to 40 ms of processor time for a product that takes a single thread half a
    millisecond (OpenBLAS, 200³).
    """
    limited: AbstractContextManager[object] = _blas().limit(limits=1)
    return limited


@cache
def _blas() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


class SharedOracle:
    """An oracle that remembers its answers by the contents of the inputs, for gradings from the
    same seed. It may be asked from several threads: the same question is computed once."""

    def __init__(self, oracle: Oracle, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._oracle = oracle
        self._free_bytes = max_kept_bytes
        self._answers: dict[bytes, Arrays] = {}
        self._lock = threading.Lock()

    def __call__(self, inputs: Arrays, sizes: Sizes) -> Arrays:
        """The expected outputs, read-only."""
        key = _digest(inputs, sizes)
        with self._lock:
            if (known := self._answers.get(key)) is not None:
                return known
            answer = {
                name: np.ascontiguousarray(array)
                for name, array in self._oracle(inputs, sizes).items()
            }
            for array in answer.values():
                array.flags.writeable = False
            used = sum(array.nbytes for array in answer.values())
            if used <= self._free_bytes:
                self._free_bytes -= used
                self._answers[key] = answer
            return answer

    def at(self, inputs: Arrays, sizes: Sizes, places: Places) -> Arrays:
        """The same of some elements only, as flat rows."""
        if self._oracle.block is not None:
            return self._oracle.at(inputs, sizes, places)
        whole = self(inputs, sizes)
        return {name: array.reshape(-1)[places[name]] for name, array in whole.items()}


class RepeatedOracle:
    """An oracle that remembers the last answer about each inputs, which it knows by their identity:
    for gradings that follow one another and share inputs. Inputs below `least_bytes` are asked each
    time."""

    def __init__(self, oracle: Oracle, least_bytes: int = LEAST_REMEMBERED_BYTES) -> None:
        self._oracle = oracle
        self._least_bytes = least_bytes
        self._answers: dict[int, tuple[Arrays, Places | None, Arrays]] = {}

    def __call__(self, inputs: Arrays, sizes: Sizes) -> Arrays:
        """The expected outputs."""
        return self._remember(inputs, None, lambda: self._oracle(inputs, sizes))

    def at(self, inputs: Arrays, sizes: Sizes, places: Places) -> Arrays:
        """The same for some elements only, as flat rows."""
        return self._remember(inputs, places, lambda: self._oracle.at(inputs, sizes, places))

    def _remember(self, inputs: Arrays, places: Places | None, ask: Callable[[], Arrays]) -> Arrays:
        if sum(array.nbytes for array in inputs.values()) < self._least_bytes:
            return ask()
        known = self._answers.get(id(inputs))
        if known is not None and known[0] is inputs and _are_same(known[1], places):
            return known[2]
        answer = ask()
        self._answers[id(inputs)] = inputs, places, answer
        return answer


def _are_same(places: Places | None, others: Places | None) -> bool:
    if places is None or others is None:
        return places is others
    return all(np.array_equal(places[name], others[name]) for name in others)


def _digest(inputs: Mapping[str, np.ndarray], sizes: Sizes) -> bytes:
    digest = hashlib.sha256(repr(sorted(sizes.items())).encode())
    for name, array in sorted(inputs.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.digest()
