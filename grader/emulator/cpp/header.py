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

_LAYOUTS = (blocks, heap, textures, forms, execution, checked)
_RECORDS = {
    name.title().replace("_", ""): record
    for module in _LAYOUTS
    for name, record in vars(module).items()
    if isinstance(record, np.dtype) and not name.startswith("_")
}
_ENUMS = {
    name: kind
    for module in _LAYOUTS
    for name, kind in vars(module).items()
    if isinstance(kind, type) and any(key.isupper() for key in vars(kind))
}
_NUMBERS = {"float32": "float", "float64": "double", "bool": "bool"}
_HEAD = """\
// Written by header.py from the layouts that Python uses.
#pragma once

#include <cstddef>
#include <cstdint>

struct Residents;
struct Cluster;
struct UnderWay;
{records}
using Step = uint32_t(Context *, Warp *, const uint8_t *cell);
"""


def write_header() -> str:
    """The text of records.h."""
    declared = "\n".join(f"struct {name};" for name in _RECORDS)
    parts = [_HEAD.format(records=declared), *map(format_constants, map(vars, _LAYOUTS))]
    parts += [format_enum(name, vars(kind)) for name, kind in _ENUMS.items()]
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
        written = target and f"{target} *"
        type_name = written or f"{_NUMBERS.get(number.name, f'{number.name}_t')} "
    return f"{type_name}{name}{''.join(f'[{extent}]' for extent in shape)}"


def _checks(name: str, record: np.dtype) -> Iterator[str]:
    """Assertions that the compiler places every field where NumPy does."""
    yield f"static_assert(sizeof({name}) == {record.itemsize});\n"
    for field, (_, place, *_) in (record.fields or {}).items():
        yield f"static_assert(offsetof({name}, {field}) == {place});\n"
