"""The report on a program: tables of its kernels, findings and the next step on a terminal, JSON,
and its sources as runs for the annotation."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from rich.console import Console

from grader.messages.host_findings import describe_host_place
from grader.messages.programs import advise_on_program, describe_clock, describe_result
from grader.metrics import format_value
from grader.records import Counters, Dim3, Finding, KernelLaunch, KernelRun
from grader.records.program_run import ProgramKernel, ProgramRun
from grader.records.programs import HostMistake
from grader.report.annotation import TERMINAL_COLUMNS, annotate_run
from grader.report.ending import write_ending
from grader.report.kernel_pages import (
    RunTable,
    plain_counted,
    plain_counters,
    print_finding,
    write_table,
)
from grader.report.plot import format_short
from grader.report.source_page import print_annotation
from grader.report.terminal import Page

MOST_FINDINGS = 20
MOST_ROWS = 10
"""With more rows than these, launches of a kernel with different sizes share a row."""
_MAX_SOURCE_BYTES = 1 << 20


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
        "kernels": [plain_counted(kernel) for kernel in run.kernels],
        "launches": [
            asdict(launch) | {"counters": plain_counters(launch.counters)}
            for launch in run.launches
        ],
        "findings": [asdict(finding) for finding in run.findings],
        "failures": [asdict(failure) for failure in run.failures],
        "host_findings": [asdict(mistake) for mistake in run.host_findings],
        "timeline": [asdict(entry) for entry in run.timeline],
        "notes": run.notes,
    }
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


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


# --- the tables of kernels ------------------------------------------------------------------------


def list_program_tables(run: ProgramRun) -> list[RunTable]:
    """A row per kernel: its launches with their time, and its memory accesses. The longest time is
    first. A table without rows is left out."""
    rows = _group(run.kernels)
    launches = RunTable(
        "Kernels",
        ("kernel", "launches", "grid", "block", "time ms", "interval ms", "bound by"),
        [_launch_cells(kernels) for kernels in rows],
    )
    counted = [(row[0].kernel, sum((each.counters for each in row), Counters())) for row in rows]
    memory = RunTable(
        "Memory accesses, counted",
        ("kernel", "load sectors", "useful", "store sectors", "useful", "bank conflicts"),
        [
            _memory_cells(name, counters)
            for name, counters in counted
            if counters.global_sectors or counters.shared_wavefronts
        ],
    )
    return [table for table in (launches, memory) if table.rows]


def list_files(run: ProgramRun, texts: Mapping[str, str] | None = None) -> Iterator[KernelRun]:
    """For each source file of kernels that can be read, its launches and findings as a run of
    kernels, for the pages that show the cost of each line. `texts`: the only files, by name; a
    program can name any path as its source (`#line`)."""
    sources = dict.fromkeys(kernel.source for kernel in run.kernels if kernel.source)
    for source in sources:
        text = _read(Path(source)) if texts is None else texts.get(Path(source).name)
        if text is None:
            continue
        kernels = [kernel for kernel in run.kernels if kernel.source == source]
        names = {kernel.kernel for kernel in kernels}
        yield KernelRun(
            {},
            tuple(map(_as_launch, kernels)),
            tuple(finding for finding in all_findings(run) if finding.kernel in names),
            "",
            run.device,
            source_name=Path(source).name,
            source=text,
        )


def all_findings(run: ProgramRun) -> Sequence[Finding]:
    """The findings of the checked mode, and those of failures."""
    return [*run.findings, *(each for failure in run.failures for each in failure.findings)]


def _group(kernels: Sequence[ProgramKernel]) -> list[Sequence[ProgramKernel]]:
    """The kernels that share a row, the longest time first."""
    rows: list[Sequence[ProgramKernel]] = [[kernel] for kernel in kernels]
    if len(rows) > MOST_ROWS:
        alike: dict[str, list[ProgramKernel]] = {}
        for kernel in kernels:
            alike.setdefault(kernel.kernel, []).append(kernel)
        rows = [*alike.values()]
    return sorted(rows, key=lambda row: -(_add_times(row) or 0.0))


def _add_times(kernels: Sequence[ProgramKernel]) -> float | None:
    times = [kernel.time.ms for kernel in kernels if kernel.time is not None]
    return sum(times) if len(times) == len(kernels) else None


def _launch_cells(kernels: Sequence[ProgramKernel]) -> tuple[str, ...]:
    launches = sum(kernel.launches for kernel in kernels)
    grids = {_format_size(kernel.grid) for kernel in kernels}
    blocks = {_format_size(kernel.block) for kernel in kernels}
    sizes = (f"{launches:,}", _common(grids), _common(blocks))
    return (kernels[0].kernel, *sizes, *_time_cells(kernels))


def _time_cells(kernels: Sequence[ProgramKernel]) -> tuple[str, str, str]:
    """Time, interval, and limiting resource."""
    times = [kernel.time for kernel in kernels if kernel.time is not None]
    if (ms := _add_times(kernels)) is None:
        return "-", "-", "-"
    ends = zip(*(time.interval_ms for time in times), strict=True)
    low, high = (f"{sum(end):.3g}" for end in ends)
    return f"{ms:.4g}", f"{low} to {high}", _common({time.bound or "-" for time in times})


def _memory_cells(name: str, counters: Counters) -> tuple[str, ...]:
    conflicts = counters.shared_bank_conflicts
    return (
        name,
        format_short(counters.global_reads.sectors),
        _format_share(counters.global_load_efficiency),
        format_short(counters.global_writes.sectors),
        _format_share(counters.global_store_efficiency),
        format_short(conflicts) if counters.shared_wavefronts else "-",
    )


def _format_share(share: float | None) -> str:
    return "-" if share is None else format_value("global_load_efficiency", share)


def _common(texts: Collection[str]) -> str:
    """The common text, or the number of different texts."""
    return next(iter(texts)) if len(texts) == 1 else f"{len(texts)} kinds"


def _format_size(size: Dim3) -> str:
    """`64x64`, without extents of 1 at the end."""
    extents = [size.x, size.y, size.z]
    while len(extents) > 1 and extents[-1] == 1:
        extents.pop()
    return "x".join(map(str, extents))


def _as_launch(kernel: ProgramKernel) -> KernelLaunch:
    names = {field.name for field in fields(KernelLaunch)} - {"printed"}
    return KernelLaunch(**{name: getattr(kernel, name) for name in names}, printed="")


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
