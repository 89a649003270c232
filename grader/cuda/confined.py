"""Compiles and runs an untrusted program on the emulated device: the compiler and the program see
only their own files; the program is one process, within limits, with one session.

A run has a folder of its own, in which it starts and may write. The records of its session lie
elsewhere.
"""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cuda.compile_program import Toolkit, make_toolkit
from grader.cuda.program import SOCKET
from grader.cuda.sessions import join_sessions, read_sessions
from grader.errors import ToolMissing
from grader.grading.tools import Toolchain
from grader.records import Completed, RunTool, ToolLimits
from grader.records.program_run import ProgramRun
from grader.sandbox.isolation import find_layer
from grader.sandbox.landlock import landlock_version
from grader.sandbox.launch import LaunchOrder, launch_command
from grader.sandbox.process import confine_tools, follow, run_tool
from grader.sandbox.system_calls import filter_known
from grader.sandbox.watched import Bounds, Watch, watching

MEMORY_BYTES = 2 << 30
MOST_THREADS = 128
"""Their stacks of 8 MiB take half of the memory: this limit is met first, and is named."""
OUTPUT_BYTES = 4 << 20
FOLDER_BYTES = 256 << 20


@dataclass(frozen=True)
class Builder:
    """Compiles programs for an architecture. `run` runs nvcc."""

    toolkit: Toolkit
    libraries: Path
    arch: str
    run: RunTool

    def build(
        self,
        files: Mapping[str, str],
        compiled: Sequence[str],
        options: Sequence[str],
        folder: Path,
        limits: ToolLimits,
    ) -> Completed:
        """Compiles the files named by `compiled` to `folder/program`. The parent of `folder` must
        hold nothing else: the compiler may read it."""
        sources = folder / "sources"
        for name, text in files.items():
            path = sources / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = self.toolkit.compile_command(
            list(compiled), ["-I.", *options], self.arch, folder / "program"
        )
        return self.run(command, cwd=sources, limits=limits)


def make_builder(tools: Toolchain, arch: str, *, cache: Path, isolated: bool) -> Builder:
    """The builder with these tools. Raises ToolMissing, also where programs cannot be confined."""
    from grader.cuda.build import library_folder  # loads the emulator

    if isolated:
        _check_confinement()
    libraries, nvcc = library_folder(), tools.nvcc
    toolkit = make_toolkit(nvcc, cache)
    toolkit.link_to(libraries)
    readable = (*nvcc.toolkit, *nvcc.include_roots, toolkit.folder, libraries)
    run = confine_tools(readable) if isolated else run_tool
    return Builder(toolkit, libraries, arch, run)


def _check_confinement() -> None:
    find_layer()
    if landlock_version() == 0 or not filter_known():
        raise ToolMissing(
            "Nothing here keeps a submitted program from the machine: it needs Landlock and"
            " seccomp, on x86-64 or AArch64.",
            "Use Linux 5.13 or newer, or --no-isolation for code that you trust.",
        )


@dataclass(frozen=True)
class RunOrder:
    """A run of a compiled program: arguments, standard input, input files by name, and the names of
    the files that it writes. `gpu` is an id of gpus.json; `check`, `model`, `order_seed`: as
    in Settings."""

    program: Path
    libraries: Path
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    files: Mapping[str, bytes] | None = None
    outputs: tuple[str, ...] = ()
    gpu: str = "h100"
    check: bool = False
    model: bool = True
    wall_seconds: float = 60.0
    cpu_seconds: float = 20.0
    confined: bool = True
    order_seed: int = 0


@dataclass(frozen=True)
class ConfinedRun:
    """The record of a run, and the written files: None is a file that the program did not write.
    `limit` names the limit that ended it: time, processor time, output, memory, threads, files."""

    found: ProgramRun
    files: Mapping[str, bytes | None]
    limit: str | None = None


def run_confined(order: RunOrder) -> ConfinedRun:
    """Runs a program to its end, or to a limit."""
    from grader.cuda.server import Settings, start_server

    with tempfile.TemporaryDirectory(prefix="grader-run-") as name:
        base = Path(name)
        folder, records, given = base / "folder", base / "records", base / "stdin"
        folder.mkdir()
        records.mkdir()
        given.write_text(order.stdin, encoding="utf-8")
        for file, content in (order.files or {}).items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        settings = Settings(
            order.gpu,
            check=order.check,
            model=order.model,
            folder=records,
            order_seed=order.order_seed,
        )
        with start_server(settings) as socket:
            done, exceeded = _run(order, folder, given, socket)
        code = done.returncode
        found = join_sessions(
            read_sessions(records),
            exit_code=128 - code if code < 0 else code,
            modelled=order.model,
            checked=order.check,
            run=run_tool,
        )
        files = {name: _read_written(folder, name) for name in order.outputs}
    limit = exceeded or done.limit
    if limit is None and code in (-9, -24):  # SIGXCPU, or SIGKILL at the hard limit
        limit = "processor time"
    return ConfinedRun(replace(found, stdout=done.stdout, stderr=done.stderr), files, limit)


def _run(order: RunOrder, folder: Path, given: Path, socket: Path) -> tuple[Completed, str]:
    launch = LaunchOrder(
        (str(order.program), *order.arguments),
        readable=(str(order.program.parent), str(order.libraries)),
        writable=(str(folder),),
        connection=str(socket),
        connected_as=SOCKET,
        cpu_seconds=max(1, round(order.cpu_seconds)),
        data_bytes=MEMORY_BYTES,
        file_bytes=FOLDER_BYTES // 4,
        confined=order.confined,
    )
    environment = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LD_LIBRARY_PATH": str(order.libraries),
    }
    watch = Watch()
    limits = ToolLimits(order.wall_seconds, output_bytes=OUTPUT_BYTES, stop=watch.stop)
    with given.open("rb") as stdin:
        process = subprocess.Popen(
            launch_command(launch),
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    with watching(process.pid, Bounds(MEMORY_BYTES, MOST_THREADS, folder, FOLDER_BYTES), watch):
        done = follow(process, limits)
    return done, watch.exceeded


def _read_written(folder: Path, name: str) -> bytes | None:
    """A regular file of the run. A link could name a file of the machine."""
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        inside = Path(f"/proc/self/fd/{descriptor}").readlink().is_relative_to(folder.resolve())
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return file.read(FOLDER_BYTES) if regular and inside else None
