"""Counts the launches of a whole program with Nsight Compute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.devices.gpu.ncu_metrics import (
    CountedLaunch,
    NamedCount,
    parse_named_counts,
    required_metrics,
)
from grader.records import Counters, NotCounted, Uncountable
from grader.records.program_run import ProgramRun

_Key = tuple[str, str, str]


def count_command(ncu: Path, log: Path, arch: str) -> list[str]:
    """ncu's command line before that of the program: all launches of the process, exact metrics,
    the mangled names of kernels."""
    return [
        str(ncu),
        *("--target-processes", "all", "--clock-control", "none", "--csv", "--page", "raw"),
        *("--print-units", "base", "--print-kernel-base", "mangled", "--log-file", str(log)),
        *("--metrics", ",".join(required_metrics(arch))),
    ]


def add_counts(run: ProgramRun, log: str, arch: str) -> ProgramRun | NotCounted:
    """The run with ncu's counters. NotCounted where the log has other launches than the run."""
    counted = parse_named_counts(log, arch)
    if isinstance(counted, NotCounted):
        return counted
    by_key: dict[_Key, list[CountedLaunch]] = defaultdict(list)
    for each in counted:
        by_key[each.symbol, each.grid, each.block].append(each.count)
    if _count_keys(counted) != {
        key: len(launches) for key, launches in _group_launches(run).items()
    }:
        figures = {"count": len(counted), "planned": len(run.launches)}
        return NotCounted(Uncountable.OTHER_LAUNCHES, figures)
    launches = list(run.launches)
    for key, numbers in _group_launches(run).items():
        for number, count in zip(numbers, by_key[key], strict=True):
            launches[number] = replace(launches[number], counters=count.counters)
    sums = [Counters() for _ in run.kernels]
    for launch in launches:
        sums[launch.group] += launch.counters or Counters()
    kernels = tuple(
        replace(kernel, counters=total, instructions=total.instructions_executed)
        for kernel, total in zip(run.kernels, sums, strict=True)
    )
    return replace(run, kernels=kernels, launches=tuple(launches), counted=True)


def _group_launches(run: ProgramRun) -> Mapping[_Key, list[int]]:
    """The numbers of the launches with the same name and sizes, in their order."""
    groups: dict[_Key, list[int]] = defaultdict(list)
    for number, launch in enumerate(run.launches):
        kernel = run.kernels[launch.group]
        groups[kernel.symbol, str(kernel.grid), str(kernel.block)].append(number)
    return groups


def _count_keys(counted: Sequence[NamedCount]) -> dict[_Key, int]:
    counts: dict[_Key, int] = defaultdict(int)
    for each in counted:
        counts[each.symbol, each.grid, each.block] += 1
    return counts
