"""The modelled clock of a CUDA program: start and end of each kernel, copy and fill, by the rules
of streams and by the engines of the GPU.

Streams: the legacy default stream waits for all blocking streams, and they wait for it. Engines:
the SMs run kernels together if their blocks fit; one copy engine for each direction. The host's
time passes only by a fixed cost per call and by waiting, so a run repeats its times. With
`wall_clock`, times are those of this computer.

Costs are medians of 21 on an H200 (PCI Express 5, CUDA 13): pinned copies of 4 B to 64 MiB within
10 % (within 8 us from 2 KiB to 16 KiB), and eight chunks of 32 MiB with kernels of 0.5 ms in one,
two and four streams within 3 %. The bandwidth of pageable copies depends on the host's processor:
10 to 14 GB/s there.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from grader.cuda.wire import Arithmetic
from grader.devices.gpus import Gpu
from grader.records.timeline import ActivityKind, TimelineEntry

CALL_US = 1.0
LAUNCH_CALL_US = 3.5
SUBMIT_US = 2.0
"""From the end of a call until an idle GPU begins."""
WAKE_US = 1.5
EVENT_US = 1.3
PINNED_PART, PEER_PART = 0.88, 0.8
"""Reached fractions of the link's theoretical bandwidth; the peers' is the usual figure of NVLink
in NVIDIA's nvbandwidth."""
PAGEABLE_GBPS = 12.0
PINNED_START_US, PAGEABLE_START_US, COPY_START_US, SET_START_US = 2.2, 6.0, 2.0, 0.9
COPY_PART, SET_PART = 0.88, 0.9
"""Copies and fills inside a device, as in devices/emulated/transfers.py."""
LIBRARY_PART, LIBRARY_START_US = 0.77, 2.0
"""Part of the peak that cuBLAS reaches: 51.7 of 66.9 TFLOP/s in float (docs/measurements.md)."""
QUEUE_LENGTH = 1024
"""Outstanding operations after which a call waits."""
MOST_ENTRIES = 20_000
LEGACY, PER_THREAD = (0, 1), 2
"""Numbers of streams: CU_STREAM_LEGACY and NULL; CU_STREAM_PER_THREAD. The program's begin at 3."""


class SyncKind(StrEnum):
    STREAM = "stream"
    EVENT = "event"
    DEVICE = "device"


