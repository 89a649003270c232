"""Which `__shared__` array lies where in a block's shared memory, and in which indices the source
counts it.

A cubin has no symbols for them, but with `-lineinfo` ptxas keeps the PTX text in it, which names
them in the order in which they are laid out, with size and alignment. Extents come from the
declarations in the source, where they can be worked out. Whatever does not fit together is left
out: an array without a name is better than one with a wrong one.
"""

from __future__ import annotations

import ast
import io
import math
import operator
import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from elftools.elf.elffile import ELFFile

from grader.cpp.lexer import Kind, Token, read_code_and_lines
from grader.records import SharedArray

_PTX_SECTION = ".nv_debug_ptx_txt"
_ENTRY = re.compile(r"\.entry (?P<symbol>[\w$]+)\(")
_STATIC = re.compile(
    r"^\s*\.shared \.align (?P<align>\d+) \.(?P<type>[a-z]\d+)"
    r" (?P<symbol>[\w$]+)(?:\[(?P<count>\d+)\])?;"
)
_DYNAMIC = re.compile(r"^\s*\.extern \.shared \.align \d+ \.b8 (?P<symbol>[\w$]+)\[\];")
_DYNAMIC_ALIGNMENT = 16
_SECTION_ALIGNMENT = 16

_QUALIFIERS = frozenset({"static", "unsigned", "int", "size_t", "auto", "long"})
_NO_TYPE = frozenset("={}()")
"""What no declaration has before its first name that is read here."""
_LONGEST_DECLARATION, _LONGEST_VALUE, _MOST_ARRAYS = 200, 40, 64
"""In tokens, and of a kernel: who writes more gets no names."""
_ELEMENT_BYTES = {
    "char": 1,
    "bool": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "short": 2,
    "half": 2,
    "__half": 2,
    "int16_t": 2,
    "uint16_t": 2,
    "__nv_bfloat16": 2,
    "int": 4,
    "unsigned": 4,
    "float": 4,
    "int32_t": 4,
    "uint32_t": 4,
    "half2": 4,
    "__half2": 4,
    "double": 8,
    "long": 8,
    "float2": 8,
    "int2": 8,
    "int64_t": 8,
    "uint64_t": 8,
    "size_t": 8,
    "float4": 16,
    "int4": 16,
    "double2": 16,
}
Shape = tuple[str, list[str], dict[str, int]]
"""A declaration: its type, its extents as text, and the constants of the file."""
Shapes = Mapping[str, Shape]
Solved = dict[tuple[str, int], tuple[int, ...] | None]
"""What the extents of an array of this name and size were found to be, for all kernels that have
it."""

_LONGEST_TEXT = 200
_MOST_EXTENTS = 8
_MOST_TRIED = 4096
"""An extent in terms of one unknown (a template's parameter) is solved for by trying values up to
this one."""


def read_shared_arrays(cubin: bytes, source: str) -> dict[str, tuple[SharedArray, ...]]:
    """The arrays of each kernel by the kernel's symbol, where the file tells them; `source` is the
    submission's text."""
    shapes = _read_shapes(source)
    solved: Solved = {}
    few = (
        found
        for found in _kernels(read_ptx(ELFFile(io.BytesIO(cubin))))
        if len(found[1]) <= _MOST_ARRAYS
    )
    return {symbol: _lay_out(statics, dynamic, shapes, solved) for symbol, statics, dynamic in few}


