"""Reads the trace of a program's activities on a GPU: its kernels with their measured times, and
the timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.devices.gpus import Gpu, theoretical_occupancy
from grader.records import Counters, Dim3, LaunchTime, RunTool, Source
from grader.records.program_run import ProgramKernel, ProgramRun
from grader.records.programs import ProgramLaunch
from grader.records.timeline import ActivityKind, TimelineEntry
from grader.toolchain.demangle import demangle, parse_signature

NS_PER_MS = 1e6
_DIRECTIONS = {
    1: "host to device",
    2: "device to host",
    3: "host to device",
    4: "device to host",
    9: "host to host",
}
"""By CUpti_ActivityMemcpyKind; others stay on devices."""
_END = "end"


@dataclass(frozen=True)
class _Kernel:
    """The launch of a kernel; bytes of shared memory per block, local bytes per thread."""

    symbol: str
    grid: Dim3
    block: Dim3
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int


@dataclass(frozen=True)
class _Activity:
    """A line of the trace. `order` is CUPTI's number of the call that began the activity."""

    kind: ActivityKind
    start_ns: int
    end_ns: int
    device: int
    stream: int
    order: int
    kernel: _Kernel | None = None
    bytes: int | None = None
    direction: str = ""


def parse_trace(text: str, *, gpu: Gpu, run: RunTool) -> ProgramRun | None:
    """The run of a program with this trace, without counters; None for a trace without an end: the
    program ended by a signal or `_exit`. `run` runs c++filt."""
    lines = text.splitlines()
    if not lines or lines[-1] != _END:
        return None
    activities = sorted(_read(lines[:-1]), key=lambda each: each.order)
    launched = [each.kernel for each in activities if each.kernel is not None]
    groups = list(dict.fromkeys(launched))
    names = demangle([each.symbol for each in groups], run)
    begin = min((each.start_ns for each in activities), default=0)
    launches = [
        ProgramLaunch(groups.index(each.kernel), each.device, each.stream, 0, 0, None, _ms(each))
        for each in activities
        if each.kernel is not None
    ]
    times = [
        sum(each.ms or 0.0 for each in launches if each.group == n) for n in range(len(groups))
    ]
    return ProgramRun(
        0,
        gpu.id,
        tuple(
            _make_kernel(each, names, gpu, launched.count(each), ms)
            for each, ms in zip(groups, times, strict=True)
        ),
        tuple(launches),
        timeline=tuple(_make_timeline(activities, names, begin)),
        counted=False,
    )


def _read(lines: Sequence[str]) -> Iterator[_Activity]:
    for line in lines:
        kind, *fields = line.split("\t")
        if kind not in ("kernel", "copy", "set"):
            continue
        start, end, device, stream, order = map(int, fields[:5])
        activity = _Activity(ActivityKind(kind), start, end, device, stream, order)
        if kind == "kernel":
            yield replace(activity, kernel=_read_kernel(fields[5:]))
        else:
            direction = _DIRECTIONS.get(int(fields[6]), "device to device")
            yield replace(activity, bytes=int(fields[5]), direction=direction)


def _read_kernel(fields: Sequence[str]) -> _Kernel:
    grid, block = (Dim3(*map(int, text.split())) for text in fields[:2])
    return _Kernel(fields[6], grid, block, *map(int, fields[2:6]))


def _make_kernel(
    kernel: _Kernel, names: dict[str, str], gpu: Gpu, launches: int, ms: float
) -> ProgramKernel:
    occupancy = theoretical_occupancy(
        gpu,
        registers=kernel.registers,
        threads=kernel.block.volume,
        shared_bytes=kernel.static_shared_bytes + kernel.dynamic_shared_bytes,
    )
    return ProgramKernel(
        parse_signature(names[kernel.symbol]).name,
        kernel.grid,
        kernel.block,
        kernel.registers,
        kernel.static_shared_bytes,
        kernel.dynamic_shared_bytes,
        kernel.local_bytes,
        occupancy,
        kernel.symbol,
        "",
        launches,
        Counters(),
        (),
        0,
        time=LaunchTime(ms, (ms, ms), None, Source.MEASURED),
    )


def _make_timeline(
    activities: Sequence[_Activity], names: dict[str, str], begin: int
) -> Iterator[TimelineEntry]:
    launch = 0
    for each in activities:
        name = each.direction
        if each.kernel is not None:
            name = parse_signature(names[each.kernel.symbol]).name
        yield TimelineEntry(
            each.kind,
            name,
            each.device,
            each.stream,
            (each.start_ns - begin) / NS_PER_MS,
            (each.end_ns - begin) / NS_PER_MS,
            each.bytes,
            launch if each.kernel is not None else None,
        )
        launch += each.kernel is not None


def _ms(activity: _Activity) -> float:
    return (activity.end_ns - activity.start_ns) / NS_PER_MS
