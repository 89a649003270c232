"""The last three lines of a report: the score, the next step, and the place of the details. Each is
one row, so that they stay in sight on a terminal of 24 rows."""

from __future__ import annotations

from rich.console import Console

from grader.messages.next_step import describe_next_step
from grader.messages.reasons import format_points
from grader.records import Score
from grader.report.terminal import Page

DETAILS = "above; --annotate adds the cost of each line, --html FILE a page"
DETAILS_OF_FAILURE = "above; --json FILE writes all of it"


def print_ending(score: Score, *, console: Console, details: str = "") -> None:
    """Print the three lines; `details` are the files that have more, where any were written."""
    usual = DETAILS_OF_FAILURE if score.status.ended_early else DETAILS
    write_ending(Page(console), format_points(score), describe_next_step(score), details or usual)


def write_ending(page: Page, score: str, next_step: str, details: str) -> None:
    """Write the three lines below an empty one, each cut at the page's width."""
    page.console.print()
    page.write_cut(f"Score: {score}", style="bold")
    page.write_cut(f"Next: {next_step}", style="bold")
    page.write_cut(f"Details: {details}", style="dim")
