"""Prints a submission's source with the cost of each line: aligned, coloured on a terminal, plain
in a pipe."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from grader.messages.findings import format_finding
from grader.messages.sizes import list_sizes
from grader.records import WarpAccess
from grader.report.annotation import HOT_SHARE, AnnotatedLine, Annotation, Column, Fold
from grader.report.terminal import Page
from grader.report.text import clean_line, clean_text
from grader.report.warp_pictures import print_pictures

_WIDTH, _LEAST_SOURCE = 120, 24
_GAP = "  "
_MOST_PICTURES = 3
_HOT, _HOTTEST = "yellow", "bold red"
_HOTTEST_SHARE = 0.5


def print_annotation(
    annotation: Annotation, *, console: Console, drawn: Collection[WarpAccess] = ()
) -> None:
    """Print the page, at most 120 columns wide; findings follow their lines. Then pictures of the
    worst accesses that are not `drawn` already."""
    page = Page(console)
    rows = _Rows(annotation, page)
    console.print()
    for words, style in _explain(annotation):
        page.write(words, style=style, indent=2 if style == "dim" else 0, hanging=2)
    console.print()
    rows.write_headings()
    folded = {number for fold in annotation.folds for number in range(fold.first, fold.last + 1)}
    starts = {fold.first: fold for fold in annotation.folds}
    for line in annotation.lines:
        if (fold := starts.get(line.number or 0)) is not None:
            rows.write_fold(fold)
        if line.number in folded:
            continue
        rows.write_row(line)
        for finding in line.findings:
            message = f"^ {format_finding(finding)}"
            page.write(message, style="bold red", indent=rows.margin, hanging=2)
    if annotation.columns:
        rows.write_total()
    print_pictures(
        [each for each in annotation.accesses if each not in drawn][:_MOST_PICTURES],
        page,
        texts={line.number: line.text for line in annotation.lines},
        sizes=annotation.sizes,
    )


def _explain(annotation: Annotation) -> Iterator[tuple[str, str]]:
    name = clean_line(annotation.name)
    if not annotation.columns:
        yield f"{name}: no line was counted, because no counted run came to its end", "bold"
        return
    sizes = f" at {list_sizes(annotation.sizes)}" if annotation.sizes else ""
    cost = "the cost of each line in all launches, counted by the emulated device"
    yield f"{name}: {cost}{sizes}", "bold"
    meanings = [
        f"{' '.join(column.titles).replace('- ', '').strip()}: {column.meaning}"
        for column in annotation.columns
    ]
    costs = "all instructions, of the excess, or of the sectors beyond the ideal"
    meanings += [
        f">: at least {HOT_SHARE:.0%} of {costs}",
        "A line without figures has no machine code, or its code counts at another line.",
    ]
    for meaning in dict.fromkeys(meanings):
        yield meaning, "dim"


class _Rows:
    """Lays out rows of a mark, a line number, the source, and figures."""

    def __init__(self, annotation: Annotation, page: Page) -> None:
        self.annotation = annotation
        self.page = page
        console = page.console
        self.number_width = len(str(len(annotation.lines)))
        self.margin = self.number_width + 4
        self.widths = {column.name: self._width(column) for column in annotation.columns}
        width = (min(console.width, _WIDTH) if console.is_terminal else _WIDTH) - self.margin
        figures = sum(len(_GAP) + width for width in self.widths.values())
        self.stacked = width - figures < _LEAST_SOURCE
        self.gap = " " if self.stacked else _GAP
        self.figures_width = sum(len(self.gap) + width for width in self.widths.values())
        self.source_width = (
            max(0, width - self.figures_width) if self.stacked else width - self.figures_width
        )
        self.text_width = max(_LEAST_SOURCE, width)

    def write_headings(self) -> None:
        """The columns' titles, in two lines."""
        for row in range(2) if self.annotation.columns else ():
            cells = [
                Text(column.titles[row].rjust(self.widths[column.name]))
                for column in self.annotation.columns
            ]
            title = "Line".rjust(self.margin - 2) + "  Source" if row else ""
            if row and self.stacked:
                self._write_cells(Text(title, style="bold"), ())
                title = ""
            self._write_cells(
                Text.assemble((set_cell_size(title, self.margin + self.source_width), "bold")),
                cells,
                "bold",
            )

    def write_row(self, line: AnnotatedLine) -> None:
        """A line of the source with its figures. An important line is never cut: it continues
        below, indented. In a narrow terminal the figures are below the source."""
        number = "" if line.number is None else str(line.number)
        start = f"{'>' if line.hot else ' '} {number.rjust(self.number_width)}  "
        beside = bool(line.figures) and not self.stacked
        width = self.source_width if beside else self.text_width
        matters = line.hot or line.named or not beside
        text = clean_text(line.text.expandtabs(4))
        first, *more = self._wrap(text, width) if matters else [self.page.fit(text, width)]
        style = "bold" if line.hot else ""
        source = Text.assemble((start, _HOTTEST if line.hot else "dim"), (first, style))
        cells = self._cells(line.figures, line.shares) if line.figures else ()
        self._write_cells(source, cells if beside else ())
        for piece in more:
            self._write_cells(Text.assemble((" " * self.margin, ""), (piece, style)), ())
        if cells and not beside:
            self._write_cells(Text(" " * (self.margin + self.source_width)), cells)

    def write_fold(self, fold: Fold) -> None:
        """A kernel that was not launched, in one line."""
        lines = fold.last - fold.first + 1
        text = f"... {lines} lines: kernel {fold.kernel} was not launched"
        self.page.write(text, style="dim", indent=self.margin, hanging=4)

    def write_total(self) -> None:
        """The figures of all lines together."""
        title = set_cell_size(" " * self.margin + "all lines", self.margin + self.source_width)
        cells = self._cells(self.annotation.total, {})
        self._write_cells(Text.assemble((title, "bold")), cells, "bold")

    def _cells(self, figures: Mapping[str, float], shares: Mapping[str, float]) -> list[Text]:
        return [
            Text(
                _format(column, figures).rjust(self.widths[column.name]),
                style=_heat(shares.get(column.name, 0.0)),
            )
            for column in self.annotation.columns
        ]

    def _write_cells(self, start: Text, cells: Sequence[Text], style: str = "") -> None:
        figures = ((self.gap + cell.plain, style or cell.style) for cell in cells)
        row = start + Text.assemble(*figures)
        self.page.write_row(row)

    def _width(self, column: Column) -> int:
        rows = (self.annotation.total, *(line.figures for line in self.annotation.lines))
        texts = (*column.titles, *(_format(column, figures) for figures in rows))
        return max(map(len, texts))

    def _wrap(self, source: str, width: int) -> list[str]:
        """A source line in pieces that fit; all but the first are indented further than the
        line."""
        text = self.page.fold(source)
        if cell_len(text) <= width:
            return [set_cell_size(text, width)]
        own = len(text) - len(text.lstrip())
        indent = " " * min(own + 4, width // 2)
        pieces = Text(text.strip()).wrap(self.page.console, max(8, width - len(indent)))
        shown = [f"{indent}{piece.plain.rstrip()}" for piece in pieces]
        shown[0] = " " * min(own, width // 2) + shown[0].lstrip()
        return [set_cell_size(shown[0], width), *shown[1:]]


def _format(column: Column, figures: Mapping[str, float]) -> str:
    return column.format(figures[column.name]) if column.name in figures else ""


def _heat(share: float) -> str:
    return _HOTTEST if share >= _HOTTEST_SHARE else _HOT if share >= HOT_SHARE else ""
