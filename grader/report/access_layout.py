"""The words of an access, row by row: wavefronts by banks, or lines of 128 bytes by their sectors.
Every picture of an access is drawn from these rows; on a terminal a sign is a word of 4 bytes and
names the lane that reads it: 0 to 9, then a to v for the lanes 10 to 31."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.text import Text

from grader.records import SECTOR_BYTES, Memory, WarpAccess

WORD_BYTES, LINE_BYTES, BANKS = 4, 128, 32
ROW_WORDS = LINE_BYTES // WORD_BYTES
SECTOR_WORDS = SECTOR_BYTES // WORD_BYTES
LANES = "0123456789abcdefghijklmnopqrstuv"
"""The signs of a warp's 32 lanes."""

Lanes = tuple[int, ...]
Drawn = TypeVar("Drawn", str, Text)
SEVERAL, UNUSED = "*", "·"
BANK_NUMBERS = "".join(f"{bank:<8}" for bank in range(0, BANKS, 8)).rstrip()
ROW_WIDTH = {Memory.SHARED: BANKS, Memory.GLOBAL: ROW_WORDS + ROW_WORDS // SECTOR_WORDS - 1}
"""Characters of a row."""


@dataclass(frozen=True)
class Row:
    """32 words of 4 bytes: the words that the banks deliver in a wavefront, or the words of a line.
    `lanes` lists the lanes that read each word, `words` its number in memory; None for a bank
    without a word. `moved`: whether the word, or its sector, is moved."""

    number: int
    lanes: tuple[Lanes, ...]
    words: tuple[int | None, ...]
    moved: tuple[bool, ...]


def actual_rows(access: WarpAccess) -> list[Row]:
    """The rows of an access as executed."""
    if access.memory is Memory.GLOBAL:
        return line_rows(access.addresses, access.width_bytes)
    return [
        _bank_row(number, readers_of(access.addresses, access.width_bytes, lanes=lanes))
        for number, lanes in enumerate(access.wavefronts, start=1)
    ]


def ideal_rows(access: WarpAccess) -> list[Row]:
    """The same words, laid side by side: as many rows as the smallest possible number of wavefronts
    or sectors."""
    if access.memory is Memory.GLOBAL:
        return line_rows(_pack(access.addresses, access.width_bytes), access.width_bytes)
    units = _units_in_turn(access)
    rounds = sum(units[0][0] in lanes for lanes in access.wavefronts)  # a compare-and-swap has two
    each = -(-len(units) * rounds // access.passes_ideal)
    words = max(1, access.width_bytes // WORD_BYTES)
    rows: list[Row] = []
    for start in [*range(0, len(units), each)] * rounds:
        readers = {
            words * place + word: lanes
            for place, lanes in enumerate(units[start : start + each])
            for word in range(words)
        }
        rows.append(_bank_row(len(rows) + 1, readers))
    return rows


def line_rows(addresses: Sequence[int | None], width_bytes: int) -> list[Row]:
    """A row for each touched line of 128 bytes."""
    readers = readers_of(addresses, width_bytes)
    sectors = {word // SECTOR_WORDS for word in readers}
    lines = sorted({word // ROW_WORDS for word in readers})
    rows = []
    for number, line in enumerate(lines, start=1):
        words = range(line * ROW_WORDS, (line + 1) * ROW_WORDS)
        lanes = tuple(readers.get(word, ()) for word in words)
        moved = tuple(word // SECTOR_WORDS in sectors for word in words)
        rows.append(Row(number, lanes, tuple(words), moved))
    return rows


def stacked_rows(addresses: Sequence[int | None], width_bytes: int) -> Iterator[Row]:
    """A row for each wavefront of a plain load. Elements of 8 and 16 bytes are served in half and
    in quarter warps."""
    number, at_once = 0, len(LANES) * WORD_BYTES // max(WORD_BYTES, width_bytes)
    for start in range(0, len(LANES), at_once):
        readers = readers_of(addresses, width_bytes, lanes=range(start, start + at_once))
        banks = [sorted(word for word in readers if word % BANKS == bank) for bank in range(BANKS)]
        for depth in range(max(map(len, banks))):
            number += 1
            served = [words[depth] for words in banks if depth < len(words)]
            yield _bank_row(number, {word: readers[word] for word in served})


def readers_of(
    addresses: Sequence[int | None], width_bytes: int, *, lanes: Sequence[int] | None = None
) -> dict[int, Lanes]:
    """By the word's number in memory, the lanes that read it, among all lanes or the given
    lanes."""
    found: dict[int, Lanes] = {}
    for lane in range(len(addresses)) if lanes is None else lanes:
        address = addresses[lane]
        if address is None:
            continue
        last = (address + width_bytes - 1) // WORD_BYTES
        for word in range(address // WORD_BYTES, last + 1):
            found[word] = (*found.get(word, ()), lane)
    return found


def busiest_bank(access: WarpAccess) -> tuple[int, tuple[int, ...]]:
    """The bank of shared memory from which most words are read, and one lane for each of these
    words."""
    first: dict[int, dict[int, int]] = {}
    for word, lanes in readers_of(access.addresses, access.width_bytes).items():
        first.setdefault(word % BANKS, {})[word] = lanes[0]
    bank = max(first, key=lambda each: (len(first[each]), -each))
    return bank, tuple(first[bank].values())


def _bank_row(number: int, readers: Mapping[int, Lanes]) -> Row:
    found: list[list[int]] = [[] for _ in range(BANKS)]
    for word in sorted(readers):
        found[word % BANKS].append(word)
    return Row(
        number,
        tuple(tuple(lane for word in words for lane in readers[word]) for words in found),
        tuple(words[0] if words else None for words in found),
        tuple(bool(words) for words in found),
    )


def _units_in_turn(access: WarpAccess) -> list[Lanes]:
    """The lanes that are served together: with one word, or with one wider element."""
    unit_bytes = max(access.width_bytes, WORD_BYTES)
    units: dict[tuple[int, int], Lanes] = {}
    served: set[int] = set()
    for number, lanes in enumerate(access.wavefronts):
        for lane in lanes:
            address = access.addresses[lane]
            if address is not None and lane not in served:
                key = (number, address // unit_bytes)
                units[key] = (*units.get(key, ()), lane)
                served.add(lane)
    return sorted(units.values())


def _pack(addresses: Sequence[int | None], width_bytes: int) -> list[int | None]:
    """The addresses moved together in the order of the lanes, without gaps."""
    distinct = dict.fromkeys(address for address in addresses if address is not None)
    place = {address: number * width_bytes for number, address in enumerate(distinct)}
    return [None if address is None else place[address] for address in addresses]


def format_row(row: Row, memory: Memory) -> str:
    """The signs of a row; a line of global memory has bars between its sectors, and blanks for
    sectors that are not moved."""
    if memory is Memory.SHARED:
        return "".join(_sign(lanes) for lanes in row.lanes)
    pairs = zip(row.lanes, row.moved, strict=True)
    signs = [_sign(lanes) if moved else " " for lanes, moved in pairs]
    starts = range(0, ROW_WORDS, SECTOR_WORDS)
    return "|".join("".join(signs[start : start + SECTOR_WORDS]) for start in starts)


def _sign(lanes: Lanes) -> str:
    if not lanes:
        return UNUSED
    return LANES[lanes[0]] if len(lanes) == 1 else SEVERAL


def shorten(rows: Sequence[Drawn], most: int) -> Iterator[Drawn]:
    """The first rows and the last row where there are more than `most`."""
    if len(rows) <= most:
        yield from rows
        return
    yield from rows[: most - 2]
    yield type(rows[0])(f"... {len(rows) - most + 1} more")
    yield rows[-1]
