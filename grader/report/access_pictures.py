"""A gallery of memory accesses on a terminal and as JSON: each with its code, a picture of its
addresses, and the bytes that it moved.

A sign of a picture is a word of 4 bytes and names the lane that reads it: 0 to 9, then a to v for
the lanes 10 to 31.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.text import Text

from grader.records import Memory
from grader.report.access_layout import (
    BANK_NUMBERS,
    LANES,
    ROW_WORDS,
    SEVERAL,
    UNUSED,
    format_row,
    line_rows,
    shorten,
    stacked_rows,
)
from grader.report.terminal import TEXT_WIDTH, Page
from grader.report.text import clean_line

MOST_ROWS = 5
"""Most rows of a picture; of a longer picture the first rows and the last row are shown."""


@dataclass(frozen=True)
class Exhibit:
    """An access of a kernel, executed and counted. `addresses` are those of all threads, in bytes;
    None for an inactive thread.

    `passes` are sectors or wavefronts of all `requests` together, `passes_ideal` the fewest for as
    many bytes. `bytes_moved` is `passes` times the bytes of a sector (32) or of a wavefront (128).
    `bytes_used`: distinct bytes, warp by warp. `lines_touched`: lines of 128 bytes per request.
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
    """Exhibits of one memory, on a device. All of their kernels use the functions `helpers`."""

    name: str
    memory: Memory
    device: str
    helpers: str
    exhibits: tuple[Exhibit, ...]


LEGENDS: Mapping[Memory, str] = {
    Memory.GLOBAL: (
        "A line has 128 bytes in 4 sectors of 32; a read of one byte moves its whole sector. Each"
        " sign is a word of 4 bytes: 0-9 and a-v are the lanes 0 to 31 that read it,"
        f" {SEVERAL} several lanes, {UNUSED} moved and not read, blank not moved."
    ),
    Memory.SHARED: (
        "32 banks, bank = (address / 4) % 32; a wavefront brings one word of 4 bytes from each."
        " Rows are wavefronts, signs are banks: 0-9 and a-v are the lanes 0 to 31 that read the"
        f" word, {SEVERAL} several lanes, {UNUSED} none."
    ),
}


def print_gallery(gallery: Gallery, *, console: Console, whole: bool = False) -> None:
    """Print all exhibits; `whole`: each with its whole kernel and the functions that it calls."""
    page = Page(console)
    width = min(console.width, TEXT_WIDTH)

    def write(text: str, *, style: str = "", indent: str = "") -> None:
        for line in textwrap.wrap(clean_line(text), width - len(indent)):
            write_line(indent + line, style)

    def write_line(line: str, style: str = "") -> None:
        """Write the line in characters that the stream can print, with its spaces."""
        left = len(line) - len(line.lstrip())
        console.print(Text(line[:left] + page.fold(line[left:]), style=style), soft_wrap=True)

    write(LEGENDS[gallery.memory], style="dim")
    for exhibit in gallery.exhibits:
        console.print()
        console.print(Text(exhibit.name, style="bold"))
        write(exhibit.title, indent="  ")
        kernel = [*gallery.helpers.splitlines(), "", *exhibit.kernel.splitlines()]
        for line in kernel if whole else [exhibit.access]:
            write_line(f"    {line}".rstrip(), "cyan")
        for line in draw(exhibit, gallery.memory):
            write_line(f"  {line}")
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
    """Sectors or wavefronts per request, and the used fraction of the moved bytes."""
    passes, ideal = exhibit.passes / exhibit.requests, exhibit.passes_ideal / exhibit.requests
    used, moved = (each // exhibit.requests for each in (exhibit.bytes_used, exhibit.bytes_moved))
    share = f"{100 * exhibit.bytes_used / exhibit.bytes_moved:.3g} %"
    figures = f"{used:,} of {moved:,} bytes used ({share})"
    if memory is Memory.SHARED:
        return f"{_count(passes, 'wavefront')} a request ({ideal:g} would do), {figures}"
    lines = _count(exhibit.lines_touched, "line")
    return f"{_count(passes, 'sector')} a request, {figures}, {lines} of 128 bytes"


def _count(number: float, what: str) -> str:
    return f"{number:g} {what}{'' if number == 1 else 's'}"


# --- pictures -------------------------------------------------------------------------------------


def draw(exhibit: Exhibit, memory: Memory) -> list[str]:
    """A picture of the first warp's addresses."""
    return list((_draw_lines if memory is Memory.GLOBAL else _draw_banks)(exhibit))


def _draw_lines(exhibit: Exhibit) -> Iterator[str]:
    """A row for each touched line of 128 bytes, its sectors between bars; lines are numbered from
    the first."""
    rows = line_rows(exhibit.warp, exhibit.element_bytes)
    numbers = [(row.words[0] or 0) // ROW_WORDS for row in rows]
    drawn = [
        f"line {number - numbers[0]:<4} |{format_row(row, Memory.GLOBAL)}|"
        for number, row in zip(numbers, rows, strict=True)
    ]
    yield from shorten(drawn, MOST_ROWS)


def _draw_banks(exhibit: Exhibit) -> Iterator[str]:
    """A row for each wavefront."""
    yield f"bank {BANK_NUMBERS}"
    rows = stacked_rows(exhibit.warp, exhibit.element_bytes)
    drawn = [f"{row.number:<4} {format_row(row, Memory.SHARED)}" for row in rows]
    yield from shorten(drawn, MOST_ROWS)
