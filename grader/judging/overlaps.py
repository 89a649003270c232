"""Figures of a program's timeline: its time on the GPU, the overlap of copies, and its work."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from grader.records import Estimate
from grader.records.program_run import ProgramRun
from grader.records.timeline import ActivityKind, TimelineEntry

TO_DEVICE, TO_HOST = "host to device", "device to host"
_ON_DEVICE = (ActivityKind.KERNEL, ActivityKind.COPY, ActivityKind.SET)


@dataclass(frozen=True)
class Work:
    """Bytes copied in each direction, and threads of all launches."""

    to_device_bytes: int
    to_host_bytes: int
    threads: int


def estimate_time(run: ProgramRun) -> Estimate | None:
    """The time from the start of the first activity on the GPU to the end of the last. The interval
    contains that of all kernels, as if none overlapped."""
    entries = _on_device(run)
    if not entries or any(kernel.time is None for kernel in run.kernels):
        return None
    ms = max(each.end_ms for each in entries) - min(each.start_ms for each in entries)
    times = [kernel.time for kernel in run.kernels if kernel.time is not None]
    below = sum(time.ms - time.interval_ms[0] for time in times)
    above = sum(time.interval_ms[1] - time.ms for time in times)
    shared = ms / max(ms, sum(each.ms for each in entries)) if ms else 0.0
    return Estimate(ms, max(0.0, ms - shared * below), ms + shared * above) if ms > 0 else None


def measure_overlap(run: ProgramRun) -> float | None:
    """The part of the time of copies, 0 to 1, in which another copy or kernel runs."""
    entries = _on_device(run)
    moments = sorted({time for each in entries for time in (each.start_ms, each.end_ms)})
    changes = {moment: [0, 0] for moment in moments}
    for each in entries:
        kind = 1 if each.kind is ActivityKind.KERNEL else 0
        changes[each.start_ms][kind] += 1
        changes[each.end_ms][kind] -= 1
    copies = kernels = 0
    copying = overlapped = 0.0
    for moment, after in itertools.pairwise(moments):
        copies += changes[moment][0]
        kernels += changes[moment][1]
        if copies:
            copying += after - moment
            overlapped += (after - moment) * (copies + kernels > 1)
    return overlapped / copying if copying else None


def measure_work(run: ProgramRun) -> Work:
    """Work of all kinds, as the session counted it."""
    copied = {TO_DEVICE: 0, TO_HOST: 0}
    for each in run.timeline:
        if each.kind is ActivityKind.COPY and each.name in copied:
            copied[each.name] += each.bytes or 0
    threads = sum(
        kernel.launches * kernel.grid.volume * kernel.block.volume for kernel in run.kernels
    )
    return Work(copied[TO_DEVICE], copied[TO_HOST], threads)


def find_link_floor(
    to_device_bytes: int | None, to_host_bytes: int | None, link_gbps: float
) -> float:
    """The least milliseconds for these bytes over a link with a bandwidth for each direction."""
    return max(to_device_bytes or 0, to_host_bytes or 0) / link_gbps / 1e6


def _on_device(run: ProgramRun) -> Sequence[TimelineEntry]:
    return [each for each in run.timeline if each.kind in _ON_DEVICE]
