"""The page of a cause (`grade explain`): its definition, the ways to detect it, the fix, and the
exercises that practise it. Renderers add the picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from grader.cpp.cursor import did_you_mean
from grader.errors import UsageError
from grader.messages.cause_row import (
    BOUND,
    GOAL,
    LAUNCH,
    CauseRow,
    Group,
    page_command,
    page_name,
)
from grader.messages.cause_rows import CAUSES
from grader.metrics import CHECKED_CASES, CORRECTNESS, METRICS
from grader.records import Score
from grader.records.program_metrics import HOST_FINDINGS

NCU: Mapping[str, tuple[str, str]] = {
    "time_ms": ("gpu__time_duration.sum", "GPU Speed Of Light Throughput"),
    "shared_bank_conflicts": (
        "derived__memory_l1_wavefronts_shared_excessive",
        "Source Counters",
    ),
    "global_load_efficiency": (
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
        "Memory Workload Analysis Tables",
    ),
    "global_store_efficiency": (
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
        "Memory Workload Analysis Tables",
    ),
    "instructions_executed": ("smsp__inst_executed.sum", "Instruction Statistics"),
    "shared_wavefronts": ("memory_l1_wavefronts_shared", "Source Counters"),
    "shared_wavefronts_ideal": ("memory_l1_wavefronts_shared_ideal", "Source Counters"),
    "global_load_sectors": (
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "Memory Workload Analysis Tables",
    ),
    "global_store_sectors": (
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
        "Memory Workload Analysis Tables",
    ),
    "dram_bytes": ("dram__bytes.sum", "Memory Workload Analysis Tables"),
    "l1_hit_rate": ("l1tex__t_sector_hit_rate.pct", "Memory Workload Analysis"),
    "l2_hit_rate": ("lts__t_sector_hit_rate.pct", "Memory Workload Analysis"),
    "occupancy": ("sm__maximum_warps_per_active_cycle_pct", "Occupancy"),
    "registers_per_thread": ("launch__registers_per_thread", "Launch Statistics"),
}
"""By metric: Nsight Compute's name of the figure, and the section of its report. Version 2025.3
knows all names on an H200; tables show some of them as reads and writes, or as a ratio."""

_ANNOTATE = "`--annotate` and `--html FILE` show the cost of each source line"
_HOW: Mapping[Group, str] = {
    Group.OUTPUTS: "each case of a grading compares the outputs with the expected values",
    Group.MEMORY: _ANNOTATE,
    Group.KERNELS: "the checked mode reports it: in each grading, in `grade run --check` and in"
    " `grade exec --check`",
    Group.HOST: "`grade exec --check` reports it for whole programs",
    Group.LAUNCHES: "each grading reads the launch lines, before the first launch",
    Group.ENDS: "the grading ends with a message about it",
}
_IN_ALL_CASES = frozenset({CORRECTNESS, CHECKED_CASES, HOST_FINDINGS})
"""Metrics that count cases or mistakes: their name is no further help."""


@dataclass(frozen=True)
class Explanation:
    """A page. `detect` are clauses, `name` is the argument of `grade explain`."""

    key: str
    name: str
    row: CauseRow
    detect: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.row.text.removesuffix("?")

    @property
    def command(self) -> str:
        """The command that prints the page."""
        return page_command(self.key)


def list_explanations() -> dict[Group, list[Explanation]]:
    """All pages by group."""
    listed: dict[Group, list[Explanation]] = {group: [] for group in Group}
    for key, row in _rows().items():
        listed[row.group].append(_explain(key, row))
    return listed


def list_names() -> list[str]:
    """The names of all pages."""
    return [page_name(key) for key in _rows()]


def find_explanation(name: str) -> Explanation:
    """The page of a name, which may be a key, a metric, or a key without the beginning of its
    family. UsageError for an unknown name."""
    rows = _rows()
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    by_metric = {row.metric: each for each, row in [*rows.items()][::-1] if _counts(row)}
    candidates = (key, LAUNCH + key, BOUND + key, GOAL + key, by_metric.get(key, ""))
    found = next((each for each in candidates if each in rows), None)
    if found is None:
        near = did_you_mean(page_name(key), list_names()) or _list_parts(key, rows)
        raise UsageError(
            f"there is no cause {name!r}{near}",
            "`grade explain` lists all causes; a report names the page of each.",
        )
    return _explain(found, rows[found])


def explain(key: str) -> Explanation | None:
    """The page of a key; None if the key has none."""
    row = _row_of(key)
    return None if row is None else _explain(key, row)


def list_pages(score: Score) -> tuple[str, ...]:
    """The keys of the causes, findings and host mistakes of a score, the largest loss first; each
    once."""
    keys = [
        *(cause.key for cause in score.causes),
        *(finding.kind.value for finding in score.findings),
        *(mistake.kind for mistake in score.host_findings),
    ]
    return tuple(key for key in dict.fromkeys(keys) if _row_of(key))


def name_pages(keys: Iterable[str]) -> str:
    """`grade explain race, grade explain edge`."""
    return ", ".join(map(page_command, keys))


def _row_of(key: str) -> CauseRow | None:
    return CAUSES.get(key) or (dict(_bounds()).get(key) if key.startswith(BOUND) else None)


def _rows() -> Mapping[str, CauseRow]:
    return {**CAUSES, **dict(_bounds())}


def _bounds() -> Iterator[tuple[str, CauseRow]]:
    """The resources that limit a launch on the timing model."""
    from grader.emulator.timing.bounds import LATENCY_BOUND, RESOURCES  # loads the emulator

    for resource, advice in RESOURCES.items():
        key = BOUND + resource.lower().replace(" ", "_").replace("/", "_")
        meaning = (
            "On the timing model, this resource limits the time of the longest launch, and no kind"
            " of waste explains the time."
        )
        if resource == "latency":
            meaning = (
                f"On the timing model, no resource is used for more than {100 * LATENCY_BOUND:g} %"
                " of the time: most of the time, warps wait for results."
            )
        text = f"slow: bound by {resource}"
        yield key, CauseRow(text, Group.MEMORY, meaning, advice, "time_ms")


def _explain(key: str, row: CauseRow) -> Explanation:
    if key.startswith(BOUND):
        how = ("the line `Model:` of a report, and `--sass` for the cycles of each instruction",)
        return Explanation(key, page_name(key), row, how)
    return Explanation(key, page_name(key), row, tuple(_detect(row)))


def _detect(row: CauseRow) -> Iterator[str]:
    if row.metric and row.metric not in _IN_ALL_CASES:
        yield f"the metric `{row.metric}`: {METRICS[row.metric].meaning}"
    yield _HOW[row.group]
    if row.metric in NCU:
        name, section = NCU[row.metric]
        yield f"on a GPU, Nsight Compute: `{name}` (section {section})"
    if row.sanitizer:
        yield f"on a GPU, `compute-sanitizer --tool {row.sanitizer}`"


def _counts(row: CauseRow) -> bool:
    return bool(row.metric) and row.metric not in _IN_ALL_CASES


def _list_parts(key: str, rows: Mapping[str, CauseRow]) -> str:
    """A suggestion of causes whose words contain a part of the name."""
    stem = key.removesuffix("s")[:6]
    known = ((each, f"{each} {row.text}") for each, row in rows.items() if len(stem) > 3)
    near = [page_name(each) for each, words in known if stem in words]
    return f"; did you mean {' or '.join(near[:3])}?" if near else ""
