"""The line of the submission for each instruction: the cubin's `.debug_line`.

It is a DWARF 3 line-number program (section 6.2) with an additional operation of NVIDIA,
`DW_LNE_inlined_call` (LLVM's NVPTX backend writes it, too): from here on, code is inlined at the
call in the row of this number; 0 ends that. Rows are numbered from 1 in each sequence. pyelftools
reads the header, but does not know this operation. nvdisasm prints the lines (`-gi -c`), but takes
half a second, and misses a row with the same file and line as the previous row if it is inlined
elsewhere.
"""

from __future__ import annotations

import io
import posixpath
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from elftools.common.utils import struct_parse
from elftools.dwarf.constants import DW_LNE, DW_LNS
from elftools.dwarf.structs import DWARFStructs

from grader.toolchain.elf import CODE, UNREADABLE, Elf, unreadable

_SECTION = ".debug_line"
_RELOCATIONS = (".rela.debug_line", ".rel.debug_line")
_INLINED_CALL = 0x90
_ADDRESS_BYTES, _LENGTH_BYTES = 8, 4
_OLDEST, _NEWEST = 2, 4
"""Versions of the header; ptxas 11 to 13.5 writes 2 or 3."""


@dataclass(frozen=True)
class LineTable:
    """Lines of the submission for the code of a section: code from byte `starts[i]` up to the next
    start belongs to `lines[i]`; None for code without a line."""

    starts: tuple[int, ...]
    lines: tuple[int | None, ...]

    def line_at(self, offset: int, *, since: int = 0) -> int | None:
        """The line of the instruction at an offset; None if no row from `since` on, the start of
        its function, has a line."""
        index = bisect_right(self.starts, offset) - 1
        return self.lines[index] if index >= 0 and self.starts[index] >= since else None


NO_LINES = LineTable((), ())


def read_lines(elf: Elf, source_name: str) -> dict[str, LineTable]:
    """The lines of the file of this name, by the function that a section of code is named after.
    Raises GraderError for a table that cannot be read."""

    def find_own(program: _Program, rows: Sequence[_Row]) -> Set[int]:
        return {number for number, path in program.files.items() if _name(path) == source_name}

    return {name: table for name, (_, table) in _read(elf, find_own).items()}


def read_source_lines(elf: Elf) -> dict[str, tuple[str, LineTable]]:
    """For each section of code, by its function: the path of its first function's source, and the
    lines of that file. Raises GraderError for a table that cannot be read."""

    def find_own(program: _Program, rows: Sequence[_Row]) -> Set[int]:
        first = rows[0]
        while 0 < first.call < len(rows) and rows[first.call - 1] is not first:
            first = rows[first.call - 1]
        path = program.files.get(first.file)
        return {number for number, each in program.files.items() if each == path}

    return _read(elf, find_own)


@dataclass(frozen=True)
class _Row:
    """Code from `address` on, in the section of a symbol, belongs to this line of a file, inlined
    at the call of another row, 0 for none. `line` is None at the end of a run of code."""

    symbol: int
    address: int
    file: int
    line: int | None
    call: int


def _read(elf: Elf, find_own: _FindOwn) -> dict[str, tuple[str, LineTable]]:
    if _SECTION not in elf.named:
        return {}
    try:
        return _read_tables(elf, find_own)
    except (*UNREADABLE, IndexError, TypeError) as error:
        raise unreadable(error) from error


def _read_tables(elf: Elf, find_own: _FindOwn) -> dict[str, tuple[str, LineTable]]:
    data, symbols = elf.named[_SECTION].data(), _read_symbols(elf)
    lines: dict[str, dict[int, int | None]] = {}
    paths: dict[str, str] = {}
    start = 0
    while start < len(data):
        program = _Program(data, start, symbols)
        program.run()
        start = program.end
        for rows in program.sequences:
            place = elf.symbols[rows[0].symbol]["st_shndx"] if rows else None
            if isinstance(place, int):  # a word where the code lies elsewhere
                name = elf.sections[place].name.removeprefix(CODE)
                own = find_own(program, rows)
                found = lines.setdefault(name, {})
                paths.setdefault(name, next((program.files[number] for number in own), ""))
                found |= {row.address: _find_line(row, rows, own) for row in rows}
    return {
        name: (
            paths[name],
            LineTable(tuple(sorted(found)), tuple(found[start] for start in sorted(found))),
        )
        for name, found in lines.items()
    }


def _name(path: str) -> str:
    """A path without its folders."""
    return path.rpartition("/")[2]


def _read_symbols(elf: Elf) -> dict[int, int]:
    """By the places in the program that hold an address, the symbols that the addresses are
    relative to."""
    tables = [elf.named[name] for name in _RELOCATIONS if name in elf.named]
    entries = (each for table in tables for each in table.iter_relocations())
    return {int(each["r_offset"]): int(each["r_info_sym"]) for each in entries}