class Direction(IntEnum):
    """cudaMemcpyKind, and copies between devices."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    PEER = 4


_NAMES = {
    Direction.HOST_TO_DEVICE: "host to device",
    Direction.DEVICE_TO_HOST: "device to host",
    Direction.DEVICE_TO_DEVICE: "device to device",
    Direction.PEER: "to another device",
}
Place = tuple[int, int]
"""A stream: the device of a default stream, else -1; its number."""


@dataclass
class _Engine:
    """A resource whose users share it: start, end and share (0 to 1) of the last of them, and their
    last end."""

    busy: deque[tuple[float, float, float]] = field(
        default_factory=lambda: deque(maxlen=QUEUE_LENGTH)
    )
    last_end: float = 0.0

    def find_start(self, ready: float, length: float, share: float, now: float) -> float:
        """The first time from `ready` at which this share is free for this length. Nothing starts
        before `now` any more."""
        while self.busy and self.busy[0][1] <= now:
            self.busy.popleft()
        if ready >= self.last_end:
            return ready
        later = [each for each in self.busy if each[1] > ready]
        for start in sorted({ready, *(end for _, end, _ in later)}):
            at_once = [each for each in later if each[0] < start + length and each[1] > start]
            if _peak(at_once, start) + share <= 1.0 + 1e-9:
                return start
        return ready

    def take(self, start: float, end: float, share: float) -> None:
        self.busy.append((start, end, share))
        self.last_end = max(self.last_end, end)


def _peak(users: Iterable[tuple[float, float, float]], start: float) -> float:
    """The largest sum of shares from `start` on; it begins with some user."""
    users = list(users)
    moments = (max(start, begin) for begin, _, _ in users)
    return max((sum(s for b, e, s in users if b <= t < e) for t in moments), default=0.0)


class Timeline:
    """Microseconds from the first call inside, milliseconds outside. Streams and events are the
    numbers of the program's messages."""

    def __init__(self, gpu: Gpu, *, wall_clock: bool = False) -> None:
        self._gpu = gpu
        self._wall_start = time.perf_counter() if wall_clock else None
        self._host_us = 0.0
        self._ends: dict[Place, float] = {}
        self._devices: dict[Place, int] = {}
        self._non_blocking: set[int] = set()
        self._events: dict[int, float] = {}
        self._engines: dict[tuple[int, str], _Engine] = defaultdict(_Engine)
        self._outstanding: deque[float] = deque(maxlen=QUEUE_LENGTH)
        self._entries: list[TimelineEntry] = []
        self.left_out = 0
        """Entries beyond MOST_ENTRIES."""

    def entries(self) -> tuple[TimelineEntry, ...]:
        return tuple(self._entries)

    @property
    def streams(self) -> int:
        """The number of streams with operations."""
        return len(self._ends)

    def non_blocking(self, stream: int) -> None:
        """The stream was created with cudaStreamNonBlocking: the legacy default stream does not
        wait for it."""
        self._non_blocking.add(stream)

    def call(self, us: float = CALL_US) -> None:
        """The host's time for a call; it waits while the queue is full."""
        self._host_us += us
        if len(self._outstanding) == QUEUE_LENGTH:
            self._host_us = max(self._host_us, self._outstanding[0])

    def now_ns(self, stream: int, device: int) -> int:
        """The time at which the next operation of a stream may start, for `globaltimer`."""
        return round(1000 * self._ready(stream, device))

    # --- activities -------------------------------------------------------------------------------

    def launch(
        self,
        stream: int,
        device: int,
        duration: Callable[[], float | None],
        name: str,
        launch: int | None = None,
        *,
        share: float = 1.0,
    ) -> None:
        """A kernel. `duration` returns milliseconds, None: unknown. `share`: the part of the GPU
        that its blocks fill."""
        us = 1000 * (duration() or 0.0)
        self.call(LAUNCH_CALL_US)
        entry = (ActivityKind.KERNEL, name, None, launch)
        self._place(stream, device, us, ("SM",), entry, share=min(1.0, share))

    def library(
        self,
        stream: int,
        device: int,
        name: str,
        arithmetic: Arithmetic,
        operations: float,
        bytes: float,
    ) -> None:
        """A kernel of cuBLAS or cuRAND: the longer of the times of its operations and of its
        accesses to memory, by published figures."""
        gpu = self._gpu
        single, figures = gpu.peak_fp32_tflops, gpu.figures
        doubles = figures.double_lanes / figures.float_lanes if figures else 1 / 64
        rates = {
            Arithmetic.SINGLE: single,
            Arithmetic.DOUBLE: single * doubles,
            Arithmetic.TENSOR: gpu.peak_tensor_tflops or 2 * single,
        }
        ms = operations / (LIBRARY_PART * rates[arithmetic] * 1e9)
        ms = max(ms, bytes / (COPY_PART * gpu.peak_bandwidth_gbps * 1e6))
        self.launch(stream, device, lambda: ms + LIBRARY_START_US / 1000, name)

    def copy(
        self,
        stream: int,
        device: int,
        direction: int,
        bytes: int,
        *,
        pageable: bool = False,
        asynchronous: bool = False,
    ) -> None:
        """A copy of `bytes` in all. The host waits for a pageable or synchronous copy, and not for
        a copy inside a device."""
        self.call()
        way = Direction(direction)
        if way is Direction.HOST_TO_HOST:
            return
        entry = (ActivityKind.COPY, _NAMES[way], bytes, None)
        engines = _ENGINES[way]
        end = self._place(stream, device, self._copy_us(way, bytes, pageable), engines, entry)
        with_host = way in (Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST)
        if with_host and (pageable or not asynchronous):
            self._wait_until(end, "copy", device)

    def set(self, stream: int, device: int, bytes: int) -> None:
        """A fill of device memory."""
        self.call()
        us = SET_START_US + bytes / (SET_PART * self._gpu.peak_bandwidth_gbps * 1e3)
        self._place(stream, device, us, ("SM",), (ActivityKind.SET, "fill", bytes, None))

    def host_function(self, stream: int, device: int) -> None:
        """A function of the host in a stream; its own time is unknown."""
        self.call()
        entry = (ActivityKind.HOST_FUNCTION, "host function", None, None)
        self._place(stream, device, 0.0, (), entry)

    # --- order ------------------------------------------------------------------------------------

    def record_event(self, event: int, stream: int, device: int = 0, *, free: bool = False) -> None:
        """The event's time is the end of its record, which takes time in the stream unless it is
        `free`: an edge of a graph."""
        if free:
            self._events[event] = self._end_of(stream, device)
            return
        self.call()
        end = self._now(self._ready(stream, device) + EVENT_US)
        self._finish(stream, device, end)
        self._events[event] = end

    def wait_for_event(
        self, stream: int, event: int, device: int = 0, *, free: bool = False
    ) -> None:
        if not free:
            self.call()
        reached = self._events.get(event, 0.0)
        self._finish(stream, device, max(reached, self._end_of(stream, device)))

    def synchronize(self, kind: SyncKind, handle: int, device: int = 0) -> None:
        """The host waits for a stream, an event or a device."""
        self.call()
        self._wait_until(self._end_at(kind, handle, device), f"{kind} synchronize", device)

    def is_done(self, kind: SyncKind, handle: int, device: int = 0) -> bool:
        """Whether the host would not wait; each call takes time, so a polling loop ends."""
        self.call()
        return self._wall_start is not None or self._end_at(kind, handle, device) <= self._host_us

    def elapsed(self, start: int, end: int) -> float | None:
        """Milliseconds between two events; None where one was not recorded."""
        if start not in self._events or end not in self._events:
            return None
        return (self._events[end] - self._events[start]) / 1000

    # --- inside -----------------------------------------------------------------------------------

    def _copy_us(self, way: Direction, bytes: int, pageable: bool) -> float:
        if way is Direction.DEVICE_TO_DEVICE:
            return COPY_START_US + 2 * bytes / (COPY_PART * self._gpu.peak_bandwidth_gbps * 1e3)
        if way is Direction.PEER:
            peer = PEER_PART * (self._gpu.peer_gbps or self._gpu.link_gbps)
            return PINNED_START_US + bytes / (peer * 1e3)
        pinned = PINNED_PART * self._gpu.link_gbps
        if not pageable:
            return PINNED_START_US + bytes / (pinned * 1e3)
        return PAGEABLE_START_US + bytes / (min(PAGEABLE_GBPS, pinned) * 1e3)

    def _place(
        self,
        stream: int,
        device: int,
        us: float,
        engines: tuple[str, ...],
        about: tuple[ActivityKind, str, int | None, int | None],
        *,
        share: float = 1.0,
    ) -> float:
        """Adds an activity at the first time at which its stream and its engines are free."""
        start = self._ready(stream, device)
        if self._wall_start is not None:
            start = max(0.0, self._now(0.0) - us)
        else:
            for name in engines:
                start = self._engines[device, name].find_start(start, us, share, self._host_us)
            for name in engines:
                self._engines[device, name].take(start, start + us, share)
        self._finish(stream, device, start + us)
        self._outstanding.append(start + us)
        kind, name, bytes, launch = about
        times = start / 1000, (start + us) / 1000
        self._add(TimelineEntry(kind, name, device, stream, *times, bytes, launch))
        return start + us

    def _add(self, entry: TimelineEntry) -> None:
        if len(self._entries) < MOST_ENTRIES:
            self._entries.append(entry)
        else:
            self.left_out += 1

    def _now(self, modelled_us: float) -> float:
        """A modelled time, or the wall clock's."""
        if self._wall_start is None:
            return modelled_us
        return 1e6 * (time.perf_counter() - self._wall_start)

    def _wait_until(self, end_us: float, name: str, device: int) -> None:
        if self._wall_start is None and end_us > self._host_us:
            times = self._host_us / 1000, (end_us + WAKE_US) / 1000
            self._add(TimelineEntry(ActivityKind.WAIT, name, device, None, *times))
            self._host_us = end_us + WAKE_US

    def _ready(self, stream: int, device: int) -> float:
        """The first time at which a stream may start an operation of this call."""
        return max(self._host_us + SUBMIT_US, self._end_of(stream, device))

    def _end_of(self, stream: int, device: int) -> float:
        """The end of the operations that the next operation of a stream waits for."""
        legacy = (device, LEGACY[0])
        if stream in LEGACY:
            blocking = (
                end
                for place, end in self._ends.items()
                if self._devices[place] == device and place[1] not in self._non_blocking
            )
            return max(blocking, default=0.0)
        own = self._ends.get(place_of(stream, device), 0.0)
        return own if stream in self._non_blocking else max(own, self._ends.get(legacy, 0.0))

    def _finish(self, stream: int, device: int, end_us: float) -> None:
        place = place_of(stream, device)
        self._ends[place] = end_us
        self._devices.setdefault(place, device)

    def _end_at(self, kind: SyncKind, handle: int, device: int) -> float:
        if kind is SyncKind.EVENT:
            return self._events.get(handle, 0.0)
        if kind is SyncKind.STREAM:
            return self._end_of(handle, device)
        ends = (end for place, end in self._ends.items() if self._devices[place] == device)
        return max(ends, default=0.0)


_ENGINES: dict[Direction, tuple[str, ...]] = {
    Direction.HOST_TO_DEVICE: ("copies to the device",),
    Direction.DEVICE_TO_HOST: ("copies to the host",),
    Direction.DEVICE_TO_DEVICE: ("SM",),
    Direction.PEER: ("copies to the host",),
}


def place_of(stream: int, device: int) -> Place:
    """The stream of a number in a message."""
    if stream in LEGACY:
        return device, LEGACY[0]
    return (device, PER_THREAD) if stream == PER_THREAD else (-1, stream)
