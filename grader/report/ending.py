"""The last three lines of a report: the result, the next step, and the place of the details. Each
is one row, so that they stay in sight on a terminal of 24 rows."""

from __future__ import annotations

from rich.console import Console

from grader.messages.findings import advise_on_findings
from grader.messages.reasons import describe_next_step, format_points
from grader.records import Failure, KernelRun, Score
from grader.report.terminal import Page

DETAILS = "above; --annotate adds the cost of each line, --html FILE a page"
DETAILS_OF_RUN = "above; --annotate adds the cost of each line, --json FILE writes all of it"
DETAILS_OF_FAILURE = "above; --json FILE writes all of it"


def print_ending(score: Score, *, console: Console, details: str = "", next_step: str = "") -> None:
    """Print the three lines; `details` are the files that have more, where any were written;
    `next_step` comes before the fixes."""
    usual = DETAILS_OF_FAILURE if score.status.ended_early else DETAILS
    step = next_step or describe_next_step(score)
    write_ending(Page(console), f"Score: {format_points(score)}", step, details or usual)


def print_run_ending(run: KernelRun | Failure, *, console: Console) -> None:
    """Print the three lines below a run of kernels."""
    page = Page(console)
    if isinstance(run, Failure):
        result = f"Result: {run.status.row.word}"
        write_ending(page, result, " ".join(run.advice.split()), DETAILS_OF_FAILURE)
    elif run.findings:
        result = f"Result: {_count(len(run.findings), 'finding')} in the checked mode"
        write_ending(page, result, advise_on_findings(run.findings), DETAILS_OF_FAILURE)
    else:
        result = f"Result: ran {_count(len(run.launches), 'kernel')}"
        step = "compare the outputs with your own; --save writes them"
        write_ending(page, result, step, DETAILS_OF_RUN)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def write_ending(page: Page, result: str, next_step: str, details: str) -> None:
    """Write the three lines below an empty one, each cut at the page's width. `result` has its
    label."""
    page.console.print()
    page.write_cut(result, style="bold")
    page.write_cut(f"Next: {next_step}", style="bold")
    page.write_cut(f"Details: {details}", style="dim")
