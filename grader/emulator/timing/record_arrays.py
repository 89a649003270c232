"""Records of the timing model as NumPy arrays."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import numpy as np

from grader.emulator.layouts.blocks import pointer_to
from grader.emulator.timing.timing_records import RECORDS

R = TypeVar("R")

_FORMATS = {int: "i8", float: "f8", bool: "?"}


@cache
def layout_of(record: type) -> np.dtype:
    """The NumPy type of a record class."""
    fields = get_type_hints(record, include_extras=True)
    return np.dtype([(name, _format_of(hint)) for name, hint in fields.items()], align=True)


def _format_of(hint: Any) -> Any:  # noqa: ANN401 - an annotation
    """The NumPy format of a number, an array of numbers, or an address."""
    if typing.get_origin(hint) is not Annotated:
        return _FORMATS[hint]
    named = hint.__metadata__[0]
    return pointer_to(named[:-2]) if named.endswith(" *") else named


def make_rows(record: type, count: int) -> np.ndarray:
    """An array of records with all fields 0."""
    return np.zeros(count, dtype=layout_of(record))


def first_row(record: type[R], rows: np.ndarray) -> R:
    """The first record, with its fields as attributes."""
    return cast(R, rows.view(np.recarray)[0])


def make_pointing(
    record: type, arrays: Mapping[str, np.ndarray], numbers: Mapping[str, float]
) -> np.ndarray:
    """An array with a record that points to `arrays`; they must outlive it."""
    made = make_rows(record, 1)
    for name, array in arrays.items():
        assert array.dtype == _pointed_kind(made.dtype[name]), name
        assert array.flags.c_contiguous, name
        made[name] = array.ctypes.data
    for name, number in numbers.items():
        made[name] = number
    return made


def _pointed_kind(pointer: np.dtype) -> np.dtype:
    """The NumPy type of a pointer's target, a record or a number in C++."""
    assert pointer.metadata is not None
    target = pointer.metadata["points_to"]
    return layout_of(RECORDS[target]) if target in RECORDS else np.dtype(target.removesuffix("_t"))
