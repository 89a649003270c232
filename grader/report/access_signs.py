"""Accesses in characters: a sign is a word of 4 bytes and names the lane that reads it: 0 to 9,
then a to v for the lanes 10 to 31."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.records import Memory
from grader.report.access_layout import BANKS, LANES, ROW_WORDS, SECTOR_WORDS, Lanes, Row

SEVERAL, UNUSED = "*", "·"
BANK_NUMBERS = "".join(f"{bank:<8}" for bank in range(0, BANKS, 8)).rstrip()
ROW_WIDTH = {Memory.SHARED: BANKS, Memory.GLOBAL: ROW_WORDS + ROW_WORDS // SECTOR_WORDS - 1}
"""Characters of a row."""


def format_row(row: Row, memory: Memory) -> str:
    """The signs of a row; a line of global memory has bars between its sectors, and blanks for
    sectors that are not moved."""
    if memory is Memory.SHARED:
        return "".join(_sign(lanes) for lanes in row.lanes)
    signs = [
        _sign(lanes) if moved else " " for lanes, moved in zip(row.lanes, row.moved, strict=True)
    ]
    starts = range(0, ROW_WORDS, SECTOR_WORDS)
    return "|".join("".join(signs[start : start + SECTOR_WORDS]) for start in starts)


def _sign(lanes: Lanes) -> str:
    if not lanes:
        return UNUSED
    return LANES[lanes[0]] if len(lanes) == 1 else SEVERAL


def shorten(rows: Sequence[str], most: int) -> Iterator[str]:
    """The first rows and the last row where there are more than `most`."""
    if len(rows) <= most:
        yield from rows
        return
    yield from rows[: most - 2]
    yield f"... {len(rows) - most + 1} more"
    yield rows[-1]
