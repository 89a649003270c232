"""Tools that stay ready between submissions.

nvdisasm spends most of its time on its own tables, and cicc (nvcc's compiler) on the CUDA headers:
both before they open the submission. A tool that is kept ready has done this work. It runs on a
stand-in, and a preloaded library (ready.c) stops it where it opens its input; there it forks for
each submission. So a submission meets the same program in the same state as ever.

`grading.tools.keep_tools_ready` switches this on for a process.
"""

from __future__ import annotations

import os
import select
import tempfile
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import TypeVar, cast

from grader.errors import ToolMissing
from grader.records import Completed, RunTool, ToolLimits

_LIBRARY = Path(__file__).with_name("ready.c")
_HOME = "grader-ready-"
_WORK = "work"
_OPTIONS = ("-shared", "-fPIC", "-O1", f'-DHOME="{_HOME}"', f'-DWORK="{_WORK}"')
_STANDARD = ("stdout", "stderr")
_STATUS_BYTES = 4
_PATH_BYTES = 4096  # PATH_MAX
_POLL_SECONDS = 0.05
_END_SECONDS = 0.01
_FOREVER_SECONDS = 1e9
_DEFAULT_LIMITS = ToolLimits()
_T = TypeVar("_T")


@dataclass(frozen=True)
class Start:
    """How a tool becomes ready: its command line, its variables, the files in its folder, and the
    place where it stops: before it opens the file `input_name` for the `opening`-th time."""

    argv: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    input_name: str
    opening: int
    env: tuple[tuple[str, str], ...] = ()


class ReadyTool:
    """A tool that starts in the background. Threads may ask it at the same time."""

    def __init__(self, start: Start, run: RunTool, limits: ToolLimits) -> None:
        self._start = start
        self._stop = Event()
        self._ended = Event()
        self._has_answered = False
        self._home = tempfile.TemporaryDirectory(prefix=_HOME)
        self._tool = Path(self._home.name) / "tool"
        self._tool.mkdir()
        self._requests = _open_pipe(self._tool / "requests")
        limits = replace(limits, wall_seconds=_FOREVER_SECONDS, stop=self._stop)
        self._thread = threading.Thread(target=self._work, args=(run, limits), daemon=True)
        self._thread.start()

    @property
    def is_broken(self) -> bool:
        """Whether it has worked and has ended, for example because a request reached a limit."""
        return self._has_answered and self._ended.is_set()

    def ask(self, content: bytes, outputs: Sequence[str], limits: ToolLimits) -> list[bytes] | None:
        """The contents of the files `outputs`, which may include `stdout` and `stderr`, that the
        tool writes for this input. None if it is not usable, fails, or reaches a limit: then the
        usual way gives the result, or the reason why there is none."""
        with tempfile.TemporaryDirectory(dir=self._home.name) as name:
            folder, work = Path(name), Path(name) / _WORK
            work.mkdir()
            (work / self._start.input_name).write_bytes(content)
            status = _open_pipe(folder / "status")
            try:
                os.write(self._requests, os.fsencode(name).ljust(_PATH_BYTES, b"\0"))
                if not self._wait(status, limits) or any(os.read(status, _STATUS_BYTES)):
                    return None
            finally:
                os.close(status)
            return [
                (folder if output in _STANDARD else work).joinpath(output).read_bytes()
                for output in outputs
            ]

    def read(self, name: str) -> bytes:
        """The contents of a file in the tool's folder; after an answer, those that it wrote until
        it stopped."""
        return (self._tool / name).read_bytes()

    def close(self) -> None:
        """Ends the tool and removes its files."""
        os.close(self._requests)  # the end of a tool that waits
        self._ended.wait(_END_SECONDS)
        self._stop.set()
        self._thread.join()
        self._home.cleanup()

    def _work(self, run: RunTool, limits: ToolLimits) -> None:
        """Builds the library, and runs the tool until `close`."""
        start, library = self._start, self._tool / "ready.so"
        try:
            for name, text in (*start.files, (_LIBRARY.name, _LIBRARY.read_text())):
                (self._tool / name).write_text(text, encoding="utf-8", errors="surrogateescape")
            place = (f'-DINPUT="{start.input_name}"', f"-DOPENING={start.opening}")
            build = ["gcc", *_OPTIONS, *place, _LIBRARY.name, "-o", library.name]
            if run(build, cwd=self._tool, limits=limits).returncode == 0:
                env = {**dict(start.env), "LD_PRELOAD": str(library)}
                run(start.argv, cwd=self._tool, limits=limits, env=env)
        except ToolMissing:
            pass
        finally:
            self._ended.set()

    def _wait(self, pipe: int, limits: ToolLimits) -> bool:
        """Whether there is an answer. Ends the tool if there is none in time."""
        waited = 0.0
        while not self._ended.is_set() and waited < limits.wall_seconds:
            if limits.stop is not None and limits.stop.is_set():
                return False
            if select.select([pipe], [], [], _POLL_SECONDS)[0]:
                self._has_answered = True
                return True
            waited += _POLL_SECONDS
        self._stop.set()
        return False


def _open_pipe(path: Path) -> int:
    """A new named pipe, open for both directions: neither side waits for the other, and a reader
    sees the end when this process ends."""
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR)


class ReadyRun:
    """Runs tools as `run` does, and keeps some of them ready, the compiler only for `several`
    compilations. `close` ends them."""

    def __init__(self, run: RunTool, *, several: bool) -> None:
        self._run = run
        self.several = several
        self._tools: dict[Start, ReadyTool] = {}
        self._made: dict[Hashable, object] = {}
        self._lock = Lock()

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        limits: ToolLimits = _DEFAULT_LIMITS,
        env: dict[str, str] | None = None,
    ) -> Completed:
        return self._run(argv, cwd=cwd, limits=limits, env=env)

    def tool(self, start: Start, limits: ToolLimits) -> ReadyTool:
        """The tool that starts so; it is started at first use, and again if it is broken."""
        with self._lock:
            tool = self._tools.get(start)
            if tool is not None and tool.is_broken:
                tool.close()
                tool = None
            if tool is None:
                tool = self._tools[start] = ReadyTool(start, self._run, replace(limits, stop=None))
            return tool

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """What `make` returned the first time for this key."""
        if key not in self._made:
            self._made[key] = make()
        return cast("_T", self._made[key])

    def close(self) -> None:
        with self._lock:
            for tool in self._tools.values():
                tool.close()
            self._tools.clear()
