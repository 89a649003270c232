"""The modelled clock of programs: streams, engines, events, and copies, against times of an H200."""

from __future__ import annotations

import pytest

from grader.cuda.timeline import Direction, SyncKind, Timeline
from grader.devices.gpus import read_gpus
from grader.records.timeline import ActivityKind, TimelineEntry

A, B, C, D = 3, 4, 5, 6
LEGACY, PER_THREAD = 0, 2
IN, OUT = Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST
CHUNK = 32 << 20


def timeline(gpu: str = "h200") -> Timeline:
    return Timeline(read_gpus()[gpu])


def launch(clock: Timeline, stream: int, ms: float = 0.1, share: float = 1.0) -> None:
    clock.launch(stream, 0, lambda: ms, "kernel", share=share)


def between(clock: Timeline, first: int, second: int) -> float:
    """Milliseconds from the end of an entry to the start of another."""
    entries = clock.entries()
    return entries[second].start_ms - entries[first].end_ms


def wait_ms(clock: Timeline) -> float:
    """The time at which the host has waited for everything."""
    clock.synchronize(SyncKind.DEVICE, 0)
    last = clock.entries()[-1]
    assert last.kind is ActivityKind.WAIT
    return last.end_ms


def test_operations_of_a_stream_follow_each_other() -> None:
    clock = timeline()
    launch(clock, A)
    clock.copy(A, 0, OUT, CHUNK, asynchronous=True)
    assert between(clock, 0, 1) == pytest.approx(0)


@pytest.mark.parametrize(("streams", "measured_ms"), [(1, 13.84), (2, 7.75), (4, 6.36)])
def test_chunks_overlap_as_on_an_h200(streams: int, measured_ms: float) -> None:
    clock = timeline()
    for chunk in range(8):
        stream = A + chunk % streams
        clock.copy(stream, 0, IN, CHUNK, asynchronous=True)
        launch(clock, stream, 0.5, share=0.001)
        clock.copy(stream, 0, OUT, CHUNK, asynchronous=True)
    assert wait_ms(clock) == pytest.approx(measured_ms, rel=0.07)


@pytest.mark.parametrize(("share", "streams", "measured_ms"), [(1, 4, 0.812), (0.25, 2, 0.418)])
def test_kernels_run_together_where_their_blocks_fit(
    share: float, streams: int, measured_ms: float
) -> None:
    clock = timeline()
    for number in range(8):
        launch(clock, A + number % streams, 0.1, share)
    assert wait_ms(clock) == pytest.approx(measured_ms, rel=0.05)


@pytest.mark.parametrize(
    ("direction", "bytes", "pageable", "measured_us"),
    [
        (IN, 1 << 20, False, 23.4),
        (IN, 64 << 20, False, 1213),
        (OUT, 64 << 20, False, 1215),
        (IN, 1 << 20, True, 90),
        (OUT, 64 << 20, True, 5600),
        (Direction.DEVICE_TO_DEVICE, 64 << 20, False, 38.5),
    ],
)
def test_copies_take_the_measured_time(
    direction: Direction, bytes: int, pageable: bool, measured_us: float
) -> None:
    clock = timeline()
    clock.record_event(1, A)
    clock.copy(A, 0, direction, bytes, pageable=pageable, asynchronous=True)
    clock.record_event(2, A)
    assert (clock.elapsed(1, 2) or 0) * 1000 == pytest.approx(measured_us, rel=0.12)


def test_an_older_link_is_slower() -> None:
    new, old = timeline("h100"), timeline("t4")
    for clock in (new, old):
        clock.copy(A, 0, IN, CHUNK, asynchronous=True)
    assert old.entries()[0].ms > 3.5 * new.entries()[0].ms


def test_the_legacy_default_stream_waits_and_is_waited_for() -> None:
    clock = timeline()
    for stream in (A, LEGACY, B):
        launch(clock, stream, share=0.1)
    assert between(clock, 0, 1) == between(clock, 1, 2) == 0


def test_a_non_blocking_stream_runs_beside_the_legacy_default_stream() -> None:
    clock = timeline()
    clock.non_blocking(A)
    for stream in (LEGACY, A):
        launch(clock, stream, share=0.1)
    assert between(clock, 0, 1) < -0.09


def test_per_thread_default_streams_run_beside_other_streams() -> None:
    clock = timeline()
    for stream in (PER_THREAD, A):
        launch(clock, stream, share=0.1)
    assert between(clock, 0, 1) < -0.09


def test_a_stream_waits_for_an_event_of_another() -> None:
    clock = timeline()
    launch(clock, A, share=0.1)
    clock.record_event(1, A)
    clock.wait_for_event(B, 1)
    launch(clock, B, share=0.1)
    assert between(clock, 0, 1) >= 0


def test_a_pageable_copy_holds_the_host() -> None:
    pinned, pageable = timeline(), timeline()
    for clock, kind in ((pinned, False), (pageable, True)):
        clock.copy(A, 0, IN, CHUNK, pageable=kind, asynchronous=True)
        launch(clock, B)
    assert between(pinned, 0, 1) < 0 < between(pageable, 0, 2)


def test_a_query_is_answered_at_last() -> None:
    clock = timeline()
    launch(clock, A, 1.0)
    polls = 0
    while not clock.is_done(SyncKind.STREAM, A):
        polls += 1
    assert 900 < polls < 1100


def test_devices_have_their_own_engines() -> None:
    clock = timeline()
    for device in (0, 1):
        clock.launch(A + device, device, lambda: 1.0, "kernel")
    assert between(clock, 0, 1) < -0.9


def test_elapsed_time_needs_both_events() -> None:
    clock = timeline()
    clock.record_event(1, A)
    assert clock.elapsed(1, 2) is None


def test_a_run_repeats_its_times() -> None:
    def run() -> tuple[TimelineEntry, ...]:
        clock = timeline()
        for number in range(100):
            launch(clock, A + number % 3, 0.01, 0.4)
        return clock.entries()

    assert run() == run()


def test_the_wall_clock_takes_the_durations_as_they_are() -> None:
    clock = Timeline(read_gpus()["h100"], wall_clock=True)
    clock.record_event(1, A)
    launch(clock, A, 0.0)
    clock.record_event(2, A)
    assert 0 < (clock.elapsed(1, 2) or 0) < 1000
