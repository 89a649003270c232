"""A run of kernels or of a program as HTML: a page of its own, or a fragment for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.messages.findings import describe_finding, describe_place
from grader.messages.host_findings import describe_mistake
from grader.messages.programs import advise_on_program, describe_clock, describe_result
from grader.records import Failure, KernelRun
from grader.records.program_run import ProgramRun
from grader.report.annotation import PAGE_COLUMNS, annotate_run
from grader.report.html.machine import make_machine
from grader.report.html.pages import render_fragment, render_page
from grader.report.html.source_table import make_lines
from grader.report.html.timeline_chart import KEY, MOST_BARS, draw_timeline
from grader.report.html.warp_charts import make_figures
from grader.report.kernel_pages import list_launch_tables, list_output_table
from grader.report.program_page import list_files, list_program_tables
from grader.report.text import clean_line, clean_text

MOST_FINDINGS = 50


def render_run(run: KernelRun) -> str:
    """The run as markup: launches, times, counters, outputs, findings, and the source with the cost
    of each line. All texts are escaped; there is no script."""
    return render_fragment("kernel_run.html", **_view_run(run))


def render_run_page(run: KernelRun, title: str) -> str:
    """The same as a page."""
    return _render_page("kernel_run.html", title, _view_run(run))


def _view_run(run: KernelRun) -> dict[str, Any]:
    annotation = annotate_run(run, PAGE_COLUMNS)
    return {
        "run": run,
        "tables": [*list_launch_tables(run), *list_output_table(run)],
        "findings": [(each, describe_place(each)) for each in run.findings[:MOST_FINDINGS]],
        "counted": bool(annotation.columns),
        "columns": [(column.titles[0], column.meaning) for column in annotation.columns],
        "machine": make_machine(run.machine),
        "source": make_lines(annotation) if run.source else (),
        "pictures": make_figures(annotation),
    }


def render_program_page(run: ProgramRun, title: str, texts: Mapping[str, str] | None = None) -> str:
    """The page of a run; `title` is the command. `texts`: as for `list_files`."""
    return _render_page("program.html", title, _view(run, texts))


def _render_page(part: str, title: str, view: Mapping[str, Any]) -> str:
    """A page around the markup of a template."""
    return render_page("run_page.html", title=clean_line(title), part=part, **view)


def render_found(found: KernelRun | ProgramRun | Failure, title: str, source: str) -> str | None:
    """The page of a run of this only source; None for a file that does not run."""
    if isinstance(found, KernelRun):
        return render_run_page(found, title)
    return (
        None if isinstance(found, Failure) else render_program_page(found, title, {title: source})
    )


def render_program_fragment(run: ProgramRun) -> str:
    """Markup for a notebook."""
    return render_fragment("program.html", **_view(run))


def _view(run: ProgramRun, texts: Mapping[str, str] | None = None) -> dict[str, Any]:
    annotations = [annotate_run(file, PAGE_COLUMNS) for file in list_files(run, texts)]
    groups = {
        "Errors of kernels": [failure.message for failure in run.failures],
        "Found in kernels": [*map(describe_finding, run.findings)],
        "Found in host code": [*map(describe_mistake, run.host_findings)],
    }
    return {
        "device": clean_line(run.device),
        "result": describe_result(run),
        "advice": clean_line(advise_on_program(run)),
        "groups": [
            (heading, [*map(clean_line, lines[:MOST_FINDINGS])])
            for heading, lines in groups.items()
            if lines
        ],
        "tables": list_program_tables(run),
        "timeline": draw_timeline(run.timeline),
        "timeline_key": KEY,
        "timeline_note": _describe_timeline(run),
        "files": [
            (
                clean_line(each.name),
                [(column.titles[0], column.meaning) for column in each.columns],
                make_lines(each),
            )
            for each in annotations
        ],
        "printed": clean_text((run.stdout or "") + (run.stderr or "")),
        "notes": [clean_line(note) for note in run.notes],
    }


def _describe_timeline(run: ProgramRun) -> str:
    cut = f" The first {MOST_BARS:,} are drawn." if len(run.timeline) > MOST_BARS else ""
    clock = describe_clock(run)
    return f"{clock[0].upper()}{clock[1:]}. A bar shows its figures under the pointer.{cut}"
