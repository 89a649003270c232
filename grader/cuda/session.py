"""The state of a session: the emulated devices of a process that uses CUDA, errors, output and the
record of its end."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from grader.cuda.channel import BadMessage, Channel
from grader.cuda.launch_groups import Request
from grader.cuda.launches import Launches
from grader.cuda.modules import Module
from grader.cuda.ordering import Operation, Ordering
from grader.cuda.session_record import Ended, make_record, write_record
from grader.cuda.settings import Settings
from grader.cuda.timeline import Timeline
from grader.cuda.window import Window
from grader.cuda.wire import MAX_MESSAGE_BYTES, Kind
from grader.devices.gpus import read_gpus
from grader.grading.tools import Toolchain, find_toolchain
from grader.plumbing.cache import default_cache

MOST_DEFERRED = 4096
TEXT_BYTES = MAX_MESSAGE_BYTES - 4096
"""Text in an answer; the rest follows in the next answer."""


@dataclass
class Held:
    """A launch whose execution the program's library requests later. `note` passes it to the
    timeline, once it is executed."""

    request: Request
    operation: Operation | None = None
    executed: bool = False
    note: Callable[[], None] = lambda: None


@dataclass
class Session:
    """The state of a session. `stickies` are the errors that ended devices; the next answer reports
    `error`, once. `printed` and `complaints` are text for stdout and stderr.
    `held` are launches that wait for their execution; `arrived` is the number of all launches so
    far."""

    settings: Settings
    channel: Channel
    process: int = 0
    modules: dict[int, Module] = field(default_factory=dict)
    stickies: dict[int, int] = field(default_factory=dict)
    error: int = 0
    printed: list[bytes] = field(default_factory=list)
    complaints: list[bytes] = field(default_factory=list)
    ended: Ended = field(default_factory=Ended)
    held: dict[int, Held] = field(default_factory=dict)
    arrived: int = 0
    ordering: Ordering = field(default_factory=Ordering)

    def __post_init__(self) -> None:
        self.gpu = read_gpus()[self.settings.gpu]
        self.window = Window(self.settings.check)
        self.launches = Launches(
            self.gpu,
            self.window,
            self._now_ns,
            model=self.settings.model,
            check=self.settings.check,
            threads=self.settings.threads,
        )
        self.timeline = Timeline(self.gpu, wall_clock=not self.settings.model)
        self._deferred: deque[Callable[[], None] | Held] = deque()
        self.loaded = 0
        self._finished = False

    @cached_property
    def tools(self) -> Toolchain:
        """The tools for PTX, links and disassembly."""
        return find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))

    def finish(self) -> None:
        """Writes the record of the session, once, if there is a folder for it."""
        if self._finished:
            return
        self._finished = True
        for held in self.held.values():
            held.executed = True  # never: the program was killed
        self.catch_up()
        self.ended.host_findings += self.ordering.found
        if self.settings.folder is not None and self.process:
            record = make_record(self.process, self.launches, self.timeline, self.ended)
            write_record(self.settings.folder, record)

    def device(self, number: int) -> int:
        """The number of a device. Raises BadMessage if there is no such device."""
        if number >= self.settings.devices:
            raise BadMessage(f"There is no device {number}.")
        return number

    def note(self, act: Callable[[], None]) -> None:
        """Passes an operation to the timeline: later, because the model of a launch takes time, or
        at once if the clock is the wall clock."""
        if not self.settings.model:
            act()
            return
        self._deferred.append(act)
        if len(self._deferred) > MOST_DEFERRED:
            self.catch_up()

    def hold(self, number: int, held: Held) -> None:
        """Keeps a launch until its execution, and its place on the timeline."""
        self.held[number] = held
        if self.settings.model:
            self._deferred.append(held)

    def catch_up(self) -> None:
        """Passes all operations to the timeline, up to a launch that waits for its execution."""
        while self._deferred:
            act = self._deferred[0]
            if isinstance(act, Held):
                if not act.executed:
                    return
                act = act.note
            self._deferred.popleft()
            act()

    def _now_ns(self, stream: int, device: int) -> int:
        self.catch_up()
        return self.timeline.now_ns(stream, device)

    def status(self, device: int) -> int:
        """The sticky error of a device, else an error of a call that is reported once."""
        status = self.stickies.get(device, self.error)
        self.error = 0
        return status

    def answer_with_text(self, kind: Kind, status: int) -> None:
        """Answers with the program's output since the last answer."""
        texts: list[bytes] = []
        for parts in (self.printed, self.complaints):
            whole = b"".join(parts)
            available = TEXT_BYTES - sum(map(len, texts))
            texts.append(whole[:available])
            parts[:] = [whole[available:]] if len(whole) > available else []
        printed, complaints = texts
        more = bool(self.printed or self.complaints)
        self.channel.answer(
            kind,
            printed + complaints,
            status=status,
            printed_bytes=len(printed),
            error_bytes=len(complaints),
            more=more,
        )
