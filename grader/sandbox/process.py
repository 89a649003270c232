"""Runs one tool (nvcc, nvdisasm, c++filt) in a process group of its own, under limits."""

from __future__ import annotations

import os
import resource
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO

from grader.errors import ToolMissing
from grader.plumbing.children import cpu_seconds_of, kill_group
from grader.plumbing.shortages import list_bounds
from grader.records import Completed, RunTool, ToolLimits
from grader.sandbox.isolation import Confinement, find_layer

_READ_BYTES = 1 << 16
_POLL_SECONDS = 0.05
_POLL_SECONDS_AFTER_OUTPUT = 0.001

# The shell sets the limits on itself and becomes the tool: no Python code runs between fork and
# exec (preexec_fn can deadlock where other threads live), and no child is born before the limits
# hold. Processes are not counted: RLIMIT_NPROC counts all of the user's, and a compiler runs no
# student code. At the soft limit of processor time the signal is SIGXCPU, at the hard one SIGKILL.
_WITH_LIMITS = (
    'ulimit -c 0 && ulimit -S -t "$1" && ulimit -f "$2" && ulimit -v "$3" && shift 3 && exec "$@"'
)


def run_tool(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    limits: ToolLimits | None = None,
    env: dict[str, str] | None = None,
    confinement: Confinement | None = None,
) -> Completed:
    """Run `argv` to its end or to a limit, then kill the rest of its process group.

    The tool sees no standard input, and of the environment only PATH, LANG, HOME and TMPDIR (both a
    private folder, removed afterwards) and `env`. The kernel limits memory, written files and
    processor time per process, which appears as the tool's own failure; wall time, output and a
    stop set `Completed.limit`. A negative `returncode` is the signal that ended the tool. Output
    that is not UTF-8 is replaced. With a `confinement` the tool sees only its files, the private
    folder, and the folder around `cwd`. Raises ToolMissing if there is no such program.
    """
    limits = limits or ToolLimits()
    with tempfile.TemporaryDirectory(prefix="grader-") as private:
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": private,
            "TMPDIR": private,
        } | (env or {})
        program = shutil.which(argv[0], path=environment["PATH"])
        if program is None:
            raise ToolMissing(
                f"There is no program {argv[0]}.",
                "`grade doctor` shows how to install it.",
            )
        writable = [Path(private), *([cwd.parent.resolve()] if cwd else [])]
        tool = [program, *argv[1:]]
        command = ["/bin/sh", "-c", _WITH_LIMITS, "run_tool", *_limit_arguments(limits)]
        command += confinement.wrap(tool, writable) if confinement else tool

        def start() -> subprocess.Popen[bytes]:
            if confinement is not None:
                confinement.restrict(writable)
            return subprocess.Popen(
                command,
                cwd=cwd or private,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

        # In a thread of its own: a thread gives up its rights for good.
        process = _run_in_thread(start) if confinement and confinement.by_thread else start()
        return follow(process, limits)


def confine_tools(readable: Sequence[Path]) -> RunTool:
    """`run_tool` for programs that see a submission: of files only the system's, `readable`, and
    the folder around `cwd`."""
    confinement = Confinement(
        find_layer(), tuple(dict.fromkeys(path.resolve() for path in readable))
    )
    return partial(run_tool, confinement=confinement)


def _run_in_thread(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(start).result()


def _limit_arguments(limits: ToolLimits) -> list[str]:
    """Limits as the shell's ulimit takes them: seconds, blocks of 512 bytes, KiB; never above this
    process's own limits."""
    return [str(_capped(kind, value) // unit) for kind, value, unit, _ in list_bounds(limits)]


def _capped(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def follow(process: subprocess.Popen[bytes], limits: ToolLimits) -> Completed:
    """Read both pipes until the tool ends or breaks a limit, then kill the rest of its group."""
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        received, limit = _read(process, process.stdout, process.stderr, limits)
        cpu_seconds = cpu_seconds_of(process.pid) if limit else 0.0
    finally:
        kill_group(process.pid)
        process.wait()
        process.stdout.close()
        process.stderr.close()
    stdout, stderr = (bytes(part).decode("utf-8", "replace") for part in received)
    return Completed(process.returncode, stdout, stderr, limit, cpu_seconds)


def _read(
    process: subprocess.Popen[bytes], stdout: IO[bytes], stderr: IO[bytes], limits: ToolLimits
) -> tuple[tuple[bytearray, bytearray], str | None]:
    received = (bytearray(), bytearray())
    deadline = time.monotonic() + limits.wall_seconds
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ, received[0])
        selector.register(stderr, selectors.EVENT_READ, received[1])
        while selector.get_map() or not _has_ended(process.pid):
            if time.monotonic() >= deadline:
                return received, "time"
            if limits.stop is not None and limits.stop.is_set():
                return received, "stop"
            # Asked before the pipes are looked at: what the tool wrote until its end is in them by
            # then.
            ended = _has_ended(process.pid)
            ready = selector.select(
                _POLL_SECONDS if selector.get_map() else _POLL_SECONDS_AFTER_OUTPUT
            )
            for key, _ in ready:
                chunk = os.read(key.fd, _READ_BYTES)
                key.data.extend(chunk)
                if not chunk:
                    selector.unregister(key.fileobj)
                if len(key.data) > limits.output_bytes:
                    del key.data[limits.output_bytes :]
                    return received, "output"
            # A child that outlives the tool holds the pipes open: the tool's end is the end.
            if not ready and ended:
                break
    return received, None


def _has_ended(pid: int) -> bool:
    """Whether the child has ended; it stays a zombie, so that its group's number cannot be given to
    others."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
