"""Reads a cubin's kernels: what ptxas wrote into the ELF symbols and the `.nv.info` sections.

Neither is documented by NVIDIA. Formats and numbers of the attributes are those that `cuobjdump
-elf` names.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from grader.errors import GraderError
from grader.records import Pointer
from grader.toolchain.nvdisasm import Label
from grader.toolchain.variables import VARIABLE_SECTIONS, read_pointers

# st_other of a symbol that is a kernel: STO_CUDA_ENTRY.
_ENTRY = 0x10
# From sm_90 on, a block's static shared memory starts with what the system keeps for itself, and
# sections count it in.
_RESERVED_SHARED_BYTES, _RESERVED_FROM_ARCH = 1024, 90

# How an attribute of `.nv.info` holds its value: in the two bytes of its head, or in so many bytes
# after it.
_SIZED = 0x04

_LITERAL_BANK, _VARIABLE_BANK, _ADDRESS_BANK = 2, 3, 4

_CODE = ".text."

_MAX_THREADS = 0x05
_PARAM_CBANK = 0x0A
_FRAME_SIZE = 0x11
_MIN_STACK_SIZE = 0x12
_KPARAM_INFO = 0x17
_REGCOUNT = 0x2F


@dataclass(frozen=True)
class CubinKernel:
    """What the ELF file says of one kernel. `parameters` are (offset, size) in bytes, in
    declaration order.

    `parameter_base` is the byte offset of the first parameter in constant bank 0; `pointers`,
    `functions` and `encoding`: see `records.Kernel`.
    """

    symbol: str
    parameters: tuple[tuple[int, int], ...]
    parameter_base: int
    registers: int
    static_shared_bytes: int
    local_bytes: int
    max_threads_per_block: int | None
    constants: dict[int, bytes]
    pointers: dict[int, tuple[Pointer, ...]]
    functions: tuple[int, ...]
    encoding: bytes


def read_cubin(cubin: bytes, *, arch: str) -> tuple[CubinKernel, ...]:
    """The kernels of a cubin for `arch` (`sm_90`) in the order of their symbols. Raises GraderError
    for what is no such file."""
    try:
        return tuple(_read_kernels(ELFFile(io.BytesIO(cubin)), _reserved_shared_bytes(arch)))
    except (ELFError, struct.error, KeyError, AttributeError, OverflowError) as error:
        raise GraderError(
            f"The cubin cannot be read: {error}", "Is this nvcc newer than the grader knows?"
        ) from error


def read_labels(cubin: bytes) -> dict[str, Label]:
    """Where every function of a cubin stands, kernels and those inside their sections."""
    elf: Any = ELFFile(io.BytesIO(cubin))
    sections = {
        index: section.name
        for index, section in enumerate(elf.iter_sections())
        if section.name.startswith(_CODE)
    }
    functions = (
        symbol
        for symbol in elf.get_section_by_name(".symtab").iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC"
    )
    return {
        symbol.name: Label(
            sections[symbol["st_shndx"]].removeprefix(_CODE), int(symbol["st_value"])
        )
        for symbol in functions
        if symbol["st_shndx"] in sections
    }


def read_code(cubin: bytes) -> dict[str, bytes]:
    """The machine code of every section of functions, by the function that the section is named
    after."""
    sections = ELFFile(io.BytesIO(cubin)).iter_sections()
    return {
        section.name.removeprefix(_CODE): section.data()
        for section in sections
        if section.name.startswith(_CODE)
    }


def read_variable_bytes(cubin: bytes) -> int:
    """Bytes of the cubin's `__device__` and `__managed__` variables together.

    From their symbols: of a section's size ptxas writes the lower 32 bits only.
    """
    elf = ELFFile(io.BytesIO(cubin))
    held = {
        index
        for index, section in enumerate(elf.iter_sections())
        if section.name in VARIABLE_SECTIONS
    }
    table: Any = elf.get_section_by_name(".symtab")
    return sum(
        int(symbol["st_size"]) for symbol in table.iter_symbols() if symbol["st_shndx"] in held
    )


def _read_kernels(elf: Any, reserved: int) -> Iterator[CubinKernel]:  # noqa: ANN401 - pyelftools has no types
    sections = {section.name: section for section in elf.iter_sections()}
    registers, frames, stacks = (
        _per_function(sections[".nv.info"].data(), kind)
        for kind in (_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE)
    )
    others = _raw_others(sections[".symtab"])
    symbols = enumerate(sections[".symtab"].iter_symbols())
    functions = [
        (index, symbol) for index, symbol in symbols if symbol["st_info"]["type"] == "STT_FUNC"
    ]
    beside: dict[int, list[Any]] = {}
    for _, symbol in functions:
        beside.setdefault(symbol["st_shndx"], []).append(symbol)
    for index, symbol in functions:
        if not others[index] & _ENTRY:
            continue
        info = tuple(_attributes(sections[f".nv.info.{symbol.name}"].data()))
        shared = sections.get(f".nv.shared.{symbol.name}")
        yield CubinKernel(
            symbol=symbol.name,
            parameters=_parameters(info),
            parameter_base=_parameter_base(info),
            registers=registers[index],
            static_shared_bytes=max(0, shared["sh_size"] - reserved) if shared else 0,
            local_bytes=max(frames.get(index, 0), stacks.get(index, 0)),
            max_threads_per_block=_max_threads(info),
            constants={bank: data for bank, data, _ in _constants(sections, symbol.name)},
            pointers={
                bank: pointers
                for bank, _, pointers in _constants(sections, symbol.name)
                if pointers
            },
            functions=tuple(
                sorted(
                    {
                        int(s["st_value"])
                        for s in beside[symbol["st_shndx"]]
                        if s.name != symbol.name
                    }
                )
            ),
            encoding=sections[f".text.{symbol.name}"].data(),
        )


def _constants(
    sections: Mapping[str, Any], symbol: str
) -> Iterator[tuple[int, bytes, tuple[Pointer, ...]]]:
    """Constant banks whose contents the file holds, with the addresses that a loader fills in,
    where it fills in no more than that."""
    names = {
        _LITERAL_BANK: f".nv.constant{_LITERAL_BANK}.{symbol}",
        _VARIABLE_BANK: ".nv.constant3",
        _ADDRESS_BANK: ".nv.constant4",
    }
    for bank, name in names.items():
        pointers = read_pointers(sections, name)
        if name in sections and pointers is not None:
            yield bank, sections[name].data(), pointers


def _raw_others(symtab: Any) -> bytes:  # noqa: ANN401
    """st_other of every symbol as a number: pyelftools splits it into ELF's own fields, which CUDA
    uses otherwise."""
    data: bytes = symtab.data()
    return data[5 :: symtab["sh_entsize"]]


def _reserved_shared_bytes(arch: str) -> int:
    number = re.search(r"\d+", arch)
    return _RESERVED_SHARED_BYTES if number and int(number.group()) >= _RESERVED_FROM_ARCH else 0


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(attribute, value) of an `.nv.info` section: a byte of format, one of attribute, two of value
    or of its length."""
    position = 0
    while position < len(data):
        kind, attribute, length = struct.unpack_from("<BBH", data, position)
        position += 4
        size = length if kind == _SIZED else 0
        yield attribute, data[position : position + size] if size else struct.pack("<H", length)
        position += size


