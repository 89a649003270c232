"""Watches a running program for limits that the kernel does not enforce: resident memory, threads,
and the size of its folder."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_PAUSE_SECONDS = 0.02
MOST_FILES = 1000


@dataclass(frozen=True)
class Bounds:
    """The most memory in bytes, resident or in files in memory, threads, and bytes of files in
    `folder`."""

    memory_bytes: int
    threads: int
    folder: Path
    folder_bytes: int


@dataclass
class Watch:
    """`stop` is set as soon as the program exceeds a bound; `exceeded` names it."""

    stop: threading.Event = field(default_factory=threading.Event)
    exceeded: str = ""


@contextmanager
def watching(process: int, bounds: Bounds, watch: Watch) -> Iterator[None]:
    """Watches a process in a thread."""
    ended = threading.Event()

    def inspect() -> None:
        while not ended.wait(_PAUSE_SECONDS):
            if exceeded := _find_exceeded(process, bounds):
                watch.exceeded = exceeded
                watch.stop.set()
                return

    thread = threading.Thread(target=inspect, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _find_exceeded(process: int, bounds: Bounds) -> str:
    if max(_resident_bytes(process), _mapped_bytes(process)) > bounds.memory_bytes:
        return "memory"
    if _threads(process) > bounds.threads:
        return "threads"
    count, size_bytes = _count_files(bounds.folder)
    if count > MOST_FILES or size_bytes > bounds.folder_bytes:
        return "files"
    return ""


def _resident_bytes(process: int) -> int:
    with suppress(OSError, IndexError):  # it has ended
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def _mapped_bytes(process: int) -> int:
    """Bytes of the device's memory in use, which lies in a file in memory."""
    total = 0
    with suppress(OSError):
        for path in Path(f"/proc/{process}/fd").iterdir():
            if str(path.readlink()).startswith("/memfd:"):
                total += path.stat().st_blocks * 512
    return total


def _threads(process: int) -> int:
    with suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{process}/task").iterdir())
    return 0


def _count_files(folder: Path) -> tuple[int, int]:
    """Files and folders below a folder, and their bytes on the disk; as soon as there are too many
    files, the count so far."""
    count = total = 0
    for path, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        if count > MOST_FILES:
            break
        for name in files:
            with suppress(OSError):
                total += (Path(path) / name).lstat().st_blocks * 512
    return count, total
