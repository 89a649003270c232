"""Writes records.h: the records and constants of layouts/, and those of timing/timing_records.py in
a namespace of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from grader.emulator.layouts import blocks, checked, execution, forms, heap, textures
from grader.emulator.timing import timing_records as timing_layout
from grader.emulator.timing.pipes import Kind, Unit
from grader.emulator.timing.record_arrays import layout_of
from grader.emulator.timing.stalls import Stall

_RECORDS = {
    "Buffer": execution.BUFFER,
    "Texture": textures.TEXTURE,
    "Copy": execution.COPY,
    "Pattern": execution.PATTERN,
    "Worst": execution.WORST,
    "Slot": execution.SLOT,
    "Warp": execution.WARP,
    "Extent": checked.EXTENT,
    "Found": checked.FOUND,
    "CheckedState": checked.CHECKED_STATE,
    "CodeBlock": blocks.CODE_BLOCK,
    "CodePlace": blocks.CODE_PLACE,
    "TraceBuffer": blocks.TRACE_BUFFER,
    "HeapState": heap.HEAP_STATE,
    "Context": execution.CONTEXT,
}
_ENUMS = (
    execution.AccessFlag,
    forms.CopyForm,
    forms.ArrivalForm,
    forms.GroupForm,
    forms.ElementType,
    forms.ReductionForm,
    forms.BulkForm,
    forms.WorkKind,
    execution.FaultCode,
    execution.TraceWord,
    execution.PatternKind,
    execution.JumpTable,
    execution.Repeat,
    execution.Cost,
    forms.VoteMode,
    checked.FindingCode,
    checked.Trait,
    textures.Texels,
    textures.Edge,
    textures.TextureForm,
    textures.SurfaceForm,
)
_NUMBERS = (
    {"u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t"}
    | {"i1": "int8_t", "i4": "int32_t", "i8": "int64_t"}
    | {"f4": "float", "f8": "double", "b1": "bool"}
)
_HEAD = """\
// Written by header.py from the layouts that Python uses.
#pragma once

#include <cstddef>
#include <cstdint>

struct Context;
struct Residents;
struct Cluster;
struct UnderWay;
struct Warp;
using Step = uint32_t(Context *, Warp *, const uint8_t *cell);
"""


def write_header() -> str:
    """The text of records.h."""
    modules = (heap, blocks, execution, checked)
    parts = [_HEAD, *(format_constants(vars(module)) for module in modules)]
    parts += [format_enum(kind.__name__, vars(kind)) for kind in _ENUMS]
    parts += [format_struct(name, record) for name, record in _RECORDS.items()]
    return "\n".join([*parts, *_timing()])


def _timing() -> Iterator[str]:
    """The records of timing/ have a namespace of their own because a warp is one of them, too."""
    yield "namespace timing {\n"
    yield format_constants(vars(timing_layout) | {"STALLS": len(Stall)})
    yield from (format_enum(kind.__name__, kind.__members__) for kind in (Kind, Unit, Stall))
    for name, record in timing_layout.RECORDS.items():
        yield format_struct(name, layout_of(record))
    yield "} // namespace timing\n"


def format_constants(names: Mapping[str, object]) -> str:
    """The numbers among names in capital letters."""
    return "".join(
        f"constexpr {_type_of(value)} {name} = {value};\n"
        for name, value in names.items()
        if name.isupper() and not name.startswith("_") and isinstance(value, int | float)
    )


def _type_of(value: float) -> str:
    if isinstance(value, float):
        return "double"
    return "int32_t" if value < 0 else "uint32_t"


def format_enum(name: str, values: Mapping[str, object]) -> str:
    """A struct with the members in capital letters."""
    rows = "".join(f"        {key} = {value},\n" for key, value in values.items() if key.isupper())
    return f"struct {name} {{\n    enum : uint32_t {{\n{rows}    }};\n}};\n"


def format_struct(name: str, record: np.dtype) -> str:
    """A struct with the layout of a record. A field may be one of the emulator's records."""
    assert record.fields is not None
    fields = "".join(f"    {_declare(field, record[field])};\n" for field in record.fields)
    return f"struct {name} {{\n{fields}}};\n" + "".join(_checks(name, record))


def _declare(name: str, kind: np.dtype) -> str:
    number, shape = kind.subdtype or (kind, ())
    target = number.metadata["points_to"] if number.metadata else None
    if number.fields is not None:
        target = next(known for known, record in _RECORDS.items() if record == number)
        type_name = f"{target} "
    else:
        type_name = f"{target} *" if target else f"{_NUMBERS[number.str[1:]]} "
    return f"{type_name}{name}{''.join(f'[{extent}]' for extent in shape)}"


def _checks(name: str, record: np.dtype) -> Iterator[str]:
    """Assertions that the compiler places every field where NumPy does."""
    yield f"static_assert(sizeof({name}) == {record.itemsize});\n"
    for field, (_, place, *_) in (record.fields or {}).items():
        yield f"static_assert(offsetof({name}, {field}) == {place});\n"
