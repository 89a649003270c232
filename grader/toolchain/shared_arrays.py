"""The position of each `__shared__` array in a block's shared memory, and its extents in the
source.

A cubin has no symbols for them. With `-lineinfo` ptxas keeps the PTX text in it, which names them
in the order of their layout, with size and alignment. Extents come from the declarations in the
source, if they can be computed. Anything inconsistent is left out: an array without a name is
better than an array with a wrong name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from grader.cpp.cursor import LanguageError
from grader.cpp.declarations import LONGEST_EXPRESSION, read_constants
from grader.cpp.expressions import CODE, parse_expression
from grader.cpp.lexer import Token, read_code
from grader.cpp.types import size_of
from grader.records import SharedArray
from grader.toolchain.elf import Elf

_PTX_SECTION = ".nv_debug_ptx_txt"
ENTRY = re.compile(r"\.entry (?P<symbol>[\w$]+)\(")
_STATIC = re.compile(
    r"^\s*\.shared \.align (?P<align>\d+) \.(?P<type>[a-z]\d+)"
    r" (?P<symbol>[\w$]+)(?:\[(?P<count>\d+)\])?;"
)
_DYNAMIC = re.compile(r"^\s*\.extern \.shared \.align \d+ \.b8 (?P<symbol>[\w$]+)\[\];")
_DYNAMIC_ALIGNMENT = 16
_SECTION_ALIGNMENT = 16

_ENDS = (";", "__shared__")
_NO_TYPE = frozenset("={}()")
"""Tokens that no declaration has before its first name."""
_LONGEST_DECLARATION, _MOST_ARRAYS = 200, 64
"""Limits, in tokens of a declaration and arrays of a kernel: beyond them arrays get no names."""
Shape = tuple[str, list[str], Mapping[str, int]]
"""A declaration: its type, its extents as text, and the constants of the file."""
Shapes = Mapping[str, Shape]
Solved = dict[tuple[str, int], tuple[int, ...] | None]
"""Known extents of an array by name and size, for all kernels that have it."""

_MOST_EXTENTS = 8
_MOST_TRIED = 4096
"""An extent with one unknown (a template's parameter) is solved by trying values up to this."""


def read_shared_arrays(elf: Elf, source: str) -> dict[str, tuple[SharedArray, ...]]:
    """The arrays of each kernel by the kernel's symbol, if the file has them; `source` is the
    submission's text."""
    shapes = _read_shapes(source)
    solved: Solved = {}
    few = (found for found in _kernels(read_ptx(elf)) if len(found[1]) <= _MOST_ARRAYS)
    return {symbol: _lay_out(statics, dynamic, shapes, solved) for symbol, statics, dynamic in few}


def read_ptx(elf: Elf) -> list[str]:
    """The lines of the PTX text in a cubin; none if it was made without `-lineinfo`."""
    section = elf.named.get(_PTX_SECTION)
    return [] if section is None else section.data().decode("utf-8", "replace").split("\0")


def read_array_symbols(lines: list[str]) -> dict[str, tuple[str, ...]]:
    """The symbols of each kernel's arrays in the PTX text, in the order of `read_shared_arrays`."""
    return {
        symbol: (
            *(static["symbol"] for static in statics),
            *((dynamic,) if dynamic is not None else ()),
        )
        for symbol, statics, dynamic in _kernels(lines)
    }


def fitting_arrays(arrays: tuple[SharedArray, ...], static_bytes: int) -> tuple[SharedArray, ...]:
    """The arrays, if they fill the kernel's static shared memory as ptxas laid it out; else none:
    some were left out or moved."""
    end = max(
        (array.offset + array.size_bytes for array in arrays if array.size_bytes is not None),
        default=0,
    )
    return arrays if end <= static_bytes < end + _SECTION_ALIGNMENT else ()


def _kernels(lines: list[str]) -> Iterator[tuple[str, list[re.Match[str]], str | None]]:
    """(symbol, static arrays, the dynamic array of the file or None) of each kernel."""
    dynamic = {match["symbol"] for line in lines if (match := _DYNAMIC.match(line))}
    found: dict[str, list[re.Match[str]]] = {}
    current: list[re.Match[str]] | None = None
    for line in lines:
        if entry := ENTRY.search(line):
            current = found.setdefault(entry["symbol"], [])
        elif (static := _STATIC.match(line)) and current is not None:
            current.append(static)
    for symbol, statics in found.items():
        yield symbol, statics, next(iter(dynamic)) if len(dynamic) == 1 else None


def _lay_out(
    statics: list[re.Match[str]], dynamic: str | None, shapes: Shapes, solved: Solved
) -> tuple[SharedArray, ...]:
    arrays, end = [], 0
    for static in statics:
        alignment, element = int(static["align"]), int(static["type"][1:]) // 8
        size = element * int(static["count"] or 1)
        start = -(-end // alignment) * alignment
        arrays.append(_describe(_plain_name(static["symbol"]), start, size, shapes, solved))
        end = start + size
    if dynamic is not None:
        start = -(-end // _DYNAMIC_ALIGNMENT) * _DYNAMIC_ALIGNMENT
        arrays.append(_describe(_plain_name(dynamic), start, None, shapes, solved))
    return tuple(arrays)


def _plain_name(symbol: str) -> str:
    """`tile` of `_ZZ9transposePfE4tile`."""
    end = len(symbol.removesuffix("_0"))
    for match in re.finditer(r"(?<=E)\d{1,6}", symbol):
        if match.end() + int(match[0]) == end and symbol[match.end() : end].isidentifier():
            return symbol[match.end() : end]
    return symbol


def _describe(
    name: str, offset: int, size_bytes: int | None, shapes: Shapes, solved: Solved
) -> SharedArray:
    """The array with its extents, if a declaration of this name fits its size."""
    known = shapes.get(name)
    if known is None:
        return SharedArray(name, offset, size_bytes)
    type_, extents, constants = known
    element = _element_bytes(type_)
    if size_bytes is None:
        return SharedArray(name, offset, None, (0,) if len(extents) == 1 else (), element)
    if (name, size_bytes) not in solved:
        solved[name, size_bytes] = _solve(extents, constants, size_bytes, element)
    shape = solved[name, size_bytes]
    if shape is None or size_bytes % math.prod(shape):
        return SharedArray(name, offset, size_bytes)
    return SharedArray(name, offset, size_bytes, shape, size_bytes // math.prod(shape))


def _solve(
    extents: list[str], constants: Mapping[str, int], size_bytes: int, element: int | None
) -> tuple[int, ...] | None:
    """The extents as numbers; an unknown name in them is solved from the size."""
    if len(extents) > _MOST_EXTENTS or max(map(len, extents), default=0) > LONGEST_EXPRESSION:
        return None
    try:
        parsed = [parse_expression(extent, dialect=CODE) for extent in extents]
    except LanguageError:
        return None
    unknown = frozenset[str]().union(*(each.names for each in parsed)) - constants.keys()
    if len(unknown) > 1 or (unknown and element is None):
        return None
    known = dict(constants)
    for value in range(1, _MOST_TRIED) if unknown else range(1):
        known |= dict.fromkeys(unknown, value)
        try:
            shape = tuple(each.evaluate(known) for each in parsed)
        except LanguageError:
            continue
        fits = element is None or math.prod(shape) * element == size_bytes
        if fits and min(shape, default=1) >= 1:
            return shape
    return None


def list_takers(source: str, size_bytes: int) -> tuple[tuple[str, int], ...]:
    """The `__shared__` arrays of a file with their bytes by its own constants, if their sum is
    `size_bytes`: for files that ptxas refuses, since there is no cubin."""
    found: dict[str, int] = {}
    for name, (type_, extents, constants) in _read_shapes(source).items():
        element = _element_bytes(type_)
        if element is None or not extents:
            continue
        try:
            shape = [parse_expression(each, dialect=CODE).evaluate(constants) for each in extents]
        except LanguageError:
            continue
        found[name] = element * math.prod(shape)
    together = sum(found.values())
    fits = together <= size_bytes < together + _SECTION_ALIGNMENT * (len(found) + 1)
    return tuple(found.items()) if fits else ()


def _element_bytes(type_: str) -> int | None:
    """The bytes of a declaration's type (`const float`), if it is CUDA's."""
    sizes = (size_of(word) for word in reversed(type_.split()))
    return next((size for size in sizes if size is not None), None)


def _read_shapes(source: str) -> dict[str, Shape]:
    """Every `__shared__` variable by its name; names that are declared in two ways are left out."""
    tokens = read_code(source)
    constants = read_constants(source)
    found: dict[str, Shape] = {}
    twice: set[str] = set()
    for index, token in enumerate(tokens):
        if token.text != "__shared__":
            continue
        for name, type_, extents in _read_declarators(
            tokens[index + 1 : index + 1 + _LONGEST_DECLARATION]
        ):
            shape = (type_, extents, constants)
            if found.get(name, shape) != shape:
                twice.add(name)
            found[name] = shape
    return {name: shape for name, shape in found.items() if name not in twice}


def _read_declarators(tokens: Sequence[Token]) -> Iterator[tuple[str, str, list[str]]]:
    """(name, type, extents) of the declarations up to the semicolon: `float a[2][N], b[3]`."""
    texts = [token.text for token in takewhile(lambda token: token.text not in _ENDS, tokens)]
    if len(texts) == len(tokens):
        return
    first = texts.index("[") - 1 if "[" in texts else len(texts) - 1
    if first < 1 or not _NO_TYPE.isdisjoint(texts[:first]):
        return
    name, extent = texts[first], None
    extents: list[str] = []
    for text in [*texts[first + 1 :], ","]:
        if text == "[":
            extent = ""
        elif text == "]" and extent is not None:
            extents, extent = [*extents, extent.strip()], None
        elif extent is not None:
            extent += f" {text}"
        elif text == ",":
            if name.isidentifier():
                yield name, " ".join(texts[:first]), extents
            name, extents = "", []
        else:
            name += text
