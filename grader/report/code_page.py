"""Prints machine code by source line: the number of executions of each instruction, its control
bits, and the hot instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from grader.messages.sizes import list_sizes
from grader.messages.warp_states import LEAST_SHARE
from grader.records import CodeListing
from grader.report.machine_rows import (
    HOT_CYCLES,
    HOT_EXECUTED,
    CodeGroup,
    CodeRow,
    KernelCode,
    group_code,
)
from grader.report.terminal import Page
from grader.report.text import clean_line

MOST_WIDTH, LEAST_TEXT = 100, 30
_HOT = "bold red"


def print_code(
    listings: Iterable[CodeListing],
    texts: Mapping[int, str],
    sizes: Mapping[str, int],
    *,
    console: Console,
) -> None:
    """Print the machine code of kernels under each source line; `texts` are the lines by number.
    `sizes` are the sizes at which it was counted."""
    page = Page(console)
    kernels = group_code(listings)
    for number, kernel in enumerate(kernels):
        page.write_heading(_title(kernel))
        if number == 0:
            for head, meaning in _explain(kernel, sizes):
                page.write_beside(f"  {head}  ", meaning, style="dim")
        layout = _Layout(page, kernel)
        layout.write_titles()
        for group in kernel.groups:
            layout.write_group(group, texts)
        if kernel.padding:
            page.write(f"Left out: {kernel.padding} instructions of padding.", style="dim")


def _title(kernel: KernelCode) -> str:
    count = len(kernel.listing.instructions) - kernel.padding
    launches = kernel.listing.launches
    times = "" if launches is None else f", {launches} launch{'es' if launches > 1 else ''}"
    return f"{kernel.listing.kernel}: {count} machine instructions{times}"


def _explain(kernel: KernelCode, sizes: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The meaning of the columns."""
    at = f", at {list_sizes(sizes)}" if sizes else ""
    if kernel.counted:
        yield "executed", f"warps that executed it{at}"
    if kernel.modelled:
        part = "its part of the modelled cycles of all warps: which wait at it or issue it"
        yield "  cycles", part
    yield "   stall", "cycles until the warp may issue its next instruction; Y: another warp first"
    yield "    sets", "scoreboards: W until its result is there, R until its registers are read"
    waits = "scoreboards that must be free before it is issued; <-: instructions that set them"
    yield "   waits", waits
    if kernel.modelled:
        yield "       >", f"hot: at least {HOT_CYCLES:.0%} of the cycles"
    elif kernel.counted:
        yield "       >", f"hot: executed at least {HOT_EXECUTED:g} times as often as the average"


@dataclass(frozen=True)
class _Column:
    """A column before the instruction; `named` is its cell in words, for narrow terminals."""

    title: str
    cell: Callable[[CodeRow], str]
    named: str


_COLUMNS = (
    _Column("executed", lambda row: _format_count(row.code.executed), "executed {}"),
    _Column("cycles", lambda row: row.percent, "{} of the cycles"),
    _Column("stall", lambda row: str(row.code.control.stall_cycles), "stall {}"),
    _Column("", lambda row: row.yields, "{}"),
    _Column("sets", lambda row: row.sets, "sets {}"),
    _Column("waits", lambda row: row.waits, "waits {}"),
    _Column("at", lambda row: f"{row.code.offset:04x}", ""),
)


def _format_count(executed: int | None) -> str:
    return "" if executed is None else f"{executed:,}"


class _Layout:
    """Lays out the rows of a kernel: figures, the offset, and the instruction, which is wrapped
    under itself; on a narrow terminal its figures are below it."""

    def __init__(self, page: Page, kernel: KernelCode) -> None:
        self.page = page
        absent = {"executed": not kernel.counted, "cycles": not kernel.modelled}
        self.columns = [each for each in _COLUMNS if not absent.get(each.title)]
        self.titles = [column.title for column in self.columns]
        rows = [row for group in kernel.groups for row in group.rows]
        table = [self.titles, *map(self._cells, rows)]
        self.widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        self.start = 2 + sum(width + 2 for width in self.widths)
        self.narrow = min(page.console.width, MOST_WIDTH) - self.start < LEAST_TEXT

    def write_titles(self) -> None:
        """The columns' titles."""
        self.page.console.print()
        if not self.narrow:
            self._write_row(self.titles, Text("instruction", style="dim"), "dim")

    def write_group(self, group: CodeGroup, texts: Mapping[int, str]) -> None:
        """A source line, and its machine code."""
        number = "–" if group.line is None else str(group.line)
        text = "code of headers" if group.line is None else texts.get(group.line, "")
        known = group.share is not None and group.share >= LEAST_SHARE
        share = f" ({100 * (group.share or 0.0):.0f} % of the cycles)" if known else ""
        style = _HOT if group.hot else "bold"
        head = Text(self.page.fold(f"{number}  "), style=style)
        body = self.page.text(clean_line(text) + share, style)
        self._write_wrapped(head, body)
        for row in group.rows:
            self._write_instruction(row)

    def _write_instruction(self, row: CodeRow) -> None:
        style = _HOT if row.hot else "" if row.code.executed != 0 else "dim"
        cells = self._cells(row)
        text = self.page.text(row.text, style)
        if row.waits_for:
            text.append(f"  <- {row.waits_for}", style="dim")
        mark = ">" if row.hot else " "
        if self.narrow:
            pairs = zip(self.columns, cells, strict=True)
            named = ", ".join(column.named.format(cell) for column, cell in pairs if cell)
            self._write_wrapped(Text(f"{mark} {row.code.offset:04x}  ", style=style), text)
            self._write_wrapped(Text(" " * 8), Text(named.removesuffix(", "), style="dim"))
        else:
            self._write_row(cells, text, style, mark)
        if row.note:
            indent = 8 if self.narrow else self.start
            self._write_wrapped(Text(" " * indent), self.page.text(row.note, _HOT))

    def _write_row(self, cells: Iterable[str], text: Text, style: str, mark: str = " ") -> None:
        pairs = zip(cells, self.widths, strict=True)
        start = "".join(f"{cell:>{width}}  " for cell, width in pairs)
        self._write_wrapped(Text(f"{mark} {start}", style=style), text)

    def _write_wrapped(self, head: Text, body: Text) -> None:
        """Text beside its head; further lines start below the first."""
        self.page.write_parts(head, Text(" " * len(head)), body, MOST_WIDTH)

    def _cells(self, row: CodeRow) -> list[str]:
        return [column.cell(row) for column in self.columns]
