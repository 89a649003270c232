"""The results of kernels that ran without an exercise, and lists of kernels: as tables of cells for
a terminal or a page, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from rich.console import Console

from grader.messages.findings import describe_place
from grader.metrics import METRICS, format_value
from grader.records import (
    COUNTERS,
    Counters,
    Failure,
    Finding,
    KernelLaunch,
    KernelList,
    KernelRun,
    ListedKernel,
    Shown,
    UnknownInstruction,
)
from grader.records.program_run import ProgramKernel
from grader.report.json import plain_code, plain_machine
from grader.report.terminal import Page

COUNTER_NAMES = tuple(name for name, row in COUNTERS.items() if row.shown)
"""The counters of a launch and of a line in the JSON."""
MOST_FIRST, MOST_SHOWN = 8, 4
"""Elements of an output in a summary, and in a table."""
MOST_LAUNCHES = 6
"""More launches than these are grouped, if they have the same kernel and shape."""
_SHOWN = tuple(name for name, row in COUNTERS.items() if row.shown is Shown.ON_PAGES)
"""The displayed counters, if a launch has any; `shared_bank_conflicts` wherever there are accesses
to shared memory."""


@dataclass(frozen=True)
class RunTable:
    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def figure_columns(self) -> list[bool]:
        """For each column whether it holds figures: all of its cells begin with a digit."""
        return [are_figures(column) for column in zip(*self.rows, strict=True)]


def are_figures(cells: Iterable[str]) -> bool:
    """Whether all cells begin with a digit, or with a sign."""
    return all(cell[:1].isdigit() or cell[:1] == "-" for cell in cells)


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
        _print_output(run.printed, page)
    for table in list_output_table(run):
        write_table(page, table.headings, table.rows)


def format_run(run: KernelRun) -> str:
    """The run as indented JSON, outputs by their summaries."""
    plain = {
        "device": run.device,
        "launches": [plain_counted(launch) for launch in run.launches],
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
        _print_output(printed.text, page)


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


def plain_counted(record: KernelLaunch | ProgramKernel) -> dict[str, object]:
    """A record as JSON types, with the counters that the JSON shows."""
    lines = [
        {"line": line.line, "counters": plain_counters(line.counters)} for line in record.lines
    ]
    return asdict(record) | {"counters": plain_counters(record.counters), "lines": lines}


def plain_counters(counters: Counters | None) -> dict[str, int | float | None] | None:
    if counters is None:
        return None
    return {name: getattr(counters, name) for name in COUNTER_NAMES}


def _print_output(text: str, page: Page) -> None:
    page.write_heading("What the kernels printed")
    page.write_verbatim(text, indent=2)


def print_finding(finding: Finding, page: Page) -> None:
    line = f"line {finding.line}: " if finding.line else ""
    page.write(f"{line}{finding.message}", indent=2, hanging=2)
    if where := describe_place(finding):
        page.write(f"at {where}", indent=4, hanging=2)


# --- the tables of a run --------------------------------------------------------------------------


def list_launch_tables(run: KernelRun) -> list[RunTable]:
    """The launches, their times and their counters; tables without rows are left out."""
    groups = _group(run.launches)
    counted = [
        sum((each.counters or Counters() for each in group), Counters()) for _, group in groups
    ]
    first = "launch" if len(groups) == len(run.launches) else "launches"
    shape = ("kernel", "grid", "block", "registers", "shared B", "local B")
    launches = [(label, *_shape_cells(group[0])) for label, group in groups]
    times = [
        (label, *_time_cells(group)) for label, group in groups if all(each.time for each in group)
    ]
    headings = [
        f"{label} {group[0].kernel}" if label.endswith("x") else f"launch {label}"
        for label, group in groups
    ]
    tables = [
        RunTable("Launches", (first, *shape), launches),
        RunTable("Times", (first, "time", "interval", "source", "bound by"), times),
        RunTable("Counters", ("counter", *headings), _counter_rows(counted)),
    ]
    return [table for table in tables if table.rows]


def list_output_table(run: KernelRun) -> list[RunTable]:
    """The summary of the outputs, as a list of one table; none where there are no outputs."""
    headings = ("output", "type", "shape", "min", "max", "mean", "first elements")
    rows = [_output_cells(name, array) for name, array in run.outputs.items()]
    return [RunTable("Outputs", headings, rows)] if rows else []


def summarise(array: np.ndarray) -> dict[str, object]:
    """Type and shape; the number, minimum, maximum and mean of the finite elements (None where
    there is none); the first elements in row-major order. A value that is not finite is a string,
    since JSON has none."""
    flat = array.reshape(-1)
    finite = flat[np.isfinite(flat)]
    known = finite.size > 0
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "finite": int(finite.size),
        "min": finite.min().item() if known else None,
        "max": finite.max().item() if known else None,
        "mean": float(finite.mean(dtype=np.float64)) if known else None,
        "first": [_plain_number(number) for number in flat[:MOST_FIRST].tolist()],
    }


def _group(launches: Sequence[KernelLaunch]) -> list[tuple[str, Sequence[KernelLaunch]]]:
    """Each launch alone with its number; where there are many, launches of the same kernel, shape
    and resources together, with their count."""
    if len(launches) <= MOST_LAUNCHES:
        return [(str(number), (each,)) for number, each in enumerate(launches, start=1)]
    alike: dict[tuple[str, ...], list[KernelLaunch]] = {}
    for launch in launches:
        alike.setdefault(_shape_cells(launch), []).append(launch)
    return [(f"{len(group)} x", group) for group in alike.values()]


def _shape_cells(launch: KernelLaunch) -> tuple[str, ...]:
    shared = launch.static_shared_bytes + launch.dynamic_shared_bytes
    sizes = (launch.registers, shared, launch.local_bytes)
    shape = (launch.kernel, str(launch.grid), str(launch.block))
    return (*shape, *(f"{size:,}" for size in sizes))


def _time_cells(launches: Sequence[KernelLaunch]) -> tuple[str, ...]:
    """The sum of several launches, and their bound where it is the same."""
    times = [launch.time for launch in launches if launch.time is not None]
    figures = zip(*((time.ms, *time.interval_ms) for time in times), strict=True)
    total, low, high = (format_value("time_ms", sum(values)) for values in figures)
    bounds = {time.bound or "-" for time in times}
    bound = bounds.pop() if len(bounds) == 1 else "several"
    return total, f"{low} to {high}", times[0].source.value, bound


def _counter_rows(counted: Sequence[Counters]) -> list[tuple[str, ...]]:
    rows = []
    for name in _SHOWN:
        values = [getattr(counters, name) for counters in counted]
        conflicts = name == "shared_bank_conflicts" and any(c.shared_wavefronts for c in counted)
        if any(values) or conflicts:
            rows.append((name, *(_format_counter(name, value) for value in values)))
    return rows


def _format_counter(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return format_value(name, value) if name in METRICS else f"{value:,}"


def _output_cells(name: str, array: np.ndarray) -> tuple[str, ...]:
    summary = summarise(array)
    figures = (summary[key] for key in ("min", "max", "mean"))
    first = ", ".join(map(_format_number, array.reshape(-1)[:MOST_SHOWN].tolist()))
    return (
        name,
        array.dtype.name,
        " x ".join(map(str, array.shape)),
        *("-" if figure is None else _format_number(figure) for figure in figures),
        f"{first}, ..." if array.size > MOST_SHOWN else first,
    )


def _plain_number(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _format_number(number: object) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)


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
    unknown = dict.fromkeys(map(_format_unknown, kernel.unsupported))
    memory = kernel.static_shared_bytes, kernel.local_bytes
    sizes = [f"{size:,}" for size in (kernel.registers, *memory, kernel.instructions)]
    return [kernel.file, kernel.kernel, *sizes, ", ".join(unknown) or "none"]


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
