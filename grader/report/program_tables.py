"""The kernels of a program as tables of cells, and its sources as runs for the annotation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.metrics import format_value
from grader.records import Counters, Dim3, Finding, KernelLaunch, KernelRun
from grader.records.program_run import ProgramKernel, ProgramRun
from grader.report.plot import format_short
from grader.report.run_tables import RunTable

MOST_ROWS = 10
"""With more rows than these, launches of a kernel with different sizes share a row."""
_MAX_SOURCE_BYTES = 1 << 20


@dataclass(frozen=True)
class _Row:
    """Launches that share a row of the tables."""

    kernels: tuple[ProgramKernel, ...]

    @property
    def name(self) -> str:
        return self.kernels[0].kernel

    @property
    def counters(self) -> Counters:
        return sum((kernel.counters for kernel in self.kernels), Counters())

    @property
    def ms(self) -> float | None:
        times = [kernel.time.ms for kernel in self.kernels if kernel.time is not None]
        return sum(times) if len(times) == len(self.kernels) else None


def list_program_tables(run: ProgramRun) -> list[RunTable]:
    """A row per kernel: its launches with their time, and its memory accesses. The longest time is
    first. A table without rows is left out."""
    rows = _make_rows(run.kernels)
    launches = RunTable(
        "Kernels",
        ("kernel", "launches", "grid", "block", "time ms", "interval ms", "bound by"),
        tuple(map(_launch_cells, rows)),
    )
    accessing = [
        row for row in rows if row.counters.global_sectors or row.counters.shared_wavefronts
    ]
    memory = RunTable(
        "Memory accesses, counted",
        ("kernel", "load sectors", "useful", "store sectors", "useful", "bank conflicts"),
        tuple(map(_memory_cells, accessing)),
    )
    return [table for table in (launches, memory) if table.rows]


def list_files(run: ProgramRun) -> Iterator[KernelRun]:
    """For each source file of kernels that can be read, its launches and findings as a run of
    kernels, for the pages that show the cost of each line."""
    sources = dict.fromkeys(kernel.source for kernel in run.kernels if kernel.source)
    for source in sources:
        text = _read(Path(source))
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


def _make_rows(kernels: Sequence[ProgramKernel]) -> list[_Row]:
    rows = [_Row((kernel,)) for kernel in kernels]
    if len(rows) > MOST_ROWS:
        alike: dict[str, list[ProgramKernel]] = {}
        for kernel in kernels:
            alike.setdefault(kernel.kernel, []).append(kernel)
        rows = [_Row(tuple(group)) for group in alike.values()]
    return sorted(rows, key=lambda row: -(row.ms or 0.0))


def _launch_cells(row: _Row) -> tuple[str, ...]:
    launches = sum(kernel.launches for kernel in row.kernels)
    grids = {_format_size(kernel.grid) for kernel in row.kernels}
    blocks = {_format_size(kernel.block) for kernel in row.kernels}
    return (row.name, f"{launches:,}", _common(grids), _common(blocks), *_time_cells(row))


def _time_cells(row: _Row) -> tuple[str, str, str]:
    """Time, interval, and limiting resource."""
    times = [kernel.time for kernel in row.kernels if kernel.time is not None]
    if row.ms is None:
        return "-", "-", "-"
    ends = zip(*(time.interval_ms for time in times), strict=True)
    low, high = (f"{sum(end):.3g}" for end in ends)
    return f"{row.ms:.4g}", f"{low} to {high}", _common({time.bound or "-" for time in times})


def _memory_cells(row: _Row) -> tuple[str, ...]:
    counters = row.counters
    conflicts = counters.shared_bank_conflicts
    return (
        row.name,
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
    return KernelLaunch(
        kernel.kernel,
        kernel.grid,
        kernel.block,
        kernel.registers,
        kernel.static_shared_bytes,
        kernel.dynamic_shared_bytes,
        kernel.local_bytes,
        kernel.occupancy,
        kernel.counters,
        kernel.lines,
        "",
        kernel.time,
    )


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
