"""A terminal, or a pipe: its console, the page of all reports, and progress.

Verdicts are words and glyphs first and colour second. No text of a submission is interpreted as
markup or terminal control.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, TextIO

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from grader.messages.headlines import format_headlines
from grader.records import CheckResult, Progress, ShowChecks, ShowProgress
from grader.report.text import clean_line, clean_text, fold_to_ascii

_PIPE_WIDTH = 110
TEXT_WIDTH = 110
"""Most columns of a paragraph."""


def make_console(
    stream: TextIO, *, environ: Mapping[str, str] | None = None, width: int | None = None
) -> Console:
    """A console on a stream. `environ` (default: the process's) may hold NO_COLOR, COLUMNS and
    TERM."""
    variables = os.environ if environ is None else environ
    # rich alone would keep bold and dim under NO_COLOR; without a colour system it writes no
    # sequence at all.
    colors: Literal["auto"] | None = None if variables.get("NO_COLOR") else "auto"
    console = Console(
        file=stream,
        width=width,
        color_system=colors,
        markup=False,
        highlight=False,
        emoji=False,
        _environ=variables,
    )
    if width is None and not console.is_terminal and not variables.get("COLUMNS"):
        console.width = _PIPE_WIDTH
    return console


class Page:
    """Writes cleaned text on a console, in ASCII where its stream is not UTF-8."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.ascii = not console.encoding.lower().startswith("utf")

    def fold(self, line: str) -> str:
        """The line in characters of the stream; `text` and `clean` also remove control
        characters."""
        return fold_to_ascii(line) if self.ascii else line

    def clean(self, line: str) -> str:
        """The line without terminal control."""
        return self.fold(clean_line(line))

    def text(self, line: str, style: str = "") -> Text:
        """The cleaned line as a styled text; nothing in it is markup."""
        return Text(self.clean(line), style=style)

    def write(self, line: str, *, style: str = "", indent: int = 0, hanging: int = 0) -> None:
        """Write a paragraph, wrapped; its further lines are indented by `hanging` more columns."""
        start, below = Text(" " * indent), Text(" " * (indent + hanging))
        self.write_parts(start, below, self.text(line, style), TEXT_WIDTH)

    def write_beside(self, head: str, line: str, *, style: str = "") -> None:
        """Write a paragraph beside its head, which is not wrapped."""
        start, below = Text(head, style=style), Text(" " * len(head), style=style)
        self.write_parts(start, below, self.text(line, style), TEXT_WIDTH)

    def write_parts(self, start: Text, below: Text, body: Text, most: int) -> None:
        """Write a text, wrapped to at most `most` columns: after `start`, its further lines after
        `below`, which is at least as wide."""
        width = max(20, min(self.console.width, most) - len(below))
        for number, part in enumerate(body.wrap(self.console, width)):
            part.rstrip()
            self.console.print((below if number else start) + part, soft_wrap=True)

    def write_row(self, row: Text) -> None:
        """Write a row without spaces at its end, however wide."""
        row.rstrip()
        self.console.print(row, soft_wrap=True)

    def fit(self, source: str, width: int) -> str:
        """A source line in `width` columns, cut with an ellipsis where it is too long."""
        text = self.fold(source)
        if cell_len(text) <= width:
            return set_cell_size(text, width)
        dots = self.fold("…")
        return set_cell_size(text, width - len(dots)) + dots

    def write_cut(self, line: str, *, style: str = "") -> None:
        """Write a row; a line that is wider than the page ends in `...`."""
        text, width = self.text(line, style), min(self.console.width, TEXT_WIDTH)
        if text.cell_len > width:
            text.truncate(width - 3)
            text = Text(text.plain.rstrip(), style=style) + Text("...", style=style)
        self.console.print(text, soft_wrap=True)

    def write_whole(self, line: str, *, style: str = "", indent: str = "") -> None:
        """Write a line, however long."""
        self.console.print(Text(indent + self.clean(line), style=style), soft_wrap=True)

    def write_verbatim(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Write lines unchanged: a caret under a column must stay there."""
        for line in clean_text(text).rstrip("\n").split("\n"):
            row = Text(" " * indent) + Text(self.fold(line), style=style)
            self.console.print(row, soft_wrap=True)

    def write_heading(self, line: str, *, style: str = "bold") -> None:
        """Write a heading below an empty line."""
        self.console.print()
        self.write(line, style=style)

    def make_table(
        self, *titles: str, right: Collection[str] = (), framed: bool | None = None
    ) -> Table:
        """An empty table with columns whose cells are wrapped; `right` are the titles of figures.
        `framed`, with a rule under its head, by default where it can be drawn."""
        if framed is None:
            framed = self.console.is_terminal and not self.ascii
        table = Table(
            box=box.SIMPLE_HEAD if framed else None,
            show_edge=False,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="bold",
        )
        for title in titles:
            justify: Literal["right", "left"] = "right" if title in right else "left"
            table.add_column(self.clean(title), justify=justify, overflow="fold")
        return table

    def write_table(
        self, titles: Iterable[str], rows: Iterable[Iterable[str | Text]], right: Collection[str]
    ) -> None:
        """Write a table without a frame, as `make_table` makes it; cells of text are cleaned."""
        table = self.make_table(*titles, right=right, framed=False)
        for row in rows:
            table.add_row(*(self.text(cell) if isinstance(cell, str) else cell for cell in row))
        self.console.print(table)


# --- progress -------------------------------------------------------------------------------------


@contextmanager
def progress_display(console: Console, *, quiet: bool = False) -> Iterator[ShowProgress]:
    """Yields the callable that shows progress: a bar on a terminal, a line per stage in a pipe,
    nothing when quiet."""
    with grading_display(console, quiet=quiet) as (show, _):
        yield show


@contextmanager
def grading_display(
    console: Console, *, quiet: bool = False, in_lines: bool = False
) -> Iterator[tuple[ShowProgress, ShowChecks | None]]:
    """Yields the callable that shows progress (see `progress_display`), and, on a terminal, a
    callable that shows the decided lines of a score above the bar. All of it vanishes in the end.
    `in_lines`: in a pipe, too, each line is shown as soon as it is known."""
    if quiet:
        yield lambda progress: None, None
    elif console.is_terminal and not console.is_dumb_terminal:
        with _GradingBar(console) as bar:
            yield _show_on(bar), bar.show_checks
    else:
        page = Page(console)
        yield _lines_per_stage(page), _lines_per_check(page) if in_lines else None


class _GradingBar(ProgressBar):
    """A bar with lines above it."""

    def __init__(self, console: Console) -> None:
        self._lines: list[Text] = []
        super().__init__(
            SpinnerColumn("line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            console=console,
            transient=True,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from self._lines
        yield from super().get_renderables()

    def show_checks(self, checks: Sequence[CheckResult]) -> None:
        """Show the promised lines of the checks that have a verdict so far."""
        page = Page(self.console)
        self._lines = [page.text("so far:", "dim")]
        for status, line in format_headlines(checks):
            if status.is_verdict:
                self._lines.append(page.text(line, status.row.style))
        self.refresh()


def _show_on(bar: ProgressBar) -> ShowProgress:
    task = bar.add_task("", total=None)
    return lambda progress: bar.update(
        task, description=clean_line(progress.stage), completed=progress.done, total=progress.total
    )


def _lines_per_stage(page: Page) -> Callable[[Progress], None]:
    last_stage = ""

    def show(progress: Progress) -> None:
        nonlocal last_stage
        if progress.stage != last_stage:
            last_stage = progress.stage
            page.write(progress.stage)

    return show


def _lines_per_check(page: Page) -> ShowChecks:
    shown: set[str] = set()

    def show(checks: Sequence[CheckResult]) -> None:
        for status, line in format_headlines(checks):
            if status.is_verdict and line not in shown:
                shown.add(line)
                page.write(line)

    return show
