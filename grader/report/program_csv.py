"""The launches of a program as CSV, with the columns of `ncu --csv --page raw --print-units base`:
names, units, then a row per launch."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping

from grader.records import COUNTERS, Counters
from grader.records.program_run import ProgramKernel, ProgramRun
from grader.records.programs import ProgramLaunch

_PLACES: Mapping[str, Callable[[int, ProgramLaunch, ProgramKernel], object]] = {
    "ID": lambda number, launch, kernel: number,
    "Kernel Name": lambda number, launch, kernel: kernel.kernel,
    "Context": lambda number, launch, kernel: 1,
    "Stream": lambda number, launch, kernel: launch.stream,
    "Block Size": lambda number, launch, kernel: str(kernel.block),
    "Grid Size": lambda number, launch, kernel: str(kernel.grid),
    "Device": lambda number, launch, kernel: launch.device,
}
_LAUNCH: Mapping[str, tuple[str, Callable[[ProgramLaunch, ProgramKernel], object]]] = {
    "gpu__time_duration.sum": (
        "nsecond",
        lambda launch, kernel: "" if launch.ms is None else round(1e6 * launch.ms),
    ),
    "launch__registers_per_thread": ("register/thread", lambda launch, kernel: kernel.registers),
    "launch__shared_mem_per_block_static": (
        "byte/block",
        lambda launch, kernel: kernel.static_shared_bytes,
    ),
    "launch__shared_mem_per_block_dynamic": (
        "byte/block",
        lambda launch, kernel: kernel.dynamic_shared_bytes,
    ),
    "sm__maximum_warps_per_active_cycle_pct": (
        "%",
        lambda launch, kernel: f"{100 * kernel.occupancy:g}",
    ),
}
_COUNTED = {
    row.metrics[0]: row
    for row in COUNTERS.values()
    if len(row.metrics) == 1 and not row.less and not row.name.startswith("global_fetch")
}
"""The counters that are one metric of Nsight Compute. The metric of ideal sectors is a sum over all
accesses; `_count` makes it."""
_SUMS: Mapping[str, tuple[str, Callable[[Counters], int]]] = {
    "memory_l1_wavefronts_shared": ("wavefronts", lambda c: c.shared_wavefronts),
    "derived__memory_l1_wavefronts_shared_excessive": (
        "wavefronts",
        lambda c: c.shared_wavefronts_excessive,
    ),
    "memory_l2_theoretical_sectors_global_ideal": (
        "sectors",
        lambda c: c.global_sectors - c.global_sectors_excessive,
    ),
    "derived__memory_l2_theoretical_sectors_global_excessive": (
        "sectors",
        lambda c: c.global_sectors_excessive,
    ),
}
_UNITS = {
    "instructions": "inst",
    "sectors": "sector",
    "requests": "request",
    "bytes": "byte",
    "wavefronts": "",
}


def format_csv(run: ProgramRun) -> str:
    """The table. A launch without counters of its own has empty cells; the wall clock's times are
    left out."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    counted = [name for name in _COUNTED if name not in _SUMS]
    writer.writerow([*_PLACES, *_LAUNCH, *counted, *_SUMS])
    units = [unit for unit, _ in _LAUNCH.values()]
    units += [_UNITS[_COUNTED[name].unit] for name in counted]
    units += [_UNITS[unit] for unit, _ in _SUMS.values()]
    writer.writerow([*("" for _ in _PLACES), *units])
    for number, launch in enumerate(run.launches):
        kernel = run.kernels[launch.group]
        row = [read(number, launch, kernel) for read in _PLACES.values()]
        row += [read(launch, kernel) for _, read in _LAUNCH.values()]
        writer.writerow([*row, *_count(launch.counters, counted)])
    return text.getvalue()


def _count(counters: Counters | None, counted: list[str]) -> list[object]:
    if counters is None:
        return [""] * (len(counted) + len(_SUMS))
    values = [getattr(counters, _COUNTED[name].name) for name in counted]
    return [*values, *(read(counters) for _, read in _SUMS.values())]
