"""Tables of the known names: exercises, and the metrics of checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from grader.metrics import METRICS, sources, unit_words
from grader.report.terminal import Page
from grader.spec.public import CourseEntry


@dataclass(frozen=True)
class Listed:
    """An exercise, its entry (None where its spec cannot be read), and the folder that holds it."""

    name: str
    entry: CourseEntry | None
    place: str

    @property
    def order(self) -> tuple[float, str]:
        """Exercises without a week come last."""
        week = self.entry.week if self.entry else None
        return (week or math.inf, self.name)


def print_exercises(rows: Sequence[Listed], *, console: Console) -> None:
    """Print the exercises in the order of the course. A column has their places if they differ."""
    page = Page(console)
    several = len({row.place for row in rows}) > 1
    where = ("Where",) if several else ()
    table = page.make_table("Week", "Exercise", "Hours", "Topics", *where, right=("Week",))
    for row in sorted(rows, key=lambda row: row.order):
        entry = row.entry or CourseEntry("no readable spec.json")
        cells = (str(entry.week or ""), row.name, entry.hours, entry.topics or entry.title)
        table.add_row(*map(page.text, (*cells, *([row.place] if several else []))))
    console.print(table)
    if rows and not several:
        page.write(f"Where: {rows[0].place}", style="dim")
    page.write("Next: grade start EXERCISE writes its handout and its starter")


def print_metrics(*, console: Console) -> None:
    """Print every metric: unit, better direction, source on each kind of device, and meaning."""
    page = Page(console)
    for metric in METRICS.values():
        devices = ", ".join(f"{device}: {how}" for device, how in sources(metric).items())
        page.write(metric.name, style="bold")
        form = f"{unit_words(metric)}, {metric.better.value} is better; {devices}"
        for text in filter(None, (form, metric.meaning, metric.comment)):
            page.write(text, indent=4, hanging=2)
