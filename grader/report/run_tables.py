"""The results of a run of kernels, as tables of cells; the renderer for a terminal or a page adds
the style."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from grader.metrics import METRICS, format_value
from grader.records import COUNTERS, Counters, KernelLaunch, KernelRun, LaunchTime, Shown

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
    rows: tuple[tuple[str, ...], ...]

    @property
    def figure_columns(self) -> list[bool]:
        """For each column whether it holds figures: all of its cells begin with a digit."""
        return [are_figures(column) for column in zip(*self.rows, strict=True)]


def are_figures(cells: Iterable[str]) -> bool:
    """Whether all cells begin with a digit, or with a sign."""
    return all(cell[:1].isdigit() or cell[:1] == "-" for cell in cells)


@dataclass(frozen=True)
class _Group:
    """A group of launches; `label` is their number or their count."""

    label: str
    launches: tuple[KernelLaunch, ...]


def list_launch_tables(run: KernelRun) -> list[RunTable]:
    """The launches, their times and their counters; tables without rows are left out."""
    groups = _group(run.launches)
    counted = [
        sum((each.counters or Counters() for each in group.launches), Counters())
        for group in groups
    ]
    kernel = "launch" if len(groups) == len(run.launches) else "launches"
    first = ("launch", "kernel", "grid", "block", "registers", "shared B", "local B")
    timed = [group for group in groups if all(each.time for each in group.launches)]
    tables = [
        RunTable("Launches", (kernel, *first[1:]), tuple(map(_launch_cells, groups))),
        RunTable(
            "Times",
            (kernel, "time", "interval", "source", "bound by"),
            tuple(map(_time_cells, timed)),
        ),
        RunTable(
            "Counters",
            ("counter", *(_heading(group) for group in groups)),
            tuple(_counter_rows(counted)),
        ),
    ]
    return [table for table in tables if table.rows]


def list_output_table(run: KernelRun) -> list[RunTable]:
    """The summary of the outputs, as a list of one table; none where there are no outputs."""
    headings = ("output", "type", "shape", "min", "max", "mean", "first elements")
    rows = tuple(_output_cells(name, array) for name, array in run.outputs.items())
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


def _group(launches: Sequence[KernelLaunch]) -> list[_Group]:
    """Each launch alone; where there are many, launches of the same kernel, shape and resources
    together."""
    if len(launches) <= MOST_LAUNCHES:
        return [_Group(str(number), (each,)) for number, each in enumerate(launches, start=1)]
    alike: dict[tuple[str, ...], list[KernelLaunch]] = {}
    for launch in launches:
        alike.setdefault(_shape_cells(launch), []).append(launch)
    return [_Group(f"{len(group)} x", tuple(group)) for group in alike.values()]


def _heading(group: _Group) -> str:
    name = group.launches[0].kernel
    return f"{group.label} {name}" if group.label.endswith("x") else f"launch {group.label}"


def _shape_cells(launch: KernelLaunch) -> tuple[str, ...]:
    shared = launch.static_shared_bytes + launch.dynamic_shared_bytes
    sizes = (launch.registers, shared, launch.local_bytes)
    return (
        launch.kernel,
        str(launch.grid),
        str(launch.block),
        *(f"{size:,}" for size in sizes),
    )


def _launch_cells(group: _Group) -> tuple[str, ...]:
    return (group.label, *_shape_cells(group.launches[0]))


def _time_cells(group: _Group) -> tuple[str, ...]:
    """The sum of several launches, and their bound where it is the same."""
    times = [launch.time for launch in group.launches if launch.time is not None]

    def total(of: Callable[[LaunchTime], float]) -> str:
        return format_value("time_ms", sum(map(of, times)))

    interval = f"{total(lambda time: time.interval_ms[0])} to {total(lambda t: t.interval_ms[1])}"
    bounds = {time.bound or "-" for time in times}
    bound = bounds.pop() if len(bounds) == 1 else "several"
    return group.label, total(lambda time: time.ms), interval, times[0].source.value, bound


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
