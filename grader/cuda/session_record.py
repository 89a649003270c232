"""The record of a session: counters and times of its launches, findings, failures, the timeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.cuda.launch_groups import Group
from grader.cuda.launches import Done, Launches
from grader.cuda.timeline import Timeline
from grader.devices.emulated.plan_run import LaunchRun, count_launch
from grader.emulator import NO_COUNTS, LaunchCounts, LaunchOutcome, Tally, join_counts
from grader.messages.hidden import describe_findings, describe_mistake
from grader.plumbing.atomic import replace_file
from grader.plumbing.record_json import converter
from grader.records import (
    Counters,
    Failure,
    HostFinding,
    LaunchGroup,
    ProgramLaunch,
    SessionRecord,
    Stop,
)
from grader.records.counters import count_accesses
from grader.spec.exercise import Case

_PUBLIC = Case("run", {}, hidden=False)
"""A program's run has no secrets."""
MOST_FAILURES = 100


@dataclass
class Ended:
    """Facts of a session that are not launches: see SessionRecord."""

    failures: list[Failure] = field(default_factory=list)
    host_findings: list[HostFinding] = field(default_factory=list)
    objects: dict[str, str] = field(default_factory=dict)
    printed_bytes: int = 0
    problem: str = ""

    def keep_failure(self, stop: Stop) -> str:
        """Keeps the failure of a launch; returns its message."""
        failure = describe_mistake(stop)
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(failure)
        return failure.message


def make_record(
    process: int, launches: Launches, timeline: Timeline, ended: Ended
) -> SessionRecord:
    """The record. Models times that are not modelled yet."""
    numbers = {id(group): number for number, group in enumerate(launches.groups.values())}
    order = sorted(range(len(launches.done)), key=lambda each: launches.done[each].request.number)
    places = {executed: place for place, executed in enumerate(order)}
    counters_of = _remember(_sum_counters)
    return SessionRecord(
        process,
        launches.gpu.id,
        tuple(_record_group(launches, group) for group in launches.groups.values()),
        tuple(
            ProgramLaunch(
                numbers[id(each.group)],
                each.request.module.device,
                each.request.stream,
                each.request.site,
                each.instructions,
                counters_of(each),
                each.group.ms(each.instructions) if launches.model else each.wall_ms,
            )
            for each in (launches.done[place] for place in order)
        ),
        describe_findings(tuple(launches.findings.values()), _PUBLIC),
        tuple(ended.failures),
        tuple(ended.host_findings),
        tuple(
            replace(each, launch=places.get(each.launch)) if each.launch is not None else each
            for each in timeline.entries()
        ),
        ended.objects,
        ended.printed_bytes,
        ended.problem,
        timeline.streams,
    )


def write_record(folder: Path, record: SessionRecord) -> None:
    """Writes `session-PID-N.json`; N distinguishes sessions of the same process."""
    content = json.dumps(converter().unstructure(record)).encode()
    number = 0
    while (path := folder / f"session-{record.process}-{number}.json").exists():
        number += 1
    replace_file(path, content)


def _record_group(launches: Launches, group: Group) -> LaunchGroup:
    counts = list(group.counts)
    if group.repeated is not None:
        tally = group.repeated.tally
        counts.append(group.ready.native.count_table.sum_up([tally]))
    joined = join_counts(counts, 1.0) if counts else NO_COUNTS
    outcome = LaunchOutcome(joined, None, waited=group.waited)
    result = count_launch(launches.gpu, group.ready.kernel, group.launch, LaunchRun(outcome))
    ran = group.models[0].result() if group.models else None
    return LaunchGroup(
        result.kernel,
        result.grid,
        result.block,
        result.registers,
        result.static_shared_bytes,
        result.dynamic_shared_bytes,
        result.local_bytes,
        result.occupancy,
        group.ready.kernel.symbol,
        group.ready.source,
        group.launches,
        result.counters,
        result.lines,
        group.instructions,
        None if ran is None else ran.modelled,
        None if ran is None else ran.unmodelled,
        group.waited,
    )


def _remember(make: Callable[[LaunchCounts], Counters]) -> Callable[[Done], Counters | None]:
    """The counters of a launch; equal launches of a group are summed once."""
    known: dict[tuple[int, bytes], Counters] = {}

    def find(done: Done) -> Counters | None:
        counted = done.counted
        if counted is None:
            return None
        if isinstance(counted, Tally):
            counted = done.group.ready.native.count_table.sum_up([counted])
        key = id(counted.table), counted.sums.tobytes()
        if key not in known:
            known[key] = make(counted)
        return known[key]

    return find


def _sum_counters(counts: LaunchCounts) -> Counters:
    return count_accesses(counts.by_line())