def _find_line(row: _Row, rows: Sequence[_Row], own: Set[int]) -> int | None:
    """The line of a row if its file is the submission; else the line of the call that it is inlined
    at, and so on outwards."""
    while row.line is not None:
        if row.file in own:
            return row.line
        if not 0 < row.call <= len(rows):
            return None
        outer, row = row, rows[row.call - 1]
        if row is outer:
            return None
    return None


_FindOwn = Callable[["_Program", Sequence[_Row]], Set[int]]
"""Chooses the numbers of the files whose lines a function's code gets."""
_START = _Row(symbol=0, address=0, file=1, line=1, call=0)


class _Program:
    """A line-number program, from an offset of the section to `end`. `files` are the paths of
    its files, by number; `sequences` are the rows made so far, function by function."""

    def __init__(self, data: bytes, start: int, symbols: Mapping[int, int]) -> None:
        structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=_ADDRESS_BYTES)
        stream = io.BytesIO(data)
        self._header: Any = struct_parse(structs.Dwarf_lineprog_header, stream, start)
        if not _OLDEST <= self._header["version"] <= _NEWEST:
            raise ValueError(f"its line table is of version {self._header['version']}")
        self._data, self._at, self._symbols = data, stream.tell(), symbols
        self.end = start + int(self._header["unit_length"]) + _LENGTH_BYTES
        folders = ["", *(folder.decode() for folder in self._header["include_directory"])]
        self.files = {
            number: posixpath.join(folders[entry["dir_index"]], entry["name"].decode())
            for number, entry in enumerate(self._header["file_entry"], 1)
        }
        self.sequences: list[list[_Row]] = [[]]
        self._now = _START

    def run(self) -> None:
        """Carry out all operations (DWARF 3, 6.2.5)."""
        first_special = self._header["opcode_base"]
        while self._at < self.end:
            opcode = self._take(1)
            if opcode >= first_special:
                steps, line = divmod(opcode - first_special, self._header["line_range"])
                self._move(steps, self._header["line_base"] + line)
                self.sequences[-1].append(self._now)
            elif opcode:
                self._do_standard(opcode)
            else:
                length = self._take_uleb()
                after = self._at + length
                if length:
                    self._do_extended(self._take(1))
                self._at = after

    def _do_standard(self, opcode: int) -> None:
        match opcode:
            case DW_LNS.copy:
                self.sequences[-1].append(self._now)
            case DW_LNS.advance_pc:
                self._move(self._take_uleb(), 0)
            case DW_LNS.advance_line:
                self._move(0, self._take_sleb())
            case DW_LNS.set_file:
                self._now = replace(self._now, file=self._take_uleb())
            case DW_LNS.const_add_pc:
                first_special = self._header["opcode_base"]
                self._move((255 - first_special) // self._header["line_range"], 0)
            case DW_LNS.fixed_advance_pc:
                self._now = replace(self._now, address=self._now.address + self._take(2))
            case _:
                for _ in range(self._header["standard_opcode_lengths"][opcode - 1]):
                    self._take_uleb()

    def _do_extended(self, opcode: int) -> None:
        match opcode:
            case DW_LNE.set_address:
                symbol = self._symbols.get(self._at, 0)  # 0: nvlink removed the function
                self._now = replace(self._now, symbol=symbol, address=self._take(_ADDRESS_BYTES))
            case DW_LNE.end_sequence:
                self.sequences[-1].append(replace(self._now, line=None))
                self.sequences.append([])
                self._now = _START
            case opcode if opcode == _INLINED_CALL:
                self._now = replace(self._now, call=self._take_uleb())

    def _move(self, steps: int, lines: int) -> None:
        now, size = self._now, self._header["minimum_instruction_length"]
        line = (now.line or 0) + lines
        self._now = replace(now, address=now.address + steps * size, line=line)

    def _take(self, count: int) -> int:
        taken = self._data[self._at : self._at + count]
        self._at += count
        return int.from_bytes(taken, "little")

    def _take_uleb(self) -> int:
        return self._take_leb()[0]

    def _take_sleb(self) -> int:
        value, bits = self._take_leb()
        return value - (1 << bits) if value >> (bits - 1) else value

    def _take_leb(self) -> tuple[int, int]:
        """A number of variable length (DWARF 3, 7.6), and how many bits it was written in."""
        value, bits, more = 0, 0, True
        while more:
            byte = self._take(1)
            value |= (byte & 0x7F) << bits
            bits, more = bits + 7, bool(byte & 0x80)
        return value, bits
