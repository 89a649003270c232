"""A gallery of memory accesses on a terminal and as JSON: each with its code, a picture of its
addresses, and what it moved.

A sign of a picture is a word of 4 bytes and names the lane that reads it: 0 to 9, then a to v for
the lanes 10 to 31.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from rich.console import Console
from rich.text import Text

from grader.report.terminal import TEXT_WIDTH, Page
from grader.report.text import clean_line

WORD_BYTES, SECTOR_BYTES, LINE_BYTES, BANKS = 4, 32, 128, 32
LANES = "0123456789abcdefghijklmnopqrstuv"
SEVERAL, UNUSED = "*", "·"
MOST_ROWS = 5
"""Of a picture; of a longer one the first ones and the last one are shown."""


class Memory(StrEnum):
    """What an exhibit reads, and with that what is counted: sectors, or wavefronts."""

    GLOBAL = "global"
    SHARED = "shared"


@dataclass(frozen=True)
class Exhibit:
    """One access of one kernel, executed and counted. `addresses` are those of all threads, in
    bytes; None for an inactive one.

    `passes` are sectors or wavefronts of all `requests` together, `passes_ideal` the fewest for as
    many bytes. `bytes_moved` is what a sector holds (32), or a wavefront could bring (128), times
    these. `bytes_used`: distinct bytes, warp by warp. `lines_touched`: lines of 128 bytes a
    request.
    """

    name: str
    title: str
    access: str
    kernel: str
    block: tuple[int, int, int]
    element_bytes: int
    addresses: tuple[int | None, ...]
    requests: int
    passes: int
    passes_ideal: int
    bytes_used: int
    bytes_moved: int
    lines_touched: float

    @property
    def warp(self) -> tuple[int | None, ...]:
        """The addresses of the first warp."""
        return self.addresses[: len(LANES)]


@dataclass(frozen=True)
class Gallery:
    """Exhibits of one memory, on a device. `helpers` are functions that all of their kernels
    use."""

    name: str
    memory: Memory
    device: str
    helpers: str
    exhibits: tuple[Exhibit, ...]


_LEGENDS: Mapping[Memory, str] = {
    Memory.GLOBAL: (
        "A line has 128 bytes in 4 sectors of 32; whoever needs one byte of a sector moves all of"
        " it. Each sign is a word of 4 bytes: 0-9 and a-v are the lanes 0 to 31 that read it,"
        f" {SEVERAL} several lanes, {UNUSED} moved and not read, blank not moved."
    ),
    Memory.SHARED: (
        "32 banks, bank = (address / 4) % 32; a wavefront brings one word of 4 bytes from each."
        " Rows are wavefronts, signs are banks: 0-9 and a-v are the lanes 0 to 31 that read the"
        f" word, {SEVERAL} several lanes, {UNUSED} none."
    ),
}


def print_gallery(gallery: Gallery, *, console: Console, whole: bool = False) -> None:
    """Print all exhibits; `whole`: each with its whole kernel and what that calls."""
    page = Page(console)
    width = min(console.width, TEXT_WIDTH)

    def write(text: str, *, style: str = "", indent: str = "") -> None:
        for line in textwrap.wrap(
            clean_line(text), width, initial_indent=indent, subsequent_indent=indent
        ):
            console.print(Text(_fold(page, line), style=style), soft_wrap=True)

    write(_LEGENDS[gallery.memory], style="dim")
    for exhibit in gallery.exhibits:
        console.print()
        console.print(Text(exhibit.name, style="bold"))
        write(exhibit.title, indent="  ")
        for line in (
            [*gallery.helpers.splitlines(), "", *exhibit.kernel.splitlines()]
            if whole
            else [exhibit.access]
        ):
            console.print(Text(_fold(page, f"    {line}".rstrip()), style="cyan"), soft_wrap=True)
        for line in draw(exhibit, gallery.memory):
            console.print(Text(_fold(page, f"  {line}")), soft_wrap=True)
        write(format_counts(exhibit, gallery.memory), indent="  ")
    console.print()
    write(f"Executed and counted on {gallery.device}", style="dim")


def print_contents(heading: str, titles: Mapping[str, str], *, console: Console) -> None:
    """Print the names of a gallery's exhibits with their titles."""
    console.print(Text(heading, style="bold"), soft_wrap=True)
    left = max(map(len, titles)) + 2
    for name, title in titles.items():
        first, *others = textwrap.wrap(title, min(console.width, TEXT_WIDTH) - left - 2)
        console.print(Text(f"  {name:<{left}}{first}"), soft_wrap=True)
        for line in others:
            console.print(Text(" " * (left + 2) + line), soft_wrap=True)
    console.print()


