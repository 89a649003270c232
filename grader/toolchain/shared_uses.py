"""The `__shared__` array that each machine instruction accesses in the program's text: followed
from the array's symbol to the access.

A machine address does not distinguish an array from its neighbour. The PTX text that `-lineinfo`
leaves in a cubin does: an address starts as the symbol of an array and passes through additions and
selections to the access; `.nv_debug_line_sass` gives the PTX line of each machine instruction. An
address that may belong to two arrays, or comes from memory or from an argument, is left out: a
missed access is better than a wrong accusation.
"""

from __future__ import annotations

import io
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from elftools.common.utils import struct_parse
from elftools.dwarf.lineprogram import LineProgram
from elftools.dwarf.structs import DWARFStructs

from grader.records import SassInstruction, SharedArray, SharedUse
from grader.sass import MemoryOperation, accesses_of
from grader.toolchain.elf import Elf
from grader.toolchain.shared_arrays import ENTRY, read_array_symbols, read_ptx

_LINES = ".nv_debug_line_sass"
_RELOCATION = struct.Struct("<QQq")

_STATEMENT = re.compile(r"^[\s{}]*(?:@!?%?\w+\s+)?(?P<opcode>[a-z][\w.:]*)\s+(?P<operands>.*)$")
_NAME = re.compile(r"(?<![\w$.])%?[A-Za-z_$][\w$]*")
_FIRST_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,]*")
_ADDRESS = re.compile(r"\[\s*(?P<base>[%\w$]+)")
_TYPE = re.compile(r"\.[busf](?P<bits>8|16|32|64|128)\b")
_VECTOR = re.compile(r"\.v(?P<count>[248])\b")
_MACHINE_WIDTH = re.compile(r"\.[US]?(?P<bits>8|16|64|128)\b")

_KINDS = {
    "ld": (MemoryOperation.LOAD,),
    "st": (MemoryOperation.STORE,),
    "atom": (MemoryOperation.FETCH,),
    "red": (MemoryOperation.FETCH, MemoryOperation.REDUCTION),
}
"""PTX instructions that access memory, and how the machine instructions that ptxas makes of them
access shared memory."""
_OTHER_SPACES = {"global", "local", "param", "const"}
_COPIES = ("mov", "cvta", "cvt", "selp")
"""The result is one of the operands; for other instructions it is made of all operands."""
_FROM_ELSEWHERE = ("ld", "atom", "call", "shfl")
"""The results of these are no addresses derived from their operands."""

_ELSEWHERE = 1
"""Bit of an origin: a number, or an address from memory or an argument. The other bits stand for
arrays."""


@dataclass(frozen=True)
class _Definition:
    """A register gets the value of any of these registers and symbols (`copies`), or a value
    computed from all of them."""

    target: str
    sources: tuple[str, ...]
    copies: bool


@dataclass(frozen=True)
class _Access:
    """An access of `width` bytes at an address that starts with a register or a symbol. `opcode`:
    the first word of the PTX instruction."""

    opcode: str
    base: str
    width: int


def read_shared_uses(
    elf: Elf,
    arrays: Mapping[str, Sequence[SharedArray]],
    code: Mapping[str, Sequence[SassInstruction]],
) -> dict[str, dict[int, SharedUse]]:
    """Per kernel (its symbol): the array of each instruction that certainly means a single array,
    by the instruction's offset.

    `arrays` are the result of `read_shared_arrays`; kernels with fewer than two arrays are skipped.
    """
    wanted = {symbol for symbol, found in arrays.items() if len(found) > 1 and symbol in code}
    if not wanted:
        return {}
    text = read_ptx(elf)
    symbols, lines, bodies = read_array_symbols(text), _read_lines(elf), _bodies(text)
    uses = {}
    for kernel in wanted & lines.keys():
        meant = _follow(bodies[kernel], symbols[kernel])
        uses[kernel] = _match(
            meant,
            dict(zip(symbols[kernel], arrays[kernel], strict=True)),
            lines[kernel],
            code[kernel],
        )
    return uses


def _match(
    meant: Mapping[int, tuple[_Access, str]],
    arrays: Mapping[str, SharedArray],
    lines: Sequence[tuple[int, int]],
    code: Sequence[SassInstruction],
) -> dict[int, SharedUse]:
    """The machine instructions of the accesses. An instruction that ptxas merged from several
    neighbours may begin before the access that it names."""
    uses = {}
    for instruction in code:
        row = bisect_right(lines, (instruction.offset, 1 << 62)) - 1
        found = meant.get(lines[row][1]) if row >= 0 else None
        if found is None or not _is_made_of(found[0].opcode, instruction.opcode):
            continue
        named = _MACHINE_WIDTH.search(instruction.opcode)
        width = int(named["bits"]) // 8 if named else 4
        uses[instruction.offset] = SharedUse(
            arrays[found[1]], slack_bytes=0 if width == found[0].width else width - 1
        )
    return uses


