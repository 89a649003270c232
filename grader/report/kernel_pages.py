"""What kernels did that ran without an exercise, and what a list of kernels says: on a terminal and
as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from rich.console import Console

from grader.metrics import METRICS, format_value
from grader.records import (
    Counters,
    Failure,
    Finding,
    KernelLaunch,
    KernelList,
    KernelRun,
    LaunchTime,
    ListedKernel,
    UnknownInstruction,
)
from grader.report.terminal import Page
from grader.words.findings import describe_place

COUNTER_NAMES = (
    "instructions_executed",
    "thread_instructions_executed",
    "shared_load_instructions",
    "shared_store_instructions",
    "shared_load_wavefronts",
    "shared_store_wavefronts",
    "shared_atomic_wavefronts",
    "shared_wavefronts",
    "shared_wavefronts_ideal",
    "shared_bank_conflicts",
    "global_load_requests",
    "global_load_sectors",
    "global_load_efficiency",
    "global_store_requests",
    "global_store_sectors",
    "global_store_efficiency",
    "global_atomic_requests",
    "global_atomic_sectors",
)
"""What JSON holds of the counters of a launch and of a line."""
_SHOWN = (
    "instructions_executed",
    "shared_wavefronts",
    "shared_bank_conflicts",
    "global_load_sectors",
    "global_load_efficiency",
    "global_store_sectors",
    "global_store_efficiency",
    "global_atomic_requests",
    "global_atomic_sectors",
)
"""What a terminal shows, as far as a launch has any; `shared_bank_conflicts` wherever there are
accesses to shared memory."""
MOST_FIRST, MOST_SHOWN = 8, 4
"""Elements of an output that JSON holds, and that a terminal shows."""


# --- a run ----------------------------------------------------------------------------------------


def print_run(run: KernelRun, *, console: Console) -> None:
    """Print launches, counters, findings, what the kernels printed, and a summary of the
    outputs."""
    page = Page(console)
    page.write(run.device)
    launches = ["launch", "kernel", "grid", "block", "registers", "shared B", "local B"]
    rows = [_launch_cells(number, each) for number, each in enumerate(run.launches, start=1)]
    _write_table(page, launches, rows)
    times = [
        _time_cells(number, each.time)
        for number, each in enumerate(run.launches, start=1)
        if each.time is not None
    ]
    _write_table(page, ["launch", "time", "interval", "source", "bound by"], times)
    counted = [launch.counters or Counters() for launch in run.launches]
    figures = [f"launch {number}" for number in range(1, len(counted) + 1)]
    _write_table(page, ["counter", *figures], _counter_rows(counted))
    for note in run.notes:
        page.write(note)
    if run.findings:
        page.write_heading("Found in the checked mode", style="bold red")
        for finding in run.findings:
            _print_finding(finding, page)
    if run.printed:
        page.write_heading("What the kernels printed")
        page.write_verbatim(run.printed, indent=2)
    if run.outputs:
        titles = ["output", "type", "shape", "min", "max", "mean", "first elements"]
        _write_table(page, titles, [_output_cells(*each) for each in run.outputs.items()])


def format_run(run: KernelRun) -> str:
    """The run as indented JSON, outputs by their summaries."""
    plain = {
        "device": run.device,
        "launches": [_plain_launch(launch) for launch in run.launches],
        "findings": [asdict(finding) for finding in run.findings],
        "outputs": {name: summarise(array) for name, array in run.outputs.items()},
        "printed": run.printed,
        "notes": run.notes,
    }
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


def print_failure(failure: Failure, *, console: Console) -> None:
    """Print why a source does not run, with what it had printed before."""
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


def summarise(array: np.ndarray) -> dict[str, object]:
    """Type, shape, and of the finite elements their number, the smallest and largest one and their
    mean (None where there is none); the first elements in row-major order. What is not finite is a
    string, since JSON does not know it."""
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
        "counters": None if launch.counters is None else _plain_counters(launch.counters),
        "lines": [
            {"line": line.line, "counters": _plain_counters(line.counters)} for line in launch.lines
        ],
        "printed": launch.printed,
        "time": None if launch.time is None else asdict(launch.time),
    }


def _plain_counters(counters: Counters) -> dict[str, int | float | None]:
    return {name: getattr(counters, name) for name in COUNTER_NAMES}


def _plain_number(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _launch_cells(number: int, launch: KernelLaunch) -> list[str]:
    shared = launch.static_shared_bytes + launch.dynamic_shared_bytes
    sizes = (launch.registers, shared, launch.local_bytes)
    return [
        str(number),
        launch.kernel,
        str(launch.grid),
        str(launch.block),
        *(f"{size:,}" for size in sizes),
    ]


def _time_cells(number: int, time: LaunchTime) -> list[str]:
    ends = " to ".join(format_value("time_ms", end) for end in time.interval_ms)
    value = format_value("time_ms", time.ms)
    return [str(number), value, ends, time.source.value, time.bound or "-"]


def _counter_rows(counted: Sequence[Counters]) -> list[list[str]]:
    rows = []
    for name in _SHOWN:
        values = [getattr(counters, name) for counters in counted]
        conflicts = name == "shared_bank_conflicts" and any(c.shared_wavefronts for c in counted)
        if any(values) or conflicts:
            rows.append([name, *(_format_counter(name, value) for value in values)])
    return rows


def _format_counter(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return format_value(name, value) if name in METRICS else f"{value:,}"


def _print_finding(finding: Finding, page: Page) -> None:
    line = f"line {finding.line}: " if finding.line else ""
    page.write(f"{line}{finding.message}", indent=2, hanging=2)
    if where := describe_place(finding):
        page.write(f"at {where}", indent=4, hanging=2)


def _output_cells(name: str, array: np.ndarray) -> list[str]:
    summary = summarise(array)
    figures = (summary[key] for key in ("min", "max", "mean"))
    first = ", ".join(map(_format_number, array.reshape(-1)[:MOST_SHOWN].tolist()))
    return [
        name,
        array.dtype.name,
        " x ".join(map(str, array.shape)),
        *("-" if figure is None else _format_number(figure) for figure in figures),
        f"{first}, ..." if array.size > MOST_SHOWN else first,
    ]


def _format_number(number: object) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)


# --- a list ---------------------------------------------------------------------------------------


def print_list(found: KernelList, *, console: Console) -> None:
    """Print a table of the kernels; the files that could not be listed are told elsewhere."""
    page = Page(console)
    titles = ["file", "kernel", "registers", "shared B", "local B", "instructions", "unsupported"]
    _write_table(page, titles, [_kernel_cells(kernel) for kernel in found.kernels])


def format_list(found: KernelList) -> str:
    """The list as indented JSON; it has `errors` only where a file could not be listed."""
    plain = asdict(found)
    if not found.errors:
        del plain["errors"]
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


def _write_table(page: Page, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table, none where it has no rows; columns whose cells begin with a digit are figures."""
    kept = [[page.clean(cell) for cell in row] for row in rows]
    if not kept:
        return
    table = page.make_table(framed=False)
    for title, column in zip(titles, zip(*kept, strict=True), strict=True):
        figures = all(cell[:1].isdigit() or cell[:1] == "-" for cell in column)
        table.add_column(title, justify="right" if figures else "left", overflow="fold")
    for row in kept:
        table.add_row(*row)
    page.console.print()
    page.console.print(table)
