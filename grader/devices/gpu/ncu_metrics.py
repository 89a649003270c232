"""The metrics for `ncu`, and a parser of its answer: the CSV of `--page raw`, and its error lines.

`ncu --query-metrics` of version 2025.3 lists the names for every chip from compute capability 7.5
to 10.0, except `memory_*`, the metrics of the source page. The counts are exact: software-patched
(`smsp__sass_*`), derived from addresses (`memory_*`), or hardware counters that were equal on every
run. The hardware's conflict counter is not used: it also counts lost arbitration
(docs/devices.md), and is for information only, like the DRAM traffic. The hardware's sectors of
atomics, `l1tex__t_sectors_*_op_atom`, are not used either: they count a sector for each lane, also
for lanes with the same address.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from grader.records import (
    COUNTERS,
    Counter,
    Counters,
    Launch,
    Lookups,
    NotCounted,
    Traffic,
    Uncountable,
)


@dataclass(frozen=True)
class CountedLaunch:
    """A launch with ncu's counts. None: ncu does not have the metric on this GPU.

    `traffic` (cold caches) and `hardware_bank_conflicts` vary from run to run and are for
    information only.
    """

    counters: Counters
    traffic: Traffic = field(default_factory=Traffic)
    hardware_bank_conflicts: int | None = None


COUNTED = tuple(row for row in COUNTERS.values() if row.metrics)
"""The counters that ncu has."""
HARDWARE_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
DRAM_TRAFFIC = ("dram__bytes_read.sum", "dram__bytes_write.sum")
L1_HITS, L1_SECTORS = (
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
)
L2_HITS, L2_SECTORS = "lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum"
OPTIONAL = (
    *(HARDWARE_CONFLICTS, *DRAM_TRAFFIC, L1_HITS, L1_SECTORS, L2_HITS, L2_SECTORS),
    *(row.matrices for row in COUNTED if row.matrices),
)
"""For information only, or missing on some GPUs."""

FIRST_WITH_COPIES = 80
BASE_UNITS = frozenset(
    {"", "inst", "sector", "sectors", "byte", "request", "wavefront", "wavefronts"}
)
"""The units that `--print-units base` prints for these metrics; any other unit (Kbyte) is
scaled."""


def choose_counters(names: Collection[str]) -> tuple[Counter, ...]:
    """The counters of these names and those that they subtract; all counters that ncu has if
    there is no name, or a name of another metric. ncu repeats a launch for each group of metrics:
    for a product of 4096³ all metrics take 8 s, the sectors of loads 4 s."""
    rows = {row.name: row for row in COUNTED}
    if not names or not rows.keys() >= set(names):
        return COUNTED
    chosen = {*names, *(less for name in names for less in rows[name].less)}
    return tuple(row for name, row in rows.items() if name in chosen)


def required_metrics(arch: str, rows: Sequence[Counter] = COUNTED) -> tuple[str, ...]:
    """The metrics that counting requires, for a GPU such as `sm_90`."""
    return tuple(dict.fromkeys(name for row in rows for name in _metrics_of(row, arch)))


def optional_metrics(rows: Sequence[Counter] = COUNTED) -> tuple[str, ...]:
    """The metrics that a GPU may lack; figures for information come with all counters only."""
    return OPTIONAL if rows == COUNTED else tuple(row.matrices for row in rows if row.matrices)


@dataclass(frozen=True)
class NamedCount:
    """A launch in ncu's log: the kernel's name, grid and block as ncu prints them, and its
    counts."""

    symbol: str
    grid: str
    block: str
    count: CountedLaunch


def parse_counts(
    text: str, launches: Sequence[Launch], arch: str, rows: Sequence[Counter] = COUNTED
) -> tuple[CountedLaunch, ...] | NotCounted:
    """The counters of each launch, in order, from ncu's log file; those not in `rows` are 0.
    NotCounted when it has an error, or lacks a launch or a metric."""
    table = _read_table(text)
    if isinstance(table, NotCounted):
        return table
    if [row.shape for row in table] != [
        (str(launch.grid), str(launch.block)) for launch in launches
    ]:
        figures = {"count": len(table), "planned": len(launches)}
        return NotCounted(Uncountable.OTHER_LAUNCHES, figures)
    try:
        return tuple(_count(row, arch, rows) for row in table)
    except _UnreadableError as problem:
        return problem.fact


def parse_named_counts(text: str, arch: str) -> tuple[NamedCount, ...] | NotCounted:
    """All launches in ncu's log file; NotCounted when it has an error, or lacks a metric."""
    table = _read_table(text)
    if isinstance(table, NotCounted):
        return table
    try:
        return tuple(
            NamedCount(row.values.get("Kernel Name", ""), *row.shape, _count(row, arch))
            for row in table
        )
    except _UnreadableError as problem:
        return problem.fact


