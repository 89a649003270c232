"""The report on a program: tables, findings and the next step on a terminal, and JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from rich.console import Console

from grader.messages.host_findings import describe_host_place
from grader.messages.programs import advise_on_program, describe_clock, describe_result
from grader.records.program_run import ProgramKernel, ProgramRun
from grader.records.programs import HostMistake
from grader.report.annotation import TERMINAL_COLUMNS, annotate_run
from grader.report.ending import write_ending
from grader.report.kernel_pages import plain_counters, print_finding, write_table
from grader.report.program_tables import list_files, list_program_tables
from grader.report.source_page import print_annotation
from grader.report.terminal import Page

MOST_FINDINGS = 20


def print_program(run: ProgramRun, *, console: Console, details: str) -> None:
    """Print the report; its last three lines are result, next step, and the place of the
    details."""
    page = Page(console)
    page.console.print()
    page.write(f"{run.device}: {describe_clock(run)}")
    for table in list_program_tables(run):
        write_table(page, table.headings, table.rows)
    _print_errors(run, page)
    if run.findings:
        page.write_heading("Found in kernels", style="bold red")
        for finding in run.findings[:MOST_FINDINGS]:
            print_finding(finding, page)
    if run.host_findings:
        page.write_heading("Found in host code", style="bold red")
        for mistake in run.host_findings[:MOST_FINDINGS]:
            _print_mistake(mistake, page)
    for note in run.notes:
        page.write(note)
    write_ending(page, f"Program: {describe_result(run)}", advise_on_program(run), details)


def print_program_lines(run: ProgramRun, *, console: Console) -> None:
    """Print the source files of the kernels with the cost of each line."""
    for file in list_files(run):
        print_annotation(annotate_run(file, TERMINAL_COLUMNS), console=console)


def format_program(run: ProgramRun) -> str:
    """The run as indented JSON."""
    plain = {
        "exit_code": run.exit_code,
        "device": run.device,
        "kernels": [_plain_kernel(kernel) for kernel in run.kernels],
        "launches": [
            asdict(launch) | {"counters": launch.counters and plain_counters(launch.counters)}
            for launch in run.launches
        ],
        "findings": [asdict(finding) for finding in run.findings],
        "failures": [asdict(failure) for failure in run.failures],
        "host_findings": [asdict(mistake) for mistake in run.host_findings],
        "timeline": [asdict(entry) for entry in run.timeline],
        "notes": run.notes,
    }
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


def _plain_kernel(kernel: ProgramKernel) -> dict[str, object]:
    lines = [
        {"line": line.line, "counters": plain_counters(line.counters)} for line in kernel.lines
    ]
    return asdict(kernel) | {"counters": plain_counters(kernel.counters), "lines": lines}


def _print_errors(run: ProgramRun, page: Page) -> None:
    if run.failures:
        page.write_heading("Errors of kernels", style="bold red")
    for failure in run.failures[:MOST_FINDINGS]:
        if not failure.findings:
            page.write(failure.message, indent=2, hanging=2)
        for finding in failure.findings:
            print_finding(finding, page)


def _print_mistake(mistake: HostMistake, page: Page) -> None:
    times = f" ({mistake.count} times)" if mistake.count > 1 else ""
    page.write(f"{describe_host_place(mistake)}{mistake.message}{times}", indent=2, hanging=2)
