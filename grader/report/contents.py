"""Tables of the known names: exercises, and the metrics of checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from grader.metrics import METRICS, sources, unit_words
from grader.report.terminal import Page


@dataclass(frozen=True)
class Listed:
    """An exercise and its place; `title` is None where its spec cannot be read."""

    name: str
    title: str | None
    place: str


def print_exercises(rows: Sequence[Listed], *, console: Console) -> None:
    page = Page(console)
    table = page.make_table("Exercise", "Title", "Where")
    for row in rows:
        table.add_row(
            page.text(row.name),
            page.text(row.title or "no readable spec.json"),
            page.text(row.place),
        )
    console.print(table)


def print_metrics(*, console: Console) -> None:
    """Print every metric: unit, better direction, source on each kind of device, and meaning."""
    page = Page(console)
    for metric in METRICS.values():
        ways = sources(metric)
        devices = ", ".join(f"{device}: {how}" for device, how in ways.items())
        page.write(metric.name, style="bold")
        page.write(
            f"{unit_words(metric)}, {metric.better.value} is better; {devices}", indent=4, hanging=2
        )
        page.write(metric.meaning, indent=4, hanging=2)
        if metric.comment:
            page.write(metric.comment, indent=4, hanging=2)