def _read_table(text: str) -> list[_Row] | NotCounted:
    if "\n==ERROR==" in f"\n{text}":
        return explain_log(text)
    rows = list(
        csv.reader(line for line in text.splitlines() if line and not line.startswith("=="))
    )
    if len(rows) < 2 or rows[0][:1] != ["ID"]:
        return explain_log(text)
    return [
        _Row(dict(zip(rows[0], row, strict=False)), dict(zip(rows[0], rows[1], strict=False)))
        for row in rows[2:]
    ]


# --- reasons --------------------------------------------------------------------------------------

_REASONS = {
    "ERR_NVGPUCTRPERM": Uncountable.NOT_PERMITTED,
    "driver resource was unavailable": Uncountable.OTHER_PROFILER,
    "LibraryNotLoaded": Uncountable.NO_DRIVER,
    "not supported on": Uncountable.UNKNOWN_GPU,
    "LaunchFailed": Uncountable.FAILED_REPLAY,
    "No kernels were profiled": Uncountable.NO_LAUNCH,
}
"""By a part of a line in ncu's log."""


def find_unknown_metric(text: str) -> str | None:
    """The start of the name of a metric that this ncu does not know: it collects no metric then.
    Newer versions leave out the column."""
    found = re.search(r"Failed to find metric (?:regex:\^)?(\w+)", text)
    return found[1] if found else None


def explain_log(text: str) -> NotCounted:
    """The reason why a log has no counters, from its error lines."""
    unknown = find_unknown_metric(text)
    if unknown is not None:
        return NotCounted(Uncountable.MISSING_METRIC, {"metric": unknown})
    for mark, why in _REASONS.items():
        if mark in text:
            return NotCounted(why)
    errors = [
        line.removeprefix("==ERROR==").strip()
        for line in text.splitlines()
        if line.startswith("==ERROR==")
    ]
    if errors:
        return NotCounted(Uncountable.FAILED, {"error": errors[0]})
    return NotCounted(Uncountable.NO_OUTPUT)


# --- one launch -----------------------------------------------------------------------------------


class _UnreadableError(Exception):
    """A figure that is missing or not a whole number in base units."""

    def __init__(self, why: Uncountable, **figures: str) -> None:
        super().__init__(why)
        self.fact = NotCounted(why, figures)


@dataclass(frozen=True)
class _Row:
    """A line of the CSV, and the line of units, by column."""

    values: Mapping[str, str]
    units: Mapping[str, str] = field(repr=False)

    @property
    def shape(self) -> tuple[str, str]:
        """Grid and block, as `(x, y, z)`."""
        return self.values.get("Grid Size", ""), self.values.get("Block Size", "")

    def read(self, metric: str) -> int:
        """A count. Thousands are separated by commas: ncu runs in the C locale."""
        text, unit = self.values.get(metric, ""), self.units.get(metric, "")
        if not re.fullmatch(r"\d[\d,]*(\.0+)?", text):
            why = Uncountable.UNREADABLE_COUNT if text else Uncountable.MISSING_COUNT
            raise _UnreadableError(why, metric=metric, text=text)
        if unit not in BASE_UNITS:
            raise _UnreadableError(Uncountable.UNREADABLE_UNIT, metric=metric, unit=unit)
        return int(text.partition(".")[0].replace(",", ""))

    def read_all(self, metrics: Sequence[str]) -> int | None:
        """The sum of metrics that may be missing: None then."""
        try:
            return sum(self.read(metric) for metric in metrics)
        except _UnreadableError:
            return None


def _count(row: _Row, arch: str, rows: Sequence[Counter] = COUNTED) -> CountedLaunch:
    counts = {
        counter.name: sum(map(row.read, _metrics_of(counter, arch)))
        + (row.read_all([counter.matrices]) or 0)
        for counter in rows
    }
    for counter in rows:
        counts[counter.name] -= sum(counts[name] for name in counter.less)
    traffic = Traffic(
        row.read_all(DRAM_TRAFFIC),
        _lookups(row, L1_HITS, L1_SECTORS),
        _lookups(row, L2_HITS, L2_SECTORS),
    )
    return CountedLaunch(Counters(**counts), traffic, row.read_all([HARDWARE_CONFLICTS]))


def _lookups(row: _Row, hits: str, sectors: str) -> Lookups | None:
    held, asked = row.read_all([hits]), row.read_all([sectors])
    return None if held is None or asked is None else Lookups(held, asked)


def _metrics_of(counter: Counter, arch: str) -> tuple[str, ...]:
    has_copies = counter.copies and int(re.sub(r"\D", "", arch)) >= FIRST_WITH_COPIES
    return (*counter.metrics, counter.copies) if has_copies else counter.metrics
