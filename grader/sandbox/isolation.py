"""The files that a program sees while it processes a submission: the system's programs and
libraries, its inputs, its own folder.

bubblewrap hides all other files if it is installed and works; else Landlock forbids them. Both end
with the program.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from grader.errors import ToolMissing
from grader.sandbox.landlock import READ, RUN, WRITE, Access, landlock_version, restrict_thread

SYSTEM = tuple(
    map(
        Path,
        (
            "/bin",
            "/lib",
            "/lib32",
            "/lib64",
            "/usr/bin",
            "/usr/lib",
            "/usr/lib32",
            "/usr/lib64",
            "/usr/libexec",
            "/usr/local/bin",
            "/etc/alternatives",
            "/etc/ld.so.cache",
        ),
    )
)
"""Programs and their libraries; no configuration, no home, no other package."""
_MACHINE = tuple(
    map(Path, ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"))
)
_NULL = Path("/dev/null")
_PROBE_SECONDS = 10.0
NO_ISOLATION = "none (--no-isolation)"


class Layer(StrEnum):
    """Layers that keep a program from the machine's files."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "Landlock"


@dataclass(frozen=True)
class Confinement:
    """A layer, and the folders that a program may read beside the system's."""

    layer: Layer
    readable: tuple[Path, ...]

    @property
    def by_thread(self) -> bool:
        """Whether it confines the thread that starts the program."""
        return self.layer is Layer.LANDLOCK

    def wrap(self, command: Sequence[str], writable: Sequence[Path]) -> list[str]:
        """The command that runs `command` in a view of the machine of its own: bubblewrap's.
        Landlock needs none."""
        if self.layer is not Layer.BUBBLEWRAP:
            return list(command)
        return [
            _bubblewrap() or "bwrap",
            *("--unshare-all", "--die-with-parent", "--new-session"),
            *("--cap-drop", "ALL"),
            *("--tmpfs", "/tmp"),
            *_bind("--ro-bind-try", (*SYSTEM, *self.readable)),
            *_bind("--dev-bind", [_NULL]),
            *_bind("--bind", writable),
            "--",
            *command,
        ]

    def restrict(self, writable: Sequence[Path]) -> None:
        """Confine the calling thread, which then starts the program."""
        if self.by_thread:
            read = [(path, RUN) for path in (*SYSTEM, *self.readable)]
            own = [(path, RUN | WRITE) for path in writable]
            null = (_NULL, Access.READ_FILE | Access.WRITE_FILE)
            restrict_thread([*read, null, *own])


def _bind(option: str, paths: Sequence[Path]) -> list[str]:
    return [part for path in paths for part in (option, str(path), str(path))]


@cache
def find_layer() -> Layer:
    """The layer that works here. Raises ToolMissing if none works: only the user decides to go
    without."""
    if _bubblewrap() is not None:
        return Layer.BUBBLEWRAP
    if landlock_version() > 0:
        return Layer.LANDLOCK
    advice = (
        "Install bubblewrap (`apt install bubblewrap`), or use --no-isolation for code that you"
        " trust."
    )
    raise ToolMissing(
        "Nothing here keeps a submission from the machine's files: neither bubblewrap nor Landlock"
        " works.",
        advice,
    )


@cache
def _bubblewrap() -> str | None:
    """bubblewrap's path, if it is installed and may make the namespaces that it needs: containers
    and some systems forbid it."""
    path = shutil.which("bwrap")
    if path is None:
        return None
    read = _bind("--ro-bind-try", SYSTEM)
    try:
        done = subprocess.run(
            [path, "--unshare-all", *read, "--", "/bin/sh", "-c", "true"],
            capture_output=True,
            check=False,
            timeout=_PROBE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return path if done.returncode == 0 else None


def restrict_emulating_process(readable: Sequence[Path] = ()) -> str:
    """Confine this process, an emulated device's worker with all that it loads: it may read
    Python's files and these folders, and write and start nothing.

    Returns the layer's name, empty if the kernel has no Landlock. Threads that run already are
    not confined: call it first.
    """
    if landlock_version() == 0:
        return ""
    root = Path(__file__).resolve().parents[2]
    shared = root.name in ("site-packages", "dist-packages")
    python = [
        Path(part)
        for part in (sys.prefix, sys.base_prefix, *sys.path)
        if part and Path(part).resolve() != root
    ]
    code = root if shared else root / "grader"
    read = [(path, READ) for path in (*SYSTEM, *python, code, *_MACHINE, *readable)]
    restrict_thread([*read, (_NULL, Access.READ_FILE | Access.WRITE_FILE)])
    return Layer.LANDLOCK.value
