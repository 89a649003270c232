"""A submission's source as a table, with the figures of each line."""

from __future__ import annotations

from dataclasses import dataclass

from grader.report.annotation import AnnotatedLine, Annotation, Column
from grader.report.text import clean_text

MAX_LINES = 4000
MAX_WIDTH = 1000


@dataclass(frozen=True)
class Cell:
    """A displayed value; `kind` shades it by its share of the column's largest value, or marks
    it."""

    text: str
    kind: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Line:
    """One source line with a cell per column; `hit`: a finding names it; `picture`: one of its
    accesses has a picture."""

    number: int
    text: str
    cells: tuple[Cell, ...]
    hit: bool
    picture: bool


def make_lines(annotation: Annotation) -> list[Line]:
    """The first MAX_LINES lines; code that belongs to no line is left out."""
    pictured = {access.line for access in annotation.accesses}
    numbered = [line for line in annotation.lines if line.number is not None]
    largest = {
        column.name: max((line.figures.get(column.name, 0) for line in numbered), default=0)
        for column in annotation.columns
    }
    return [
        Line(
            line.number or 0,
            _show(line.text),
            tuple(_make_cell(line, each, largest[each.name]) for each in annotation.columns),
            line.named,
            line.number in pictured,
        )
        for line in numbered[:MAX_LINES]
    ]


def _make_cell(line: AnnotatedLine, column: Column, largest: float) -> Cell:
    figure = line.figures.get(column.name)
    if figure is None:
        return Cell("")
    share, tip = figure / largest, line.notes[column.name]
    shade = "h3" if share > 0.5 else "h2" if share > 0.1 else "h1"
    return Cell(column.format(figure), f"{shade} worse" if tip else shade, tip)


def _show(line: str) -> str:
    cleaned = clean_text(line.rstrip("\r")).replace("\n", " ")
    return cleaned if len(cleaned) <= MAX_WIDTH else cleaned[:MAX_WIDTH] + " …"
