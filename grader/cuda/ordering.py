"""Missing dependencies, in the checked mode: two operations of different streams access the same
bytes, at least one writes, and nothing orders them.

A clock contains, for each stream, the number of its operations that have a defined place before a
point of the program. Streams, events and the host have clocks; the rules of the timeline apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from grader.cuda.timeline import LEGACY, Place, SyncKind, place_of
from grader.emulator import Access, Touched
from grader.records import Frame, HostFinding

MOST_LIVE = 2048
"""Operations that are compared with later ones."""
MOST_FOUND = 100
Clock = dict[Place, int]
_READS, _ATOMIC = (Access.READ, Access.ATOMIC_READ), (Access.ATOMIC_READ, Access.ATOMIC_WRITE)


@dataclass(frozen=True)
class Call:
    """A call of the program: its name, and the host's stack."""

    name: str
    frames: tuple[Frame, ...]


@dataclass(eq=False)
class Operation:
    """An operation: its number in its stream, what comes before it, and its accesses once they are
    known. `order` is its place among all operations. `name`: a kernel's, or the call's."""

    name: str
    call: Call
    place: Place
    number: int
    order: int
    before: Mapping[Place, int]
    touched: Touched | None = None

    def is_before(self, clock: Mapping[Place, int]) -> bool:
        """Whether it comes before the point of this clock."""
        return clock.get(self.place, 0) >= self.number


@dataclass
class Ordering:
    """The clocks of a session, and the operations that may conflict with later ones. `call` is the
    call of the next operation; None: the program uses a single stream, nothing can conflict."""

    call: Call | None = None
    found: list[HostFinding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._streams: dict[Place, Clock] = {}
        self._devices: dict[Place, int] = {}
        self._non_blocking: set[int] = set()
        self._events: dict[int, Clock] = {}
        self._host: Clock = {}
        self._live: list[Operation] = []
        self._waiting: set[Operation] = set()
        self._known: set[object] = set()
        self._count = 0

    # --- order ------------------------------------------------------------------------------------

    def non_blocking(self, stream: int) -> None:
        self._non_blocking.add(stream)

    def issue(
        self, stream: int, device: int, name: Callable[[], str] | None = None
    ) -> Operation | None:
        """A new operation of a stream. `name`: a kernel's."""
        call, self.call = self.call, None
        if call is None:
            return None
        place = place_of(stream, device)
        before = _join((self._host, self._before(stream, device)))
        number = before.get(place, 0) + 1
        self._count += 1
        known_as = call.name if name is None else name()
        operation = Operation(known_as, call, place, number, self._count, before)
        self._move(stream, device, before | {place: number})
        self._waiting.add(operation)
        return operation

    def record_event(self, event: int, stream: int, device: int) -> None:
        self._events[event] = _join((self._host, self._before(stream, device)))

    def wait_for_event(self, stream: int, event: int, device: int) -> None:
        own = self._streams.get(place_of(stream, device), {})
        self._move(stream, device, _join((own, self._events.get(event, {}))))

    def wait(self, kind: SyncKind, handle: int, device: int) -> None:
        """The host waits for a stream, an event or a device."""
        if kind is SyncKind.EVENT:
            reached = self._events.get(handle, {})
        elif kind is SyncKind.STREAM:
            reached = self._before(handle, device)
        else:
            reached = _join(
                clock for place, clock in self._streams.items() if self._devices[place] == device
            )
        self._host = _join((self._host, reached))
        if not self._waiting:
            self._live = [each for each in self._live if not each.is_before(self._host)]

    def _before(self, stream: int, device: int) -> Clock:
        place = place_of(stream, device)
        if stream in LEGACY:
            return _join(
                clock
                for each, clock in self._streams.items()
                if self._devices[each] == device and each[1] not in self._non_blocking
            )
        own = self._streams.get(place, {})
        legacy = self._streams.get((device, LEGACY[0]), {})
        return own if stream in self._non_blocking else _join((own, legacy))

    def _move(self, stream: int, device: int, clock: Clock) -> None:
        place = place_of(stream, device)
        self._streams[place] = clock
        self._devices.setdefault(place, device)

    # --- accesses ---------------------------------------------------------------------------------

    def forget(self, offset: int, size_bytes: int) -> None:
        """Memory was freed: another allocation may get its addresses."""
        for each in self._live:
            if each.touched is not None:
                each.touched = {
                    access: ranges[(ranges[:, 1] <= offset) | (ranges[:, 0] >= offset + size_bytes)]
                    for access, ranges in each.touched.items()
                }

    def complete(self, operation: Operation | None, touched: Touched) -> None:
        """An operation was executed: compares its accesses with those of all others."""
        if operation is None:
            return
        self._waiting.discard(operation)
        operation.touched = touched
        for other in self._live:
            if operation.is_before(other.before) or other.is_before(operation.before):
                continue
            if shared := _find_conflict(touched, other.touched or {}):
                first, second = sorted((other, operation), key=lambda each: each.order)
                self._report(first, second, shared)
        self._live.append(operation)
        del self._live[:-MOST_LIVE]

    def _report(self, first: Operation, second: Operation, shared: tuple[int, int]) -> None:
        key = first.name, first.call.frames[:1], second.name, second.call.frames[:1]
        if key in self._known or len(self.found) >= MOST_FOUND:
            return
        self._known.add(key)
        start, size = shared
        facts = {"call": second.name, "other": first.name}
        frames = second.call.frames
        self.found.append(
            HostFinding("missing_dependency", start, size, facts, frames, first.call.frames)
        )


def ranges_of(offset: int, size_bytes: int, rows: int, pitch: int) -> np.ndarray:
    """The ranges of rows of bytes."""
    if pitch <= size_bytes:
        return np.array([[offset, offset + (rows - 1) * pitch + size_bytes]], np.int64)
    starts = offset + pitch * np.arange(rows, dtype=np.int64)
    return np.stack((starts, starts + size_bytes), axis=1)


def _join(clocks: Iterable[Mapping[Place, int]]) -> Clock:
    joined: Clock = {}
    for clock in clocks:
        for place, number in clock.items():
            if number > joined.get(place, 0):
                joined[place] = number
    return joined


def _find_conflict(own: Touched, others: Touched) -> tuple[int, int] | None:
    """The first bytes that both access and that one of them writes: offset and size."""
    for ranges, other in _conflicting(own, others):
        if found := _first_common(ranges, other):
            return found
    return None


def _conflicting(own: Touched, others: Touched) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for access, ranges in own.items():
        for other, its in others.items():
            both_read = access in _READS and other in _READS
            if not both_read and not (access in _ATOMIC and other in _ATOMIC):
                yield ranges, its


def _first_common(own: np.ndarray, others: np.ndarray) -> tuple[int, int] | None:
    """The first common part of ascending ranges."""
    if not len(own) or not len(others):
        return None
    after = np.searchsorted(others[:, 1], own[:, 0], side="right")  # the first that ends later
    within = after < len(others)
    hits = np.flatnonzero(within & (others[np.minimum(after, len(others) - 1), 0] < own[:, 1]))
    if not len(hits):
        return None
    (start, end), (first, past) = own[hits[0]], others[after[hits[0]]]
    low = max(start, first)
    return int(low), int(min(end, past) - low)