def read_ptx(elf: Any) -> list[str]:  # noqa: ANN401 - pyelftools has no types
    """The lines of the PTX text in a cubin; none where it was made without `-lineinfo`."""
    section = elf.get_section_by_name(_PTX_SECTION)
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
    """(symbol, static arrays, the one dynamic array of the file) of each kernel."""
    dynamic = {match["symbol"] for line in lines if (match := _DYNAMIC.match(line))}
    found: dict[str, list[re.Match[str]]] = {}
    current: list[re.Match[str]] | None = None
    for line in lines:
        if entry := _ENTRY.search(line):
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
    """The array with its extents, where a declaration of this name fits its size."""
    known = shapes.get(name)
    if known is None:
        return SharedArray(name, offset, size_bytes)
    type_, extents, constants = known
    element = next(
        (_ELEMENT_BYTES[word] for word in reversed(type_.split()) if word in _ELEMENT_BYTES), None
    )
    if size_bytes is None:
        return SharedArray(name, offset, None, (0,) if len(extents) == 1 else (), element)
    if (name, size_bytes) not in solved:
        solved[name, size_bytes] = _solve(extents, constants, size_bytes, element)
    shape = solved[name, size_bytes]
    if shape is None or size_bytes % math.prod(shape):
        return SharedArray(name, offset, size_bytes)
    return SharedArray(name, offset, size_bytes, shape, size_bytes // math.prod(shape))


def _solve(
    extents: list[str], constants: dict[str, int], size_bytes: int, element: int | None
) -> tuple[int, ...] | None:
    """The extents as numbers; one unknown name in them is solved for by the size."""
    unknown = {
        name
        for extent in extents
        for name in re.findall(r"[A-Za-z_]\w*", extent)
        if name not in constants
    }
    if len(unknown) > 1 or (unknown and element is None) or len(extents) > _MOST_EXTENTS:
        return None
    trials = range(1, _MOST_TRIED) if unknown else range(1)
    for value in trials:
        shape = [
            _evaluate(extent, ChainMap(dict.fromkeys(unknown, value), constants))
            for extent in extents
        ]
        if any(extent is None or extent < 1 for extent in shape):
            continue
        counted = tuple(extent for extent in shape if extent is not None)
        if element is None or math.prod(counted) * element == size_bytes:
            return counted
    return None


def _read_shapes(source: str) -> dict[str, Shape]:
    """Every `__shared__` variable by its name; names that are declared in two ways are left out."""
    tokens = read_code_and_lines(source)
    constants = _read_constants(tokens)
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
    """(name, type, extents) of what is declared up to the semicolon: `float a[2][N], b[3]`."""
    texts = []
    for token in tokens:
        if token.text in (";", "__shared__"):
            break
        if token.kind is not Kind.NEWLINE:
            texts.append(token.text)
    else:
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


def _read_constants(tokens: Sequence[Token]) -> dict[str, int]:
    """The values of macros and of constants, as far as they are plain integer expressions."""
    constants: dict[str, int] = {}
    for define in (True, False):  # macros first
        for index, token in enumerate(tokens):
            if (
                token.text == ("#" if define else "=")
                and (named := _named_value(tokens, index, define=define)) is not None
            ):
                value = _evaluate(named[1], constants)
                if value is not None:
                    constants[named[0]] = value
    return constants


def _named_value(tokens: Sequence[Token], index: int, *, define: bool) -> tuple[str, str] | None:
    """Name and value of the `# define NAME VALUE` or the `const int NAME = VALUE;` whose `#` or `=`
    stands at the index."""
    if define:
        starts_line = index == 0 or tokens[index - 1].kind is Kind.NEWLINE
        if (
            not starts_line
            or [token.text for token in tokens[index + 1 : index + 2]] != ["define"]
            or index + 3 >= len(tokens)
        ):
            return None
        name, first = tokens[index + 2], index + 3
        if tokens[first].text == "(" and tokens[first].start == name.end:  # a macro with parameters
            return None
    else:
        name, first = tokens[index - 1], index + 1
        before = [
            token.text
            for token in tokens[max(0, index - 5) : index - 1]
            if token.kind is not Kind.NEWLINE
        ]
        while before and before[-1] in _QUALIFIERS:
            before.pop()
        if (
            index < 2
            or tokens[index - 2].text not in _QUALIFIERS
            or before[-1:] not in (["const"], ["constexpr"])
        ):
            return None
    value: list[str] = []
    for token in tokens[first : first + _LONGEST_VALUE]:
        if token.kind is Kind.NEWLINE and not define:
            continue
        if token.kind is Kind.NEWLINE or (not define and token.text in (";", ",")):
            return (name.text, " ".join(value)) if name.kind is Kind.NAME else None
        value.append(token.text)
    return None


_OPERATORS: Mapping[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: lambda a, b: a << min(b, 64),
    ast.RShift: operator.rshift,
}


def _evaluate(text: str, constants: Mapping[str, int]) -> int | None:
    """An integer expression of C, as far as it reads the same in Python and its value fits 64 bits;
    None for all others."""
    try:
        return _value(_parse(text), constants)
    except (SyntaxError, ValueError, ZeroDivisionError, KeyError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, constants: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return constants[name]
        case ast.BinOp(left=left, op=op, right=right):
            value = _OPERATORS[type(op)](_value(left, constants), _value(right, constants))
            if abs(value) >> 64:
                raise ValueError("beyond 64 bits")
            return value
    raise ValueError("not an integer expression")


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr:
    """The tree of an expression; the same one is asked for again and again while an unknown in it
    is solved for."""
    if len(text) > _LONGEST_TEXT:
        raise ValueError("too long")
    return ast.parse(text.strip(), mode="eval").body