def format_gallery(gallery: Gallery) -> str:
    """The gallery as indented JSON of ASCII characters."""
    return json.dumps({"schema_version": 1, **asdict(gallery)}, indent=2, allow_nan=False) + "\n"


def format_counts(exhibit: Exhibit, memory: Memory) -> str:
    """What the access took a request, and how much of what it moved was used."""
    passes, ideal = exhibit.passes / exhibit.requests, exhibit.passes_ideal / exhibit.requests
    used = (
        f"{exhibit.bytes_used // exhibit.requests:,} of {exhibit.bytes_moved // exhibit.requests:,}"
        " bytes used"
    )
    share = f"({100 * exhibit.bytes_used / exhibit.bytes_moved:.3g} %)"
    if memory is Memory.SHARED:
        return f"{_count(passes, 'wavefront')} a request ({ideal:g} would do), {used} {share}"
    return (
        f"{_count(passes, 'sector')} a request, {used} {share},"
        f" {_count(exhibit.lines_touched, 'line')} of 128 bytes"
    )


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}{'' if number == 1 else 's'}"


# --- pictures -------------------------------------------------------------------------------------


def draw(exhibit: Exhibit, memory: Memory) -> list[str]:
    """A picture of the first warp's addresses."""
    return list((_draw_lines if memory is Memory.GLOBAL else _draw_banks)(exhibit))


def _draw_lines(exhibit: Exhibit) -> Iterator[str]:
    """A row for each line of 128 bytes that is touched, its sectors between bars; lines are
    numbered from the first one."""
    readers = _readers(exhibit.warp, exhibit.element_bytes)
    first = min(readers) * WORD_BYTES // LINE_BYTES
    per_line, per_sector = LINE_BYTES // WORD_BYTES, SECTOR_BYTES // WORD_BYTES
    rows = []
    for line in sorted({word // per_line for word in readers}):
        starts = range(line * per_line, (line + 1) * per_line, per_sector)
        sectors = [
            [_sign(readers.get(word)) for word in range(start, start + per_sector)]
            for start in starts
        ]
        shown = [
            "".join(sector) if set(sector) != {UNUSED} else " " * per_sector for sector in sectors
        ]
        rows.append(f"line {line - first:<4} |{'|'.join(shown)}|")
    yield from _shorten(rows)


def _draw_banks(exhibit: Exhibit) -> Iterator[str]:
    """A row for each wavefront. Elements of 8 and 16 bytes are served in half and in quarter
    warps."""
    yield "bank " + "".join(f"{bank:<8}" for bank in range(0, BANKS, 8)).rstrip()
    lanes_at_once = len(LANES) * WORD_BYTES // max(WORD_BYTES, exhibit.element_bytes)
    rows: list[str] = []
    for start in range(0, len(LANES), lanes_at_once):
        phase = [
            address if start <= lane < start + lanes_at_once else None
            for lane, address in enumerate(exhibit.warp)
        ]
        rows += _stack(_readers(phase, exhibit.element_bytes))
    yield from _shorten([f"{number:<4} {row}" for number, row in enumerate(rows, start=1)])


def _stack(readers: Mapping[int, Sequence[int]]) -> Iterator[str]:
    """Rows of 32 banks, as many as the fullest bank has words."""
    banks = [sorted(word for word in readers if word % BANKS == bank) for bank in range(BANKS)]
    for depth in range(max(map(len, banks))):
        yield "".join(
            _sign(readers[words[depth]] if depth < len(words) else None) for words in banks
        )


def _readers(addresses: Sequence[int | None], element_bytes: int) -> dict[int, list[int]]:
    """The lanes that read each word, by the word's number in memory."""
    found: dict[int, list[int]] = {}
    for lane, address in enumerate(addresses):
        if address is not None:
            for word in range(
                address // WORD_BYTES, (address + element_bytes - 1) // WORD_BYTES + 1
            ):
                found.setdefault(word, []).append(lane)
    return found


def _sign(lanes: Sequence[int] | None) -> str:
    if not lanes:
        return UNUSED
    return LANES[lanes[0]] if len(lanes) == 1 else SEVERAL


def _shorten(rows: Sequence[str]) -> Iterator[str]:
    if len(rows) <= MOST_ROWS:
        yield from rows
        return
    yield from rows[: MOST_ROWS - 2]
    yield f"... {len(rows) - MOST_ROWS + 1} more"
    yield rows[-1]


def _fold(page: Page, line: str) -> str:
    """In what the stream can print, with its spaces."""
    indent = len(line) - len(line.lstrip())
    return line[:indent] + page.fold(line[indent:])
