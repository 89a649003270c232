"""Draws the pictures of the handouts as SVG, for light and dark themes.

    python docs/drawings.py [EXERCISE ...]    writes exercises/EXERCISE/drawing.svg from drawing.json

drawing.json has a `title` (its text for readers who do not see the picture) and `rows` of panels:

    {"title": "…", "rows": [[{"title": "in", "cells": ["t0:1 t1:1 … .", ". . … ."],
                              "top": "0 1 … 31", "left": ["row 0", "row 1"],
                              "caption": ["4 sectors"], "cell": 40}, {"arrow": "→"}]]}

A row of `cells` is a text per cell, separated by blanks: `t0:1` is the text t0 in colour 1 of 8,
`.` is an empty cell, `…` has no frame, `_` is no cell. `_` within a text is a blank. Equal colours
belong together (a sector, a bank, a warp). `cell` is the width of a cell in pixels. `draw_bars`
draws horizontal bars with a linear axis.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
DATA, PICTURE = "drawing.json", "drawing.svg"

MARGIN, GAP, LINE = 16, 26, 17
"""Pixels around the picture, between panels, and from a line of text to the next."""
CELL, HEIGHT = 30, 22
"""Width of a cell unless the panel has its own, and height of all cells."""
CHARACTER, BOLD = 6.7, 7.5
"""Average width of a character of captions and of titles."""
BAR, BAR_LENGTH, NAME_WIDTH = 24, 430, 240

LIGHT = ("#cfe3ff", "#ffdfae", "#cdeec8", "#f6cfe6", "#fff0a6", "#dad5fa", "#c3ecee", "#f9cdc6")
DARK = ("#20508c", "#7d4c0f", "#2a6a31", "#7d2f66", "#655a0c", "#4b4096", "#1b686c", "#87372c")


def _style() -> str:
    def rules(back: str, ink: str, soft: str, line: str, colours: Sequence[str]) -> str:
        fills = "".join(f".c{index}{{fill:{fill}}}" for index, fill in enumerate(colours, 1))
        return (
            f".back{{fill:{back}}}text{{fill:{ink}}}.soft{{fill:{soft}}}"
            f".box{{stroke:{line}}}.c0{{fill:{back}}}{fills}"
        )

    light = rules("#ffffff", "#1c2128", "#57606a", "#8c959f", LIGHT)
    dark = rules("#161b22", "#e6edf3", "#a5b0bb", "#6e7681", DARK)
    return f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"


@dataclass(frozen=True)
class Panel:
    """A grid of cells as (text, colour), None where there is no cell, with texts around it."""

    title: str
    cells: Sequence[Sequence[tuple[str, int] | None]]
    top: Sequence[str]
    left: Sequence[str]
    caption: Sequence[str]
    cell: int

    @property
    def indent(self) -> float:
        """Pixels left of the cells."""
        return max((CHARACTER * len(text) + 6 for text in self.left), default=0)

    @property
    def width(self) -> float:
        cells = self.indent + self.cell * max(map(len, self.cells), default=0)
        return max(cells, BOLD * len(self.title), *(CHARACTER * len(text) for text in self.caption))

    @property
    def height(self) -> float:
        above = LINE * (1 + bool(self.top)) + 6
        return above + HEIGHT * len(self.cells) + 4 + LINE * len(self.caption)


def main(names: Sequence[str]) -> int:
    for path in sorted((ROOT / "exercises").glob(f"*/{DATA}")):
        if not names or path.parent.name in names:
            picture = draw(json.loads(path.read_text(encoding="utf-8")))
            path.with_name(PICTURE).write_text(picture, encoding="utf-8")
    return 0


def draw(document: Mapping[str, Any]) -> str:
    """The picture of a drawing.json."""
    parts, y, widest = [], float(MARGIN), 0.0
    for row in document["rows"]:
        x, height = float(MARGIN), 0.0
        panels = [item if "arrow" in item else parse_panel(item) for item in row]
        height = max(panel.height for panel in panels if isinstance(panel, Panel))
        for panel in panels:
            if isinstance(panel, Panel):
                parts += [f'<g transform="translate({x:g},{y:g})">', *_draw_panel(panel), "</g>"]
                x += panel.width + GAP
            else:
                width = max(20.0, CHARACTER * len(panel["arrow"]))
                parts.append(_text(x + width / 2, y + height / 2, panel["arrow"], "middle"))
                x += width + GAP
        widest, y = max(widest, x - GAP), y + height + GAP
    return _wrap(parts, document["title"], widest + MARGIN, y - GAP + MARGIN)


def parse_panel(item: Mapping[str, Any]) -> Panel:
    """Raises ValueError for a colour that does not exist."""
    rows = [[_parse_cell(word) for word in row.split()] for row in item.get("cells", ())]
    return Panel(
        item.get("title", ""),
        rows,
        item.get("top", "").split(),
        item.get("left", ()),
        item.get("caption", ()),
        item.get("cell", CELL),
    )


def draw_bars(title: str, subtitle: str, bars: Mapping[str, tuple[float, str, int]]) -> str:
    """A bar per name: its value, the text beside it, its colour. The axis begins at 0."""
    longest = max(value for value, *_ in bars.values())
    parts = [_text(MARGIN, 30, title, size=15, bold=True), _text(MARGIN, 50, subtitle, soft=True)]
    for number, (name, (value, text, colour)) in enumerate(bars.items()):
        y, length = 64 + BAR * number, BAR_LENGTH * value / longest
        parts += [
            _text(NAME_WIDTH - 8, y + 15, name, "end"),
            f'<rect class="box c{colour}" x="{NAME_WIDTH}" y="{y}" width="{length:.1f}"'
            f' height="{BAR - 5}"/>',
            _text(NAME_WIDTH + length + 6, y + 15, text),
        ]
    width = NAME_WIDTH + BAR_LENGTH + 6 + CHARACTER * max(len(text) for _, text, _ in bars.values())
    return _wrap(parts, f"{title}. {subtitle}", width + MARGIN, 64 + BAR * len(bars) + MARGIN)


def _parse_cell(word: str) -> tuple[str, int] | None:
    if word == "_":
        return None
    text, _, colour = word.partition(":")
    if colour and int(colour) not in range(1, len(LIGHT) + 1):
        raise ValueError(f"{word}: colours are 1 to {len(LIGHT)}")
    return ("" if text == "." else text.replace("_", " "), int(colour or 0))


def _draw_panel(panel: Panel) -> Iterator[str]:
    yield _text(0, 12, panel.title, bold=True)
    y = LINE + 6.0
    if panel.top:
        for column, text in enumerate(panel.top):
            x = panel.indent + panel.cell * (column + 0.5)
            yield _text(x, y + 8, text.replace("_", " "), "middle", soft=True)
        y += LINE
    for label, row in zip([*panel.left, *[""] * len(panel.cells)], panel.cells, strict=False):
        yield _text(panel.indent - 6, y + 15, label, "end", soft=True)
        for column, cell in enumerate(row):
            yield from _draw_cell(cell, panel.indent + panel.cell * column, y, panel.cell)
        y += HEIGHT
    for number, text in enumerate(panel.caption, 1):
        yield _text(0, y + LINE * number, text, soft=True)


def _draw_cell(cell: tuple[str, int] | None, x: float, y: float, width: int) -> Iterator[str]:
    if cell is None:
        return
    text, colour = cell
    if text != "…":
        yield f'<rect class="box c{colour}" x="{x:g}" y="{y:g}" width="{width}" height="{HEIGHT}"/>'
    yield _text(x + width / 2, y + 15, text, "middle", size=11)


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    *,
    size: int = 12,
    bold: bool = False,
    soft: bool = False,
) -> str:
    if not text:
        return ""
    look = (' class="soft"' if soft else "") + (' font-weight="bold"' if bold else "")
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"{look}>'
        f"{escape(text)}</text>"
    )


def _wrap(parts: Sequence[str], title: str, width: float, height: float) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans,Helvetica,Arial,'
        'sans-serif" role="img">'
    )
    back = '<rect class="back" width="100%" height="100%" rx="6"/>'
    whole = [head, f"<title>{escape(title)}</title>", _style(), back, *filter(None, parts), "</svg>"]
    return "\n".join(whole) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
