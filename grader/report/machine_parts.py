"""Shows the result of `grade doctor`: one row for each part, then the repair of each missing
part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.report.terminal import Page


class Condition(StrEnum):
    """The condition of a part: `absent` parts are optional, `missing` parts are needed by the
    emulated device."""

    FOUND = "found"
    ABSENT = "absent"
    MISSING = "missing"


@dataclass(frozen=True)
class Part:
    """A program, package, file or permission that the grader uses. `costs` and `fix` are empty
    where it was found."""

    name: str
    condition: Condition
    what: str
    costs: str = ""
    fix: str = ""


_GLYPHS = {Condition.FOUND: "✓", Condition.ABSENT: "–", Condition.MISSING: "✗"}
_STYLES = {Condition.FOUND: "green", Condition.ABSENT: "yellow", Condition.MISSING: "red"}


def print_doctor(parts: Sequence[Part], *, console: Console) -> None:
    """Print the parts, the effect and the repair of each missing part, and whether this machine can
    grade."""
    page = Page(console)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for part in parts:
        glyph = page.text(_GLYPHS[part.condition], _STYLES[part.condition])
        table.add_row(glyph, Text(part.name, style="bold"), page.text(part.what))
    console.print(table)
    for part in parts:
        if part.condition is not Condition.FOUND:
            console.print()
            line = f"{_GLYPHS[part.condition]} {part.name}: {part.costs}"
            console.print(page.text(line, _STYLES[part.condition]))
            console.print(page.text(part.fix))
    console.print()
    line = "The emulated device can work here: counters are exact, times are modelled."
    missing = [part.name for part in parts if part.condition is Condition.MISSING]
    if missing:
        line = f"The emulated device cannot work here. Missing: {', '.join(missing)}."
    console.print(page.text(line, "bold red" if missing else "bold green"))
