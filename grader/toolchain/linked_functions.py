"""Kernels of a linked program (`nvcc -rdc=true`): their functions lie in sections of their own.
Joins each kernel with the functions that it may call, and fills in addresses, as a loader does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.records import SassInstruction
from grader.sass import may_name_code
from grader.toolchain.elf import CODE, Elf
from grader.toolchain.nvdisasm import INSTRUCTION_BYTES

_LOW, _HIGH = (0x38, 0x3E), (0x39, 0x3F)
"""R_CUDA_ABS32_LO_32 and R_CUDA_FUNC_DESC32_LO_32, then both for upper words, as `cuobjdump -elf`
names them. The second kind is the address of a kernel, for a launch."""
_OF_KERNELS = (0x3E, 0x3F)
_FILLED = re.compile(r"32@(?:lo|hi)\([^,]*")
_DEVICE_RUNTIME = re.compile(
    r"__cudaCDP|cudaLaunchDevice|cudaGetParameterBuffer|.*_cuda_device_runtime_cu_"
)
"""Functions of the device runtime: the system provides them, although a program contains code of
libcudadevrt.a that uses undocumented parts of NVIDIA's driver."""
KERNELS_FROM, KERNELS_APART = 0x7D00_0000_0000, 0x100
"""The addresses of kernels: of the first, and the distance to the next."""
_CODE_PLACE = re.compile(r"0x[0-9a-f]+$")
_POINTER = re.compile(r"R\d+$")
_ENTRY = 0x10
_OTHER_TABLE, _UNLINKED = "c[0x2]", "UNLINKED_"
_DATA = (".rela.nv.global.init", ".rela.nv.constant3", ".rela.nv.constant4")


@dataclass(frozen=True)
class LinkedKernel:
    """A kernel's code with its functions behind it, their offsets, and the encoding of both."""

    instructions: tuple[SassInstruction, ...]
    functions: tuple[int, ...]
    encoding: bytes


@dataclass(frozen=True)
class _Reference:
    """An address that a loader fills in: the symbol's index, and the number added to it."""

    kind: int
    symbol: int
    addend: int


