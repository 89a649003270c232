"""The results of kernels that ran without an exercise, and lists of kernels: on a terminal and as
JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Literal

from rich.console import Console

from grader.messages.findings import describe_place
from grader.records import (
    COUNTERS,
    Counters,
    Failure,
    Finding,
    KernelLaunch,
    KernelList,
    KernelRun,
    ListedKernel,
    UnknownInstruction,
)
from grader.report.json import plain_code, plain_machine
from grader.report.run_tables import are_figures, list_launch_tables, list_output_table, summarise
from grader.report.terminal import Page

COUNTER_NAMES = tuple(name for name, row in COUNTERS.items() if row.shown)
"""The counters of a launch and of a line in the JSON."""


# --- a run ----------------------------------------------------------------------------------------


def print_run(run: KernelRun, *, console: Console) -> None:
    """Print launches, counters, findings, the kernels' own output, and a summary of the outputs."""
    page = Page(console)
    page.write(run.device)
    for table in list_launch_tables(run):
        write_table(page, table.headings, table.rows)
    for note in run.notes:
        page.write(note)
    if run.findings:
        page.write_heading("Found in the checked mode", style="bold red")
        for finding in run.findings:
            print_finding(finding, page)
    if run.printed:
        page.write_heading("What the kernels printed")
        page.write_verbatim(run.printed, indent=2)
    for table in list_output_table(run):
        write_table(page, table.headings, table.rows)


def format_run(run: KernelRun) -> str:
    """The run as indented JSON, outputs by their summaries."""
    plain = {
        "device": run.device,
        "launches": [_plain_launch(launch) for launch in run.launches],
        "findings": [asdict(finding) for finding in run.findings],
        "outputs": {name: summarise(array) for name, array in run.outputs.items()},
        "printed": run.printed,
        "notes": run.notes,
        "accesses": [asdict(access) for access in run.accesses],
    }
    if run.machine is not None:
        plain["machine"] = plain_machine(run.machine)
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


def print_failure(failure: Failure, *, console: Console) -> None:
    """Print the reason why a source does not run, and its output until then."""
    page = Page(console)
    page.write(f"{failure.status.row.word}: {failure.message}", style="bold")
    if failure.detail:
        page.write_verbatim(failure.detail, indent=2)
    page.write(failure.advice)
    for printed in failure.printed:
        page.write_heading("What the kernels printed")
        page.write_verbatim(printed.text, indent=2)


def format_failure(failure: Failure, line: int | None) -> str:
    """The failure as indented JSON; `line` is the line of the source that is at fault."""
    plain = {
        "status": failure.status.value,
        "message": failure.message,
        "line": line,
        "detail": failure.detail,
        "advice": failure.advice,
    }
    return json.dumps({"error": plain}, indent=2) + "\n"


def _plain_launch(launch: KernelLaunch) -> dict[str, object]:
    return {
        "kernel": launch.kernel,
        "grid": launch.grid,
        "block": launch.block,
        "registers": launch.registers,
        "static_shared_bytes": launch.static_shared_bytes,
        "dynamic_shared_bytes": launch.dynamic_shared_bytes,
        "local_bytes": launch.local_bytes,
        "occupancy": launch.occupancy,
        "counters": None if launch.counters is None else plain_counters(launch.counters),
        "lines": [
            {"line": line.line, "counters": plain_counters(line.counters)} for line in launch.lines
        ],
        "printed": launch.printed,
        "time": None if launch.time is None else asdict(launch.time),
    }


def plain_counters(counters: Counters) -> dict[str, int | float | None]:
    return {name: getattr(counters, name) for name in COUNTER_NAMES}


def print_finding(finding: Finding, page: Page) -> None:
    line = f"line {finding.line}: " if finding.line else ""
    page.write(f"{line}{finding.message}", indent=2, hanging=2)
    if where := describe_place(finding):
        page.write(f"at {where}", indent=4, hanging=2)


# --- a list ---------------------------------------------------------------------------------------


def print_list(found: KernelList, *, console: Console) -> None:
    """Print a table of the kernels, without the files that could not be listed."""
    page = Page(console)
    titles = ["file", "kernel", "registers", "shared B", "local B", "instructions", "unsupported"]
    write_table(page, titles, [_kernel_cells(kernel) for kernel in found.kernels])


def format_list(found: KernelList) -> str:
    """The list as indented JSON; it has `errors` only where a file could not be listed, and `code`
    where that was requested."""
    plain = asdict(found)
    if not found.errors:
        del plain["errors"]
    for listed, kernel in zip(plain["kernels"], found.kernels, strict=True):
        del listed["code"]
        if kernel.code is not None:
            listed["code"] = plain_code(kernel.code)
    return json.dumps(plain, indent=2) + "\n"


def _kernel_cells(kernel: ListedKernel) -> list[str]:
    unknown: Mapping[str, None] = dict.fromkeys(map(_format_unknown, kernel.unsupported))
    sizes = (
        kernel.registers,
        kernel.static_shared_bytes,
        kernel.local_bytes,
        kernel.instructions,
    )
    return [
        kernel.file,
        kernel.kernel,
        *(f"{size:,}" for size in sizes),
        ", ".join(unknown) or "none",
    ]


def _format_unknown(unknown: UnknownInstruction) -> str:
    line = f"line {unknown.line}" if unknown.line else ""
    notes = [note for note in (line, "if reached" if unknown.avoidable else "") if note]
    return unknown.instruction + (f" ({', '.join(notes)})" if notes else "")


def write_table(page: Page, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table, none where it has no rows; columns whose cells begin with a digit are figures, which
    are not wrapped."""
    kept = [[page.clean(cell) for cell in row] for row in rows]
    if not kept:
        return
    table = page.make_table(framed=False)
    for title, column in zip(titles, zip(*kept, strict=True), strict=True):
        figures = are_figures(column)
        justify: Literal["right", "left"] = "right" if figures else "left"
        table.add_column(title, justify=justify, overflow="fold", no_wrap=figures)
    for row in kept:
        table.add_row(*row)
    page.console.print()
    page.console.print(table)
