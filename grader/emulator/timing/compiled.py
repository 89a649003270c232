"""Functions that numba compiles when their module is loaded, and the records that they work on.

The machine code is kept beside the module, or in the user's cache folder. A worker that is confined
can write no cache, so it loads the modules before; later ones take what the first one left.

A record is a class of annotated fields: `int` and `float` have 64 bits, and
`Annotated[int, "i4"]` names another format of NumPy. Compiled code and Python read its fields by
name.
"""

from __future__ import annotations

import hashlib
import typing
from collections.abc import Callable, MutableSequence, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

import numba
import numpy as np

from grader.emulator import layout

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

_njit = partial(cast(Any, numba.njit), _nrt=False)
"""Without counted references, of which each use of an array would have two: compiled code makes no
arrays."""
_FORMATS = {int: "i8", float: "f8", bool: "?"}


@cache
def layout_of(record: type) -> np.dtype:
    """The NumPy type of one record."""
    fields = get_type_hints(record, include_extras=True)
    return np.dtype([(name, _format_of(hint)) for name, hint in fields.items()], align=True)


def _format_of(hint: Any) -> str | None:  # noqa: ANN401 - an annotation
    """What NumPy calls a number, or numbers in a row; None for a record."""
    if typing.get_origin(hint) is typing.Annotated:
        return cast(str, hint.__metadata__[0])
    return _FORMATS.get(hint)


def make_rows(record: type, count: int) -> np.ndarray:
    """So many records in an array, all fields 0."""
    return np.zeros(count, dtype=layout_of(record))


def make_record(record: type[R]) -> R:
    """One record, all fields 0."""
    return cast(R, make_rows(record, 1).view(np.recarray)[0])


def type_of(hint: Any) -> Any:  # noqa: ANN401 - an annotation
    """The numba type of an annotation: a record, a sequence of records or numbers, or a NamedTuple
    of all these."""
    if typing.get_origin(hint) in (Sequence, MutableSequence):
        return _element_type(typing.get_args(hint)[0])[::1]
    if hasattr(hint, "_fields"):
        fields = get_type_hints(hint, include_extras=True).values()
        return cast(Any, numba.types).NamedTuple(list(map(type_of, fields)), hint)
    return _element_type(hint)


def _element_type(hint: Any) -> Any:  # noqa: ANN401 - an annotation
    found = _format_of(hint)
    return numba.from_dtype(np.dtype(found) if found else layout_of(hint))


def step(function: F) -> F:
    """A function that is compiled as a part of the ones that call it."""
    return cast(F, _njit(forceinline=True)(function))


def compiled(*arguments: Any) -> Callable[[F], F]:  # noqa: ANN401 - annotations
    """Compile a function for arguments of these types, or take it from the cache.

    Its steps are compiled with it, but numba looks only at the age of the file that it is in: the
    name of the cached file holds a digest of all files that may be part of it.
    """

    def compile_now(function: F) -> F:
        function.__qualname__ += f"_{_DIGEST}"
        signature = tuple(map(type_of, arguments))
        try:
            return cast(F, _njit(signature, cache=True)(function))
        except RuntimeError:  # no folder can be written: it takes seconds, each time
            return cast(F, _njit(signature)(function))

    return compile_now


_SOURCES = [Path(layout.__file__), *sorted(Path(__file__).parent.glob("*.py"))]
_DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:16]