class Linker:
    """The functions of a cubin that have sections of their own. `places` are the addresses of those
    whose address is taken by data: the same in all kernels, because they share the data. `kernels`
    are the addresses of kernels, for launches by device code, and `device_runtime` are the names of
    the device runtime's functions."""

    def __init__(self, elf: Elf) -> None:
        self._elf = elf
        self._code = {
            name.removeprefix(CODE): section.data()
            for name, section in elf.named.items()
            if name.startswith(CODE)
        }
        self._references = {name: dict(self._read_references(name)) for name in self._code}
        functions = elf.functions()
        self.device_runtime = [
            symbol.name for _, symbol in functions if _DEVICE_RUNTIME.match(symbol.name)
        ]
        entries = [symbol.name for index, symbol in functions if elf.others[index] & _ENTRY]
        self.kernels = {
            name: KERNELS_FROM + KERNELS_APART * number for number, name in enumerate(entries)
        }
        left_out = {*entries, *self.device_runtime}
        self._others = [name for name in self._code if name not in left_out]
        self.places: dict[str, int] = {}
        if self._takes_addresses():
            start = max(
                (len(self._code[name]) for name in entries if name in self._code), default=0
            )
            self.places = self._lay_out(self._others, start)

    def _read_references(self, name: str) -> Iterator[tuple[int, _Reference]]:
        table = self._elf.named.get(f".rela{CODE}{name}")
        for entry in () if table is None else table.iter_relocations():
            yield (
                int(entry["r_offset"]) // INSTRUCTION_BYTES * INSTRUCTION_BYTES,
                _Reference(
                    int(entry["r_info_type"]), int(entry["r_info_sym"]), int(entry["r_addend"])
                ),
            )

    def _takes_addresses(self) -> bool:
        """Whether data holds addresses of functions."""
        tables = [self._elf.named[name] for name in _DATA if name in self._elf.named]
        symbols = (int(e["r_info_sym"]) for table in tables for e in table.iter_relocations())
        return any(self._section(symbol) is not None for symbol in symbols)

    def _section(self, symbol: int) -> str | None:
        """The function whose section contains a symbol; None for other symbols, and for functions
        that the system provides."""
        place = self._elf.symbols[symbol]["st_shndx"]
        name = self._elf.sections[place].name if isinstance(place, int) else ""
        name = name.removeprefix(CODE) if name.startswith(CODE) else ""
        return None if name in self.device_runtime else name or None

    def _lay_out(self, names: Sequence[str], start: int) -> dict[str, int]:
        places = {}
        for name in names:
            places[name] = start
            start += len(self._code[name])
        return places

    def link(
        self, sections: Mapping[str, Sequence[SassInstruction]], addresses: Mapping[str, int]
    ) -> dict[str, LinkedKernel]:
        """The kernels that need a link. `addresses` are those of variables and of the system's
        functions, by the names of `Elf.names`."""
        return {
            name: self._join(name, sections, addresses)
            for name in self._code
            if name in self.kernels and (self._references[name] or self.places)
        }

    def _join(
        self,
        kernel: str,
        sections: Mapping[str, Sequence[SassInstruction]],
        addresses: Mapping[str, int],
    ) -> LinkedKernel:
        own = len(self._code[kernel])
        places = self.places or self._lay_out(self._find_callees(kernel), own)
        code = list(self._fill(kernel, sections[kernel], 0, places, addresses))
        encoding = self._code[kernel]
        first = min(places.values(), default=own)
        code += [_nothing(at) for at in range(own, first, INSTRUCTION_BYTES)]
        encoding = encoding.ljust(first, b"\0")
        for name, place in places.items():
            code += self._fill(name, sections[name], place, places, addresses)
            encoding += self._code[name]
        return LinkedKernel(tuple(code), tuple(sorted(places.values())), encoding)

    def _find_callees(self, kernel: str) -> list[str]:
        found, waiting = dict[str, None](), [kernel]
        while waiting:
            for reference in self._references[waiting.pop()].values():
                name = self._section(reference.symbol)
                if name in self._others and name not in found:
                    found[name] = None
                    waiting.append(name)
        return list(found)

    def _fill(
        self,
        name: str,
        section: Sequence[SassInstruction],
        place: int,
        places: Mapping[str, int],
        addresses: Mapping[str, int],
    ) -> Iterator[SassInstruction]:
        """The instructions of a section at its place, with all addresses."""
        for each in section:
            opcode, operands = each.opcode, each.operands
            reference = self._references[name].get(each.offset)
            target = None
            if reference is not None:
                target = self._resolve(reference, {**places, name: place}, addresses)
            if target is not None and reference is not None and reference.kind in _LOW + _HIGH:
                word = target & 0xFFFFFFFF if reference.kind in _LOW else target >> 32
                operands = _FILLED.sub(hex(word), operands)
            elif opcode.startswith("CALL.ABS") and target is not None:
                operands = hex(target)
                known = reference is not None and self._section(reference.symbol) is not None
                opcode = opcode.replace("ABS", "REL") if known else opcode
            elif opcode.startswith("RET.ABS") or (
                opcode.startswith("CALL.ABS") and _POINTER.search(operands)
            ):
                opcode = opcode.replace("ABS", "REL")
            elif place and may_name_code(opcode) and (found := _CODE_PLACE.search(operands)):
                operands = operands[: found.start()] + hex(int(found.group(), 16) + place)
            if place and _OTHER_TABLE in operands:  # the kernel has another table of jumps
                opcode = _UNLINKED + opcode
            yield replace(each, offset=each.offset + place, opcode=opcode, operands=operands)

    def _resolve(
        self, reference: _Reference, places: Mapping[str, int], addresses: Mapping[str, int]
    ) -> int | None:
        symbol, section = self._elf.symbols[reference.symbol], self._section(reference.symbol)
        if reference.kind in _OF_KERNELS and section is not None:
            return self.kernels[section]
        if section is not None:
            return places.get(section, 0) + int(symbol["st_value"]) + reference.addend
        start = addresses.get(self._elf.names[reference.symbol])
        return None if start is None else start + reference.addend


def _nothing(offset: int) -> SassInstruction:
    return SassInstruction(offset, None, "NOP", "", None)
