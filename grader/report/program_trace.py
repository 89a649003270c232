"""The timeline of a program as a trace for Perfetto and Chrome: a process per process and device, a
track per stream, and a track for the host's waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from grader.records.program_run import ProgramRun
from grader.records.timeline import TimelineEntry
from grader.report.text import clean_line
from grader.report.trace import Event, format_events, make_slice, name_track, write_events

_DEVICES = 64
"""Most devices of a process in the numbers of tracks."""


def write_program_trace(path: Path, run: ProgramRun) -> None:
    """Write the trace, compressed where the file is a `.gz`. Raises UsageError."""
    about = {"source": "modelled" if run.modelled else "wall clock", "device": run.device}
    write_events(path, format_events([*_trace(run)], about))


def _trace(run: ProgramRun) -> Iterator[Event]:
    for process, device in sorted({(each.process, each.device) for each in run.timeline}):
        named = f"process {process + 1}, device {device}"
        yield name_track("process_name", _DEVICES * process + device + 1, 0, named)
    tracks = {_track(each): name_stream(each.stream) for each in run.timeline}
    for (group, thread), name in sorted(tracks.items()):
        yield name_track("thread_name", group, thread, name)
    for each in run.timeline:
        yield _slice(each, run)


def name_stream(stream: int | None) -> str:
    """`host`, `default stream` or `stream 5`."""
    if stream is None:
        return "host"
    return "default stream" if stream in (0, 1) else f"stream {stream}"


def _slice(entry: TimelineEntry, run: ProgramRun) -> Event:
    what: Event = {}
    if entry.bytes is not None:
        what["bytes"] = entry.bytes
        if entry.ms:
            what["GB/s"] = round(entry.bytes / entry.ms / 1e6, 2)
    if entry.launch is not None and entry.launch < len(run.launches):
        kernel = run.kernels[run.launches[entry.launch].group]
        what |= {"launch": entry.launch, "grid": str(kernel.grid), "block": str(kernel.block)}
        what |= asdict(kernel.time) if kernel.time and kernel.launches == 1 else {}
    start, length = 1000 * entry.start_ms, 1000 * entry.ms
    return make_slice(clean_line(entry.name), entry.kind.value, *_track(entry), start, length, what)


def _track(entry: TimelineEntry) -> tuple[int, int]:
    """The process and thread of a trace."""
    thread = 1 if entry.stream is None else entry.stream + 2
    return _DEVICES * entry.process + entry.device + 1, thread
