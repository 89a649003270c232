"""Pictures of a warp's worst accesses on a terminal: the executed access beside the ideal access,
within 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from grader.messages.sizes import list_sizes
from grader.messages.warp_accesses import describe_bank, describe_cost, describe_warp
from grader.records import Memory, Score, WarpAccess
from grader.report.access_layout import (
    BANK_NUMBERS,
    LANES,
    ROW_WIDTH,
    SEVERAL,
    UNUSED,
    Row,
    actual_rows,
    busiest_bank,
    format_row,
    ideal_rows,
    shorten,
)
from grader.report.terminal import Page
from grader.report.text import clean_line

MOST_ROWS = 6
"""Most rows of a picture; of a longer picture the first rows and the last row are shown."""
_LABEL, _GAP = 4, "   "
_LOST, _USED, _QUIET = "red", "green", "dim"
_LEGENDS = {
    Memory.SHARED: (
        "Rows are wavefronts, columns the 32 banks. 0-9 and a-v are the lanes 0 to 31 that a word"
        f" goes to, {SEVERAL} several lanes, {UNUSED} an idle bank."
    ),
    Memory.GLOBAL: (
        "Rows are the lines of 128 bytes that are touched, in 4 sectors of 8 words. 0-9 and a-v are"
        f" the lanes 0 to 31 that ask for a word, {SEVERAL} several lanes, {UNUSED} moved but"
        " not read, blank not moved."
    ),
}


def print_pictures(
    accesses: Sequence[WarpAccess],
    page: Page,
    *,
    texts: Mapping[int | None, str],
    sizes: Mapping[str, int],
    emulated_beside: bool = False,
) -> None:
    """Print a picture of each access, with the text of its line; the signs are explained once for
    each memory. `sizes` are the sizes of the execution; `emulated_beside`: the emulated device
    executed it, although a GPU was requested."""
    if not accesses:
        return
    where = f" at {list_sizes(sizes)}" if sizes else ""
    beside = ", on the emulated device" if emulated_beside else ""
    page.write_heading(f"What a warp does there (its worst access{where}{beside})")
    explained: set[Memory] = set()
    for access in accesses:
        page.console.print()
        _print_picture(access, page, texts.get(access.line, ""))
        if access.memory not in explained:
            page.write(_LEGENDS[access.memory], indent=2, style=_QUIET)
        explained.add(access.memory)


def print_score_pictures(score: Score, accesses: Sequence[WarpAccess], page: Page) -> None:
    """Print pictures of accesses of a score."""
    print_pictures(
        accesses,
        page,
        texts={line.line: line.text for line in score.lines},
        sizes=score.line_sizes,
        emulated_beside=score.device is not None and score.device.kind == "gpu",
    )


def _print_picture(access: WarpAccess, page: Page, text: str) -> None:
    line = Text(page.fold(f"  {access.line:>5} | {clean_line(text)}"), style="bold")
    line.truncate(page.console.width, overflow="ellipsis" if not page.ascii else "crop")
    page.console.print(line, soft_wrap=True)
    cost = describe_cost(access)
    page.write(f"{cost[0].upper()}{cost[1:]}.", indent=2)
    if access.memory is Memory.SHARED:
        words = describe_bank(access, *busiest_bank(access))
        if words:
            page.write(f"{words[0].upper()}{words[1:]}.", indent=2)
    page.console.print()
    for row in draw_access(access, width=page.console.width - 2):
        page.write_row(Text("  ") + _fold(row, page))
    page.console.print()
    page.write(f"{describe_warp(access).capitalize()}.", indent=2, style=_QUIET)


def draw_access(access: WarpAccess, *, width: int = 80) -> Iterator[Text]:
    """The rows of a picture: on the left the executed access, on the right, if it fits, the same
    words laid side by side."""
    actual, ideal = actual_rows(access), ideal_rows(access)
    row_width = ROW_WIDTH[access.memory]
    beside = access.passes_ideal < access.passes and width >= _LABEL + 2 * row_width + len(_GAP)
    yield _head(access, row_width, beside=beside)
    if access.memory is Memory.SHARED:
        numbers = BANK_NUMBERS.ljust(row_width)
        banks = " " * _LABEL + numbers + (_GAP + BANK_NUMBERS if beside else "")
        yield Text(banks, style=_QUIET)
    rows = [
        Text(f"{row.number:<{_LABEL}}", style=_QUIET) + _style_row(row, access, actual=True)
        for row in actual
    ]
    for index, row in enumerate(ideal[: len(rows)] if beside else ()):
        rows[index] += Text(_GAP) + _style_row(row, access, actual=False)
    yield from shorten(rows, MOST_ROWS)


def _head(access: WarpAccess, row_width: int, *, beside: bool) -> Text:
    unit = "wavefront" if access.memory is Memory.SHARED else "sector"

    def count(number: int, what: str) -> str:
        return f"{what}: {number} {unit}{'' if number == 1 else 's'}".ljust(row_width)

    head = " " * _LABEL + count(access.passes, "executed")
    return Text(head + (_GAP + count(access.passes_ideal, "ideal") if beside else ""), style="bold")


def _style_row(row: Row, access: WarpAccess, *, actual: bool) -> Text:
    """Red: wavefronts beyond the ideal, and words that no lane reads."""
    text = Text(format_row(row, access.memory))
    lost = actual and access.memory is Memory.SHARED and row.number > access.passes_ideal
    for place, sign in enumerate(text.plain):
        if sign == UNUSED:
            text.stylize(_LOST if access.memory is Memory.GLOBAL else _QUIET, place, place + 1)
        elif sign in LANES or sign == SEVERAL:
            text.stylize(_LOST if lost else _USED, place, place + 1)
        elif sign == "|":
            text.stylize(_QUIET, place, place + 1)
    return text


def _fold(row: Text, page: Page) -> Text:
    """In characters that the stream can print: every sign of a picture folds to a character."""
    folded = row.copy()
    if page.ascii:
        folded.plain = row.plain.translate({ord(UNUSED): "."})
    return folded
