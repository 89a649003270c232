"""A run of kernels in a notebook: a fragment of HTML that needs no other file."""

from __future__ import annotations

from grader.messages.findings import describe_place
from grader.records import KernelRun
from grader.report.annotation import PAGE_COLUMNS, annotate_run
from grader.report.html.machine import make_machine
from grader.report.html.pages import render_fragment
from grader.report.html.source_table import make_lines
from grader.report.html.warp_charts import make_figures
from grader.report.kernel_pages import list_launch_tables, list_output_table

MOST_FINDINGS = 50


def render_run(run: KernelRun) -> str:
    """The run as markup: launches, times, counters, outputs, findings, and the source with the cost
    of each line. All texts are escaped; there is no script."""
    annotation = annotate_run(run, PAGE_COLUMNS)
    return render_fragment(
        "kernel_run.html",
        run=run,
        tables=[*list_launch_tables(run), *list_output_table(run)],
        findings=[(each, describe_place(each)) for each in run.findings[:MOST_FINDINGS]],
        counted=bool(annotation.columns),
        columns=[(column.titles[0], column.meaning) for column in annotation.columns],
        machine=make_machine(run.machine),
        source=make_lines(annotation) if run.source else (),
        pictures=make_figures(annotation),
    )
