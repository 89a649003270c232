"""Reads a cubin's `__device__` variables and the addresses that a loader fills in: ELF symbols and
relocations."""

from __future__ import annotations

from grader.records import ConstantVariable, DeviceVariable, Pointer
from grader.toolchain.elf import Elf

VARIABLE_SECTIONS = (".nv.global", ".nv.global.init")
CONSTANT_SECTION = ".nv.constant3"
_MANAGED = 0x4
"""STO_CUDA_MANAGED in st_other of a symbol."""
_ADDRESS_KINDS = frozenset({2, 4, 0x23})
"""Relocations to 64 bits with an address: R_CUDA_64, R_CUDA_G64 and R_CUDA_FUNC_DESC_64 (of a
kernel), as `cuobjdump -elf` names them."""


def read_variable_bytes(elf: Elf) -> int:
    """Bytes of the cubin's `__device__` and `__managed__` variables together.

    From their symbols: of a section's size ptxas writes the lower 32 bits only.
    """
    return sum(int(symbol["st_size"]) for symbol, _ in elf.symbols_in(*VARIABLE_SECTIONS))


def read_constant_variables(elf: Elf) -> tuple[ConstantVariable, ...]:
    """All `__constant__` variables in the order of their symbols."""
    return tuple(
        ConstantVariable(symbol.name, int(symbol["st_value"]), int(symbol["st_size"]))
        for symbol, _ in elf.symbols_in(CONSTANT_SECTION)
        if symbol["st_info"]["type"] == "STT_OBJECT"
    )


def read_variables(elf: Elf) -> tuple[DeviceVariable, ...]:
    """All variables in the order of their symbols, as they are before the first launch."""
    pointers = {name: read_pointers(elf, name) or () for name in VARIABLE_SECTIONS}
    names = {id(symbol): name for symbol, name in zip(elf.symbols, elf.names, strict=True)}
    others = zip(elf.symbols, elf.others, strict=True)
    managed = {id(symbol) for symbol, other in others if other & _MANAGED}
    found = []
    for symbol, section in elf.symbols_in(*VARIABLE_SECTIONS):
        if symbol["st_info"]["type"] != "STT_OBJECT":
            continue
        start, size = int(symbol["st_value"]), int(symbol["st_size"])
        data = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()[start : start + size]
        own = tuple(
            Pointer(pointer.offset - start, pointer.symbol, pointer.addend)
            for pointer in pointers[section.name]
            if start <= pointer.offset < start + size
        )
        name = names[id(symbol)]
        found.append(DeviceVariable(name, size, data, own, id(symbol) in managed))
    return tuple(found)


def read_pointers(elf: Elf, name: str) -> tuple[Pointer, ...] | None:
    """The addresses that a loader fills in in a section; None if it fills in anything else too.

    Before sm_80 there are `.rel` sections too, whose addends lie in the section that they fill in.
    """
    tables = [elf.named[table] for table in (f".rela{name}", f".rel{name}") if table in elf.named]
    pointers = []
    for entry in (entry for table in tables for entry in table.iter_relocations()):
        if entry["r_info_type"] not in _ADDRESS_KINDS:
            return None
        start = int(entry["r_offset"])
        if entry.is_RELA():
            addend = int(entry["r_addend"])
        else:
            held = elf.named[name].data()[start : start + 8]
            addend = int.from_bytes(held, "little", signed=True)
        pointers.append(Pointer(start, elf.names[entry["r_info_sym"]], addend))
    return tuple(pointers)