def _per_function(data: bytes, wanted: int) -> dict[int, int]:
    """Symbol index to value, for an attribute that pairs them."""
    return dict(
        struct.unpack("<II", value) for attribute, value in _attributes(data) if attribute == wanted
    )


def _parameters(info: tuple[tuple[int, bytes], ...]) -> tuple[tuple[int, int], ...]:
    """KPARAM_INFO: index (4 bytes), ordinal (2), offset (2), then flags whose bits from 18 on are
    the size."""
    found = (
        struct.unpack("<IHHI", value) for attribute, value in info if attribute == _KPARAM_INFO
    )
    return tuple(
        (offset, flags >> 18)
        for _, _, offset, flags in sorted(found, key=lambda parameter: parameter[1])
    )


def _parameter_base(info: tuple[tuple[int, bytes], ...]) -> int:
    """PARAM_CBANK: symbol (4 bytes), then offset (2) and size (2) of all parameters together."""
    values = [
        struct.unpack("<IHH", value) for attribute, value in info if attribute == _PARAM_CBANK
    ]
    return int(values[0][1]) if values else 0


def _max_threads(info: tuple[tuple[int, bytes], ...]) -> int | None:
    """MAX_THREADS, the x, y and z of `__launch_bounds__`, whose product is the bound."""
    values = [
        struct.unpack("<III", value) for attribute, value in info if attribute == _MAX_THREADS
    ]
    return values[0][0] * values[0][1] * values[0][2] if values else None
