"""A run of kernels in a notebook: a fragment of HTML that needs no other file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from grader.messages.findings import describe_place
from grader.records import KernelRun
from grader.report.annotation import PAGE_COLUMNS, annotate_run
from grader.report.html.machine import make_machine
from grader.report.html.pages import render_fragment
from grader.report.html.source_table import make_lines
from grader.report.html.warp_figures import make_figures
from grader.report.run_tables import RunTable, list_launch_tables, list_output_table
from grader.report.text import clean_line, clean_text

MOST_FINDINGS = 50


@dataclass(frozen=True)
class FindingRow:
    message: str
    where: str
    line: int | None


@dataclass(frozen=True)
class TableView:
    """`figures` gives for each column whether its cells are numbers."""

    title: str
    headings: list[str]
    figures: list[bool]
    rows: list[list[str]]


def render_run(run: KernelRun) -> str:
    """The run as markup: launches, times, counters, outputs, findings, and the source with the cost
    of each line. All texts are escaped; there is no script."""
    annotation = annotate_run(run, PAGE_COLUMNS)
    return render_fragment(
        "kernel_run.html",
        device=clean_line(run.device),
        tables=[_view(each) for each in chain(list_launch_tables(run), list_output_table(run))],
        notes=[clean_line(note) for note in run.notes],
        findings=[
            FindingRow(clean_line(each.message), clean_line(describe_place(each)), each.line)
            for each in run.findings[:MOST_FINDINGS]
        ],
        printed=clean_text(run.printed),
        name=clean_line(run.source_name),
        counted=bool(annotation.columns),
        columns=[(column.titles[0], column.meaning) for column in annotation.columns],
        machine=make_machine(run.machine),
        source=make_lines(annotation) if run.source else (),
        pictures=make_figures(annotation),
    )


def _view(table: RunTable) -> TableView:
    rows = [[clean_line(cell) for cell in row] for row in table.rows]
    return TableView(
        table.title,
        [clean_line(heading) for heading in table.headings],
        table.figure_columns,
        rows,
    )