def _is_made_of(ptx: str, opcode: str) -> bool:
    """Whether ptxas may make such an instruction of the PTX instruction; its asynchronous copies
    have another opcode."""
    return any(
        access.space == "shared" and access.kind in _KINDS[ptx] and not access.asynchronous
        for access in accesses_of(opcode)
    )


def _read_lines(elf: Elf) -> dict[str, list[tuple[int, int]]]:
    """Per function: (offset, line of the PTX text) in ascending order; each holds up to the
    next."""
    section, relocations = elf.named.get(_LINES), elf.named.get(f".rela{_LINES}")
    if section is None or relocations is None:
        return {}
    entries = sorted(_RELOCATION.iter_unpack(relocations.data()))
    functions = [elf.symbols[info >> 32].name for _, info, _ in entries]
    sequences = list(_sequences(section.data()))
    return dict(zip(functions, sequences, strict=True)) if len(functions) == len(sequences) else {}


def _sequences(data: bytes) -> Iterator[list[tuple[int, int]]]:
    """The rows of each function, whose addresses start at 0: the relocations in order name the
    function."""
    stream, offset = io.BytesIO(data), 0
    while offset + 6 <= len(data):
        size, version = struct.unpack_from("<IH", data, offset)
        structs = DWARFStructs(
            little_endian=True, dwarf_format=32, address_size=8, dwarf_version=version
        )
        header = struct_parse(structs.Dwarf_lineprog_header, stream, offset)
        offset += 4 + size
        rows: list[tuple[int, int]] = []
        for entry in LineProgram(header, stream, structs, stream.tell(), offset).get_entries():
            if entry.state is None:
                continue
            if entry.state.end_sequence:
                yield sorted(rows, key=lambda row: row[0])
                rows = []
            else:
                rows.append((entry.state.address, entry.state.line))


def _bodies(text: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """The lines of each kernel with their numbers, from 1 on."""
    bodies: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] = []
    for number, line in enumerate(text, 1):
        if entry := ENTRY.search(line):
            current = bodies.setdefault(entry["symbol"], [])
        elif ".func " in line or line.startswith(".section"):
            current = []
        else:
            current.append((number, line))
    return bodies


def _follow(
    body: Sequence[tuple[int, str]], symbols: Sequence[str]
) -> dict[int, tuple[_Access, str]]:
    """The accesses that certainly mean a single array, with its symbol, by line."""
    definitions: list[_Definition] = []
    accesses: dict[int, list[_Access]] = {}
    for number, line in body:
        for statement in line.split(";"):
            if match := _STATEMENT.match(statement):
                opcode, operands = match["opcode"], match["operands"]
                definitions += _read_definitions(opcode.split(".")[0], operands)
                accesses.setdefault(number, []).extend(_read_access(opcode, operands))
    origins = _solve(definitions, {symbol: 2 << index for index, symbol in enumerate(symbols)})
    names = {2 << index: symbol for index, symbol in enumerate(symbols)}
    single = {number: found[0] for number, found in accesses.items() if len(found) == 1}
    return {
        number: (access, names[origins[access.base]])
        for number, access in single.items()
        if origins.get(access.base, _ELSEWHERE) in names
    }


def _read_definitions(opcode: str, operands: str) -> Iterator[_Definition]:
    first = _FIRST_OPERAND.match(operands)
    if first is None or first[0].startswith("["):
        return
    sources = tuple(_NAME.findall(operands[first.end() :]))
    if opcode in _FROM_ELSEWHERE:
        sources = ()
    elif opcode == "selp":
        sources = sources[:-1]  # the condition is no part of the result
    for target in _NAME.findall(first[0]):
        yield _Definition(target, sources, copies=opcode in _COPIES)


def _read_access(opcode: str, operands: str) -> Iterator[_Access]:
    words = opcode.split(".")
    address, kind = _ADDRESS.search(operands), _TYPE.search(opcode)
    if (
        words[0] not in _KINDS
        or _OTHER_SPACES & {word.split("::")[0] for word in words}
        or address is None
        or kind is None
    ):
        return
    vector = _VECTOR.search(opcode)
    yield _Access(
        words[0], address["base"], int(kind["bits"]) // 8 * (int(vector["count"]) if vector else 1)
    )


def _solve(definitions: Sequence[_Definition], arrays: Mapping[str, int]) -> dict[str, int]:
    """The possible origins of each register's value, over all its definitions."""
    origins = dict(arrays) | {each.target: 0 for each in definitions}
    changed = True
    while changed:
        changed = False
        for each in definitions:
            sources = [origins.get(source, _ELSEWHERE) for source in each.sources]
            new = origins[each.target] | (_either(sources) if each.copies else _together(sources))
            changed = changed or new != origins[each.target]
            origins[each.target] = new
    return origins


def _either(sources: Sequence[int]) -> int:
    found = 0 if sources else _ELSEWHERE
    for source in sources:
        found |= source
    return found


def _together(sources: Sequence[int]) -> int:
    """An address plus numbers is an address in its array; of numbers alone comes a number."""
    arrays = _either(sources) & ~_ELSEWHERE
    return arrays | (_ELSEWHERE if all(source & _ELSEWHERE for source in sources) else 0)
