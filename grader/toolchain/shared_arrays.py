"""Which `__shared__` array lies where in a block's shared memory, and in which indices the source counts it.

A cubin has no symbols for them, but with `-lineinfo` ptxas keeps the PTX text in it, which names them in the order in which
they are laid out, with size and alignment. Extents come from the declarations in the source, where they can be worked out.
Whatever does not fit together is left out: an array without a name is better than one with a wrong one.
"""

from __future__ import annotations

import ast
import io
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from elftools.elf.elffile import ELFFile

from grader.records import SharedArray

_PTX_SECTION = ".nv_debug_ptx_txt"
_ENTRY = re.compile(r"\.entry (?P<symbol>[\w$]+)\(")
_STATIC = re.compile(r"^\s*\.shared \.align (?P<align>\d+) \.(?P<type>[a-z]\d+) (?P<symbol>[\w$]+)(?:\[(?P<count>\d+)\])?;")
_DYNAMIC = re.compile(r"^\s*\.extern \.shared \.align \d+ \.b8 (?P<symbol>[\w$]+)\[\];")
_DYNAMIC_ALIGNMENT = 16
_SECTION_ALIGNMENT = 16

_DECLARATION = re.compile(r"__shared__\s+(?P<type>[^;={}()]*?)\s*\b(?P<names>\w+\s*(?:\[[^;]*)?);", re.DOTALL)
_DECLARATOR = re.compile(r"(?P<name>\w+)\s*(?P<extents>(?:\[[^\[\]]*\]\s*)*)$")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<value>[^\n]+)$", re.MULTILINE)
_CONSTANT = re.compile(
    r"\b(?:constexpr|const)\s+(?:static\s+)?(?:unsigned\s+)?(?:int|unsigned|size_t|auto|long)\s+(?P<name>\w+)\s*=\s*(?P<value>[^;,]+)[;,]"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ELEMENT_BYTES = {
    "char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "half": 2, "__half": 2, "int16_t": 2, "uint16_t": 2, "__nv_bfloat16": 2,
    "int": 4, "unsigned": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "half2": 4, "__half2": 4,
    "double": 8, "long": 8, "float2": 8, "int2": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "float4": 16, "int4": 16, "double2": 16,
}  # fmt: skip
Shape = tuple[str, list[str], Mapping[str, int]]
"""A declaration: its type, its extents as text, and the constants of the file."""
Shapes = Mapping[str, Shape]

_MOST_TRIED = 4096
"""An extent in terms of one unknown (a template's parameter) is solved for by trying values up to this one."""


def read_shared_arrays(cubin: bytes, source: str) -> dict[str, tuple[SharedArray, ...]]:
    """The arrays of each kernel by the kernel's symbol, where the file tells them; `source` is the submission's text."""
    shapes = _read_shapes(source)
    lines = read_ptx(ELFFile(io.BytesIO(cubin)))
    return {symbol: _lay_out(statics, dynamic, shapes) for symbol, statics, dynamic in _kernels(lines)}


def read_ptx(elf: Any) -> list[str]:  # noqa: ANN401 - pyelftools has no types
    """The lines of the PTX text in a cubin; none where it was made without `-lineinfo`."""
    section = elf.get_section_by_name(_PTX_SECTION)
    return [] if section is None else section.data().decode("utf-8", "replace").split("\0")


def read_array_symbols(lines: list[str]) -> dict[str, tuple[str, ...]]:
    """The symbols of each kernel's arrays in the PTX text, in the order of `read_shared_arrays`."""
    return {
        symbol: (*(static["symbol"] for static in statics), *((dynamic,) if dynamic is not None else ()))
        for symbol, statics, dynamic in _kernels(lines)
    }


def fitting_arrays(arrays: tuple[SharedArray, ...], static_bytes: int) -> tuple[SharedArray, ...]:
    """The arrays, if they fill the kernel's static shared memory as ptxas laid it out; else none: some were left out or moved."""
    end = max((array.offset + array.size_bytes for array in arrays if array.size_bytes is not None), default=0)
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


def _lay_out(statics: list[re.Match[str]], dynamic: str | None, shapes: Shapes) -> tuple[SharedArray, ...]:
    arrays, end = [], 0
    for static in statics:
        alignment, element = int(static["align"]), int(static["type"][1:]) // 8
        size = element * int(static["count"] or 1)
        start = -(-end // alignment) * alignment
        arrays.append(_describe(_plain_name(static["symbol"]), start, size, shapes))
        end = start + size
    if dynamic is not None:
        start = -(-end // _DYNAMIC_ALIGNMENT) * _DYNAMIC_ALIGNMENT
        arrays.append(_describe(_plain_name(dynamic), start, None, shapes))
    return tuple(arrays)


def _plain_name(symbol: str) -> str:
    """`tile` of `_ZZ9transposePfE4tile`."""
    for match in re.finditer(r"(?<=E)(\d+)", symbol):
        name = symbol[match.end() : match.end() + int(match[1])]
        if match.end() + int(match[1]) == len(symbol.removesuffix("_0")) and name.isidentifier():
            return name
    return symbol


def _describe(name: str, offset: int, size_bytes: int | None, shapes: Shapes) -> SharedArray:
    """The array with its extents, where a declaration of this name fits its size."""
    known = shapes.get(name)
    if known is None:
        return SharedArray(name, offset, size_bytes)
    type_, extents, constants = known
    element = next((_ELEMENT_BYTES[word] for word in reversed(type_.split()) if word in _ELEMENT_BYTES), None)
    if size_bytes is None:
        return SharedArray(name, offset, None, (0,) if len(extents) == 1 else (), element)
    shape = _solve(extents, constants, size_bytes, element)
    if shape is None or size_bytes % math.prod(shape):
        return SharedArray(name, offset, size_bytes)
    return SharedArray(name, offset, size_bytes, shape, size_bytes // math.prod(shape))


def _solve(extents: list[str], constants: Mapping[str, int], size_bytes: int, element: int | None) -> tuple[int, ...] | None:
    """The extents as numbers; one unknown name in them is solved for by the size."""
    unknown = {name for extent in extents for name in re.findall(r"[A-Za-z_]\w*", extent) if name not in constants}
    if len(unknown) > 1 or (unknown and element is None):
        return None
    trials = range(1, _MOST_TRIED) if unknown else range(1)
    for value in trials:
        shape = [_evaluate(extent, {**constants, **dict.fromkeys(unknown, value)}) for extent in extents]
        if any(extent is None or extent < 1 for extent in shape):
            continue
        counted = tuple(extent for extent in shape if extent is not None)
        if element is None or math.prod(counted) * element == size_bytes:
            return counted
    return None


def _read_shapes(source: str) -> dict[str, Shape]:
    """Every `__shared__` variable by its name; names that are declared in two ways are left out."""
    text = _COMMENT.sub("", source)
    constants: dict[str, int] = {}
    for match in (*_DEFINE.finditer(text), *_CONSTANT.finditer(text)):
        value = _evaluate(match["value"].strip(), constants)
        if value is not None:
            constants[match["name"]] = value
    found: dict[str, Shape] = {}
    twice: set[str] = set()
    for declaration in _DECLARATION.finditer(text):
        for declarator in _split(declaration["names"]):
            named = _DECLARATOR.match(declarator.strip())
            if named is None:
                continue
            extents = [part.strip() for part in re.findall(r"\[([^\[\]]*)\]", named["extents"])]
            shape = (declaration["type"], extents, constants)
            if found.get(named["name"], shape) != shape:
                twice.add(named["name"])
            found[named["name"]] = shape
    return {name: shape for name, shape in found.items() if name not in twice}


def _split(declarators: str) -> list[str]:
    """At the commas outside of brackets."""
    return re.split(r",(?![^\[]*\])", declarators)


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
    """An integer expression of C, as far as it reads the same in Python; None for all others."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, constants)
    except (SyntaxError, ValueError, ZeroDivisionError, KeyError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, constants: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return constants[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, constants), _value(right, constants))
    raise ValueError("not an integer expression")
