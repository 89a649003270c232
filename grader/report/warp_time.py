"""Prints the modelled cycles of warps: a bar for each source line that has a part in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.text import Text

from grader.messages.sizes import list_sizes
from grader.messages.warp_states import LEAST_SHARE, STATE_WORDS, order_states, sum_states
from grader.records import LineCycles, MachineWork, States, WarpState
from grader.report.terminal import Page
from grader.report.text import clean_text

MOST_WIDTH, LEAST_SOURCE, LEAST_BAR = 110, 12, 10
_SHARE_WIDTH = 6
COLOURS: Mapping[WarpState, str] = {
    WarpState.SELECTED: "black on green",
    WarpState.LONG_SCOREBOARD: "white on red",
    WarpState.LG_THROTTLE: "black on bright_red",
    WarpState.SHORT_SCOREBOARD: "white on blue",
    WarpState.MIO_THROTTLE: "black on bright_blue",
    WarpState.BARRIER: "white on magenta",
    WarpState.WAIT: "black on yellow",
    WarpState.BRANCH_RESOLVING: "black on bright_yellow",
    WarpState.MATH_PIPE_THROTTLE: "black on cyan",
    WarpState.DISPATCH_STALL: "black on bright_cyan",
    WarpState.NOT_SELECTED: "black on white",
    WarpState.MEMBAR: "white on bright_magenta",
    WarpState.SLEEPING: "white on bright_black",
    WarpState.NO_INSTRUCTION: "white on cyan",
}


def print_warp_time(work: MachineWork, texts: Mapping[int, str], *, console: Console) -> None:
    """Print a bar beside each line of a source with at least a hundredth of the warps' cycles;
    `texts` are the lines by number. Nothing without a model."""
    total = sum_states(work.lines)
    whole = sum(total.values())
    if not whole:
        return
    page = Page(console)
    sizes = f", at {list_sizes(work.modelled_sizes)}" if work.modelled_sizes else ""
    page.write_heading(f"Where the cycles of warps go: modelled{sizes}")
    rows = _Rows(page, len(str(max((line.line or 0 for line in work.lines), default=0))))
    rows.write_headings()
    shown = [line for line in work.lines if line.cycles >= LEAST_SHARE * whole]
    largest = max(line.cycles for line in shown)
    for line in shown:
        text = "(code of headers)" if line.line is None else texts.get(line.line, "")
        rows.write(line, text, whole, largest)
    left = 1.0 - sum(line.cycles for line in shown) / whole
    if left >= 0.005:
        page.write(f"All other lines: {100 * left:.0f} %.")
    console.print()
    for head, meaning in _explain(total):
        page.write_beside(head, meaning, style="dim")


def make_bar(states: States, width: int) -> list[tuple[WarpState, int]]:
    """The states of a bar of this many cells with the cells of each, in order: rounded so that they
    fill the bar, and the largest states have at least a cell."""
    ordered = order_states(states)
    whole = sum(ordered.values())
    cells, passed, taken = [], 0.0, 0
    for state, cycles in ordered.items():
        passed += cycles
        end = round(width * passed / whole)
        cells.append((state, end - taken))
        taken = end
    return [(state, count) for state, count in cells if count]


class _Rows:
    """Lays out rows of a line number, the source, its share of the cycles, and a bar."""

    def __init__(self, page: Page, number_width: int) -> None:
        self.page = page
        self.number_width = max(4, number_width)
        width = min(page.console.width, MOST_WIDTH)
        rest = width - self.number_width - 2 - _SHARE_WIDTH - 2 - 2
        self.source_width = max(LEAST_SOURCE, rest // 2)
        self.bar_width = max(LEAST_BAR, rest - self.source_width)

    def write_headings(self) -> None:
        title = f"{'Line':>{self.number_width}}  {'Source':<{self.source_width}}"
        self.page.write_row(Text(f"{title}  {'cycles':>{_SHARE_WIDTH}}", style="bold"))

    def write(self, line: LineCycles, text: str, whole: float, largest: float) -> None:
        """A line; the longest bar belongs to the line with the most cycles."""
        number = "" if line.line is None else str(line.line)
        share = f"{100 * line.cycles / whole:.0f} %"
        row = Text(f"{number:>{self.number_width}}  ", style="dim")
        source = clean_text(text).strip().expandtabs(4)
        row.append(self.page.fit(source, self.source_width), style="none")
        row.append(f"  {share:>{_SHARE_WIDTH}}  ", style="none")
        for state, count in make_bar(
            line.states, max(1, round(self.bar_width * line.cycles / largest))
        ):
            row.append(STATE_WORDS[state].letter * count, style=COLOURS[state])
        self.page.write_row(row)


def _explain(total: States) -> Iterator[tuple[str, str]]:
    """The meaning of the letters, for states with at least a hundredth of all cycles."""
    whole = sum(total.values())
    for state, cycles in total.items():
        if cycles >= LEAST_SHARE * whole:
            words = STATE_WORDS[state]
            share = f"{100 * cycles / whole:.0f} %"
            yield f"{words.letter}  {share:>5}  ", f"{words.name}: a warp {words.meaning}"
