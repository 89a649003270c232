"""The simulated SM as a trace that Perfetto and Chrome show: JSON in the trace event format, with a
track for each scheduler and each warp, and a slice for each instruction.

Its unit is the microsecond, and stands for a cycle: half a nanosecond would be rounded away.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from grader.messages.warp_states import STATE_WORDS
from grader.plumbing.atomic import write_file
from grader.records import SPAN_NUMBERS, CodeListing, MachineWork, SimulatedLaunch, WarpState
from grader.report.text import clean_line

TRACED_SPANS = 60_000
"""Most spans of a launch, and of all launches of a trace together: some 15 MB of JSON."""
SCHEDULERS = 4
GAP_CYCLES = 1_000
"""Between two launches."""
_STATES = tuple(WarpState)
_SELECTED, _BARRIER = map(_STATES.index, (WarpState.SELECTED, WarpState.BARRIER))
Event = dict[str, Any]


@dataclass(frozen=True)
class _Span:
    """Numbers of WarpCycles.spans by their names."""

    warp: int
    block: int
    start: int
    length: int
    code: int
    cause: int
    state: int

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True)
class Trace:
    """The text of a trace, and sentences on its omissions."""

    text: str
    notes: tuple[str, ...]


def write_trace(path: Path, work: MachineWork, texts: Mapping[int, str]) -> tuple[str, ...]:
    """Write the trace of simulated launches, compressed where the file is a `.gz`; `texts` are the
    source lines by number. Returns a sentence on the trace. UsageError where it cannot be
    written."""
    trace = format_trace(work, texts)
    write_events(path, trace.text)
    return trace.notes


def format_trace(work: MachineWork, texts: Mapping[int, str]) -> Trace:
    """The trace of the simulated launches in sequence, as many as fit."""
    listings = {listing.kernel: listing for listing in work.listings}
    events: list[Event] = []
    notes: list[str] = []
    offset, spans_left = 0, TRACED_SPANS
    for number, launch in enumerate(work.simulated):
        spans, end = _cut(_read_spans(launch), launch.cycles.complete_until, spans_left)
        if not spans:
            left = len(work.simulated) - number
            notes.append(f"{left} more launch{'es are' if left > 1 else ' is'} left out.")
            break
        spans_left -= len(spans)
        events += _trace_launch(number, launch, listings[launch.kernel], spans, offset, texts)
        notes.append(_describe(number, launch, end))
        offset += end + GAP_CYCLES
    about = {
        "unit": "1 us in this trace is 1 cycle of the simulated SM",
        "clock_mhz": [launch.cycles.clock_mhz for launch in work.simulated],
        "sizes": dict(work.modelled_sizes),
        "source": "modelled",
    }
    return Trace(format_events(events, about), tuple(notes))


def format_events(events: Sequence[Event], about: Mapping[str, object]) -> str:
    """The text of a trace."""
    plain = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}
    return json.dumps(plain, separators=(",", ":")) + "\n"


def write_events(path: Path, text: str) -> None:
    """Write the text of a trace, compressed where the file is a `.gz`. Raises UsageError."""
    content = text.encode()
    write_file(path, gzip.compress(content, 6) if path.suffix == ".gz" else content, "the trace")


def _describe(number: int, launch: SimulatedLaunch, end: int) -> str:
    cycles = launch.cycles
    name = f"Launch {number + 1} ({clean_line(launch.kernel)})"
    blocks = f"{cycles.blocks:,} block{'s' if cycles.blocks > 1 else ''} on one SM"
    if end >= cycles.sm_cycles:
        return f"{name}: all {cycles.sm_cycles:,} cycles of {blocks}."
    return f"{name}: the first {end:,} of {cycles.sm_cycles:,} cycles of {blocks}."


def _read_spans(launch: SimulatedLaunch) -> list[_Span]:
    numbers = launch.cycles.spans
    return [_Span(*numbers[at : at + SPAN_NUMBERS]) for at in range(0, len(numbers), SPAN_NUMBERS)]


def _cut(spans: list[_Span], end: int, spans_left: int) -> tuple[list[_Span], int]:
    """Truncates spans to the first cycles that fit; returns them and the last cycle kept."""
    if len(spans) <= spans_left:
        return spans, end
    end = sorted(span.start for span in spans)[spans_left]
    kept = (span for span in spans if span.start < end)
    return [replace(span, length=min(span.end, end) - span.start) for span in kept], end


def _trace_launch(
    number: int,
    launch: SimulatedLaunch,
    listing: CodeListing,
    spans: Sequence[_Span],
    offset: int,
    texts: Mapping[int, str],
) -> Iterator[Event]:
    """The tracks of a launch, then its slices."""
    kernel = clean_line(launch.kernel)
    for scheduler in range(SCHEDULERS):
        process = number * SCHEDULERS + scheduler + 1
        named = f"launch {number + 1}: {kernel}, scheduler {scheduler}"
        yield name_track("process_name", process, 0, named)
        yield name_track("thread_name", process, 0, "issued")
    for warp in sorted({span.warp for span in spans}):
        process, thread = _track_of(number, warp)
        yield name_track("thread_name", process, thread, f"warp slot {warp}")
    for warp, of_warp in groupby(spans, key=lambda span: span.warp):
        process, thread = _track_of(number, warp)
        for _, group in groupby(of_warp, key=_Turn()):
            yield from _trace_instruction(list(group), listing, process, thread, offset, texts)


class _Turn:
    """Numbers the instructions of a warp in the order of their execution. Each ends as it issues; a
    barrier, at which the warp then waits, ends later."""

    def __init__(self) -> None:
        self.number = 0
        self.before: _Span | None = None

    def __call__(self, span: _Span) -> int:
        before, self.before = self.before, span
        if before is not None and (
            span.code != before.code or (before.state == _SELECTED and span.state != _BARRIER)
        ):
            self.number += 1
        return self.number


def _trace_instruction(
    spans: Sequence[_Span],
    listing: CodeListing,
    process: int,
    thread: int,
    offset: int,
    texts: Mapping[int, str],
) -> Iterator[Event]:
    """A slice from the cycle in which a warp reaches an instruction until it has issued it, with a
    slice inside for each state that stalled it, and a slice of its scheduler."""
    first, last = spans[0], spans[-1]
    code = listing.instructions[first.code]
    what: Event = {"instruction": code.text, "block": first.block}
    if code.line is not None:
        what |= {"line": code.line, "source": clean_line(texts.get(code.line, ""))}
    length = last.end - first.start
    at = offset + first.start
    yield make_slice(code.opcode, "instruction", process, thread, at, length, what)
    for span in spans:
        at = offset + span.start
        if span.state == _SELECTED:
            issued = what | {"warp": span.warp}
            yield make_slice(code.opcode, "issued", process, 0, at, span.length, issued)
            continue
        words = STATE_WORDS[_STATES[span.state]]
        why: Event = {"means": words.meaning}
        if span.cause >= 0:
            cause = listing.instructions[span.cause]
            why |= {"waits for": cause.text, "of line": cause.line}
        yield make_slice(words.name, "stall", process, thread, at, span.length, why)


def _track_of(number: int, warp: int) -> tuple[int, int]:
    """The process and the thread for a warp's slot."""
    return number * SCHEDULERS + warp % SCHEDULERS + 1, warp // SCHEDULERS + 1


def name_track(kind: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def make_slice(
    name: str, kind: str, process: int, thread: int, start: float, length: float, what: Event
) -> Event:
    return {
        "ph": "X",
        "name": name,
        "cat": kind,
        "pid": process,
        "tid": thread,
        "ts": start,
        "dur": length,
        "args": what,
    }
