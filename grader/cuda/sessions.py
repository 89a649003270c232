"""Joins the records of a program's processes into the record of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from grader.messages.host_findings import describe_host_findings
from grader.plumbing.record_json import converter
from grader.records import LaunchTime, RunTool, Source
from grader.records.program_run import ProgramKernel, ProgramRun
from grader.records.programs import HostMistake, LaunchGroup, ProgramLaunch, SessionRecord
from grader.records.timeline import ActivityKind, TimelineEntry
from grader.toolchain.host_lines import find_places, ignores_result


def read_sessions(folder: Path) -> tuple[SessionRecord, ...]:
    """The records in a folder, oldest first."""
    files = sorted(folder.glob("session-*.json"), key=lambda path: path.stat().st_mtime_ns)
    return tuple(
        converter().structure(json.loads(file.read_bytes()), SessionRecord) for file in files
    )


def join_sessions(
    sessions: Sequence[SessionRecord],
    *,
    exit_code: int,
    modelled: bool,
    checked: bool,
    run: RunTool,
) -> ProgramRun:
    """The run of a program with these processes. `run` runs the tool that finds source lines."""
    numbers, kernels = _join_groups(sessions)
    launches = [
        replace(launch, group=numbers[process, launch.group])
        for process, session in enumerate(sessions)
        for launch in session.launches
    ]
    if modelled:
        kernels = [replace(k, time=_sum_times(k, n, launches)) for n, k in enumerate(kernels)]
    return ProgramRun(
        exit_code,
        sessions[0].device if sessions else "",
        tuple(kernels),
        tuple(launches),
        tuple(chain.from_iterable(session.findings for session in sessions)),
        tuple(chain.from_iterable(session.failures for session in sessions)),
        _describe_hosts(sessions, run),
        tuple(_join_timelines(sessions)),
        checked=checked,
        modelled=modelled,
        streams=sum(session.streams for session in sessions),
        notes=tuple(chain.from_iterable(_list_notes(each, modelled) for each in sessions)),
    )


def _list_notes(session: SessionRecord, modelled: bool) -> Iterator[str]:
    if session.problem:
        yield f"Process {session.process} ended early: {session.problem}."
    times: dict[str, list[float]] = {}
    for each in session.timeline:
        if each.kind is ActivityKind.KERNEL and each.launch is None:
            times.setdefault(each.name, []).append(each.ms)
    for name, found in times.items():
        time = f", {sum(found):.3g} ms by the GPU's published figures" if modelled else ""
        calls = "1 call" if len(found) == 1 else f"{len(found)} calls"
        yield f"{name}: {calls}{time}; this computer calculates the results."


def _join_groups(
    sessions: Sequence[SessionRecord],
) -> tuple[dict[tuple[int, int], int], list[ProgramKernel]]:
    """The kernels of all processes, and the index of each group by its process and its index
    there."""
    known: dict[tuple[object, ...], int] = {}
    numbers: dict[tuple[int, int], int] = {}
    kernels: list[ProgramKernel] = []
    for process, session in enumerate(sessions):
        for index, group in enumerate(session.groups):
            sizes = (group.grid, group.block, group.dynamic_shared_bytes)
            key = (group.symbol, group.source, group.registers, *sizes)
            number = known.setdefault(key, len(kernels))
            numbers[process, index] = number
            if number == len(kernels):
                kernels.append(ProgramKernel(**vars(group)))
            else:
                kernels[number] = _add(kernels[number], group)
    return numbers, kernels


def _add(kernel: ProgramKernel, group: LaunchGroup) -> ProgramKernel:
    lines = {line.line: line for line in kernel.lines}
    for line in group.lines:
        if line.line in lines:
            line = replace(line, counters=lines[line.line].counters + line.counters)
        lines[line.line] = line
    return replace(
        kernel,
        launches=kernel.launches + group.launches,
        counters=kernel.counters + group.counters,
        lines=tuple(lines.values()),
        instructions=kernel.instructions + group.instructions,
        modelled=kernel.modelled or group.modelled,
    )


def _sum_times(
    kernel: ProgramKernel, number: int, launches: Sequence[ProgramLaunch]
) -> LaunchTime | None:
    """The time of all launches of a kernel, with the relative interval of the modelled launch."""
    modelled = kernel.modelled
    times = [launch.ms for launch in launches if launch.group == number]
    if modelled is None or modelled.interval_ms is None or None in times:
        return None
    ms = sum(each for each in times if each is not None)
    low, high = (end / modelled.time_ms * ms for end in modelled.interval_ms)
    bound = modelled.bounds[0].resource if modelled.bounds else None
    return LaunchTime(ms, (low, high), bound, Source.MODELLED, modelled.kind)


def _describe_hosts(sessions: Sequence[SessionRecord], run: RunTool) -> tuple[HostMistake, ...]:
    found = [
        finding
        for session in sessions
        for finding in session.host_findings
        if finding.kind != "unchecked_error" or ignores_result(finding.frames, run)
    ]
    frames = (frame for each in found for frame in (*each.frames, *each.other_frames))
    places = find_places(frames, run)
    return describe_host_findings(found, places)


def _join_timelines(sessions: Sequence[SessionRecord]) -> Iterator[TimelineEntry]:
    before = 0
    for process, session in enumerate(sessions):
        for entry in session.timeline:
            launch = None if entry.launch is None else entry.launch + before
            yield replace(entry, process=process, launch=launch)
        before += len(session.launches)
