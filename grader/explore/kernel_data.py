"""The data of a run without an exercise: arrays, sizes and scalars by name, checked before anything
runs."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from grader.cpp.cursor import quote
from grader.cpp.types import CPP_NAMES
from grader.devices.base import Arrays
from grader.errors import UsageError
from grader.records import DeviceBuffer, Role
from grader.spec.schema import part_problems
from grader.spec.texture_rules import box_mistakes, read_tensor_map, shape_mistake
from grader.submission.scalars import Scalar

Shape = int | Sequence[int]
Output = np.ndarray | tuple[str, Shape]
"""The content of an output before the run, or its type and shape."""

NO_MAPS: Mapping[str, TensorMapFields] = MappingProxyType({})
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_LANGUAGE = ("ceil_div", "dim3", "max", "min")
"""Names that the launch language defines."""
_SIZE_BITS = 63
_PAIRS = {"float32": "float2", "float64": "double2"}
TensorMapFields = Mapping[str, object]
_ADVICE = "A map has a box, and may have steps, a swizzle, a fill and an element (docs: Exercises)."


@dataclass(frozen=True)
class KernelData:
    """The buffers in order, their contents before the run (without outputs that have none), and the
    numbers for launch lines."""

    buffers: tuple[DeviceBuffer, ...]
    arrays: Arrays
    sizes: Mapping[str, int]
    scalars: Mapping[str, Scalar]

    @property
    def names(self) -> frozenset[str]:
        """All names that a launch line may use."""
        return frozenset((*(each.name for each in self.buffers), *self.sizes, *self.scalars))

    @property
    def fills_outputs(self) -> bool:
        """Whether an output has a content before the run."""
        return any(each.role is Role.OUTPUT and each.name in self.arrays for each in self.buffers)


def read_data(
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, Output],
    sizes: Mapping[str, int],
    scalars: Mapping[str, Scalar],
    tensor_maps: Mapping[str, TensorMapFields] = NO_MAPS,
) -> KernelData:
    """The data, with C-contiguous copies where arrays are not contiguous. Raises UsageError, which
    names the argument, for data that no kernel can take."""
    _check_names({"inputs": inputs, "outputs": outputs, "sizes": sizes, "scalars": scalars})
    if not outputs:
        raise UsageError(
            "outputs: there is no output, so that nothing could be seen of the run",
            'Name the arrays that the kernels write: outputs={"y": ("float32", (n,))}.',
        )
    arrays = {name: _read_array(f"inputs[{name!r}]", array) for name, array in inputs.items()}
    buffers = [
        DeviceBuffer(name, array.dtype.name, array.shape, Role.INPUT)
        for name, array in arrays.items()
    ]
    for name, output in outputs.items():
        what = f"outputs[{name!r}]"
        if isinstance(output, tuple):
            dtype, shape = _read_declared(what, name, output)
        else:
            arrays[name] = _read_array(what, output)
            dtype, shape = arrays[name].dtype, arrays[name].shape
        buffers.append(DeviceBuffer(name, dtype.name, shape, Role.OUTPUT))
    return KernelData(
        with_maps(buffers, tensor_maps),
        arrays,
        {name: _read_size(name, size) for name, size in sizes.items()},
        {name: _read_scalar(name, scalar) for name, scalar in scalars.items()},
    )


def _check_names(given: Mapping[str, Mapping[str, object]]) -> None:
    """Raises UsageError for a name that launch lines cannot use, or that has two meanings."""
    seen: dict[str, str] = {}
    for argument, names in given.items():
        for name in names:
            if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
                raise UsageError(
                    f"{argument}: {name!r} is no identifier",
                    "Use letters, digits and _, as for a variable in C.",
                )
            if name in _LANGUAGE:
                raise UsageError(
                    f"{argument}: {quote(name)} is a word of launch lines", "Use another name."
                )
            if name in seen:
                raise UsageError(
                    f"{argument}: {quote(name)} is given twice, in {seen[name]} too",
                    "Give each name once. An array that kernels read and write is an output with"
                    " a content before the run.",
                )
            seen[name] = argument


def _read_array(what: str, array: object) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise UsageError(
            f"{what} is no NumPy array, but {type(array).__name__}",
            "Give an array, for example np.asarray(values, dtype=np.float32).",
        )
    _check_dtype(what, array.dtype)
    _check_extents(what, array.shape)
    return np.array(array, order="C")


def _read_declared(
    what: str, name: str, declared: tuple[object, ...]
) -> tuple[np.dtype, tuple[int, ...]]:
    try:
        type_, extents = declared
        dtype = np.dtype("" if type_ is None else type_)  # type: ignore[call-overload]
        each = extents if isinstance(extents, Sequence) else (extents,)
        shape = tuple(map(operator.index, each))
    except (TypeError, ValueError):
        raise UsageError(
            f"{what} is neither an array nor a type and a shape",
            f'Give its content before the run, or both: "{name}": ("float32", (n,)).',
        ) from None
    _check_dtype(what, dtype)
    _check_extents(what, shape)
    return dtype, shape


def _check_dtype(what: str, dtype: np.dtype) -> None:
    if dtype.name not in CPP_NAMES or not dtype.isnative:
        raise UsageError(
            f"{what} is of {dtype.newbyteorder('=')}{'' if dtype.isnative else ', byte-swapped'},"
            " which no kernel can take",
            _advise_on(dtype),
        )


def _advise_on(dtype: np.dtype) -> str:
    if dtype.kind == "c":
        part = f"float{4 * dtype.itemsize}"
        return f'Give its real and imaginary parts: .view("{part}"), which a {_PAIRS[part]}* takes.'
    if dtype.names is not None:
        return 'Give its bytes: .view("uint8"), which a pointer to a structure takes.'
    return f"Convert it with .astype to one of {', '.join(CPP_NAMES)}."


def _check_extents(what: str, shape: tuple[int, ...]) -> None:
    if min(shape, default=1) < 1:
        raise UsageError(f"{what} has no elements", "Give it at least one.")


def _read_size(name: str, size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer):
        raise UsageError(
            f"sizes[{name!r}] is no integer, but {type(size).__name__}",
            "Sizes are integers; give a floating-point number as a scalar.",
        )
    if not -(1 << _SIZE_BITS) <= int(size) < 1 << _SIZE_BITS:
        raise UsageError(f"sizes[{name!r}] does not fit 64 bits", "Give a smaller array.")
    return int(size)


def _read_scalar(name: str, scalar: object) -> Scalar:
    if not isinstance(scalar, int | float | np.generic):
        raise UsageError(
            f"scalars[{name!r}] is no number, but {type(scalar).__name__}",
            "Give an int, a float, or a number of NumPy, for example np.float32(2).",
        )
    if isinstance(scalar, np.generic):
        _check_dtype(f"scalars[{name!r}]", scalar.dtype)
    return scalar


def with_maps(
    buffers: Sequence[DeviceBuffer], maps: Mapping[str, TensorMapFields]
) -> tuple[DeviceBuffer, ...]:
    """The buffers with their tensor maps. Raises UsageError for a wrong map."""
    names = [buffer.name for buffer in buffers]
    for name in maps:
        if name not in names:
            raise UsageError(
                f"tensor_maps: there is no input or output {quote(str(name))}",
                f"Give one of {', '.join(names)}.",
            )
    return tuple(
        _with_map(each, maps[each.name]) if each.name in maps else each for each in buffers
    )


def _with_map(buffer: DeviceBuffer, given: TensorMapFields) -> DeviceBuffer:
    where = f"tensor_maps[{buffer.name!r}]"
    if not isinstance(given, Mapping):
        raise UsageError(f"{where} is no mapping, but {type(given).__name__}", _ADVICE)
    for path, mistake in part_problems(given, "tensor_map"):
        raise UsageError(f"{where}{path[1:]}: {mistake}", _ADVICE)
    map_ = read_tensor_map({"tensor_map": dict(given)})
    assert map_ is not None
    for mistake in box_mistakes(map_, buffer.dtype, len(buffer.shape)):
        raise UsageError(f"{where}: {mistake}", _ADVICE)
    if unfit := shape_mistake(buffer.dtype, buffer.shape):
        raise UsageError(f"{where}: {unfit}", "Pad the rows, or give it one extent only.")
    return replace(buffer, tensor_map=map_)
