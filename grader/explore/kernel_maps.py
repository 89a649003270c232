"""Tensor maps of a run without an exercise: the fields of a spec, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.cpp.cursor import quote
from grader.errors import UsageError
from grader.records import DeviceBuffer
from grader.spec.tensor_map_rules import box_mistakes, field_mistake, read_tensor_map, shape_mistake

TensorMapFields = Mapping[str, object]
_ADVICE = "A map has a box, and may have steps, a swizzle, a fill and an element (docs: Exercises)."


def with_maps(
    buffers: Sequence[DeviceBuffer], maps: Mapping[str, TensorMapFields]
) -> tuple[DeviceBuffer, ...]:
    """The buffers with their tensor maps. Raises UsageError for a map without a buffer, and for
    values that the driver would refuse."""
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
    if mistake := field_mistake(given):
        raise UsageError(f"{where}: {mistake}", _ADVICE)
    map_ = read_tensor_map({"tensor_map": dict(given)})
    assert map_ is not None
    for mistake in box_mistakes(map_, buffer.dtype, len(buffer.shape)):
        raise UsageError(f"{where}: {mistake}", _ADVICE)
    if mistake := shape_mistake(buffer.dtype, buffer.shape):
        raise UsageError(f"{where}: {mistake}", "Pad the rows, or give it one extent only.")
    return replace(buffer, tensor_map=map_)
