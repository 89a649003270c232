"""Reads a cubin's `__device__` variables and the addresses that a loader fills in: ELF symbols and
relocations."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from elftools.elf.elffile import ELFFile

from grader.records import DeviceVariable, Pointer

VARIABLE_SECTIONS = (".nv.global", ".nv.global.init")
_ADDRESS_KINDS = frozenset({2, 4})
"""Relocations to 64 bits with an address: R_CUDA_64 and R_CUDA_G64, as `cuobjdump -elf` names
them."""


def read_variables(cubin: bytes) -> tuple[DeviceVariable, ...]:
    """All variables in the order of their symbols, as they are before the first launch."""
    elf: Any = ELFFile(io.BytesIO(cubin))
    sections = list(elf.iter_sections())
    pointers = {
        name: read_pointers({section.name: section for section in sections}, name) or ()
        for name in VARIABLE_SECTIONS
    }
    held = {index for index, section in enumerate(sections) if section.name in VARIABLE_SECTIONS}
    found = []
    for symbol in elf.get_section_by_name(".symtab").iter_symbols():
        index = symbol["st_shndx"]
        if (
            symbol["st_info"]["type"] != "STT_OBJECT"
            or not isinstance(index, int)
            or index not in held
        ):
            continue
        start, size = int(symbol["st_value"]), int(symbol["st_size"])
        section = sections[index]
        data = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()[start : start + size]
        inside = (
            pointer for pointer in pointers[section.name] if start <= pointer.offset < start + size
        )
        own = tuple(
            Pointer(pointer.offset - start, pointer.symbol, pointer.addend) for pointer in inside
        )
        found.append(DeviceVariable(symbol.name, size, data, own))
    return tuple(found)


def read_pointers(sections: Mapping[str, Any], name: str) -> tuple[Pointer, ...] | None:
    """The addresses that a loader fills in in a section; None where it fills in anything else too.

    Before sm_80 there are `.rel` sections too, whose addends lie in the section that they fill in.
    """
    symbols = sections[".symtab"]
    tables = [sections[table] for table in (f".rela{name}", f".rel{name}") if table in sections]
    entries = [entry for table in tables for entry in table.iter_relocations()]
    if any(entry["r_info_type"] not in _ADDRESS_KINDS for entry in entries):
        return None
    return tuple(
        Pointer(
            int(entry["r_offset"]),
            symbols.get_symbol(entry["r_info_sym"]).name,
            _addend(entry, sections[name]),
        )
        for entry in entries
    )


def _addend(entry: Any, section: Any) -> int:  # noqa: ANN401 - pyelftools has no types
    if entry.is_RELA():
        return int(entry["r_addend"])
    start = int(entry["r_offset"])
    return int.from_bytes(section.data()[start : start + 8], "little", signed=True)
