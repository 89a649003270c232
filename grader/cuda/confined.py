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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cuda.compile_program import make_toolkit, native_command
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
"""Fewer than the stacks of 8 MiB that fit into the memory, which would limit them without a
message."""
OUTPUT_BYTES = 4 << 20
FOLDER_BYTES = 256 << 20


CompileCommand = Callable[[Sequence[str], Sequence[str], Path], list[str]]
"""Source files, options and the program's path to nvcc's command line."""


@dataclass(frozen=True)
class Builder:
    """Compiles programs for a device. `run` runs nvcc; `libraries` is the folder of the
    emulated device's libraries."""

    command: CompileCommand
    libraries: Path
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
        command = self.command(list(compiled), ["-I.", *options], folder / "program")
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

    def command(files: Sequence[str], options: Sequence[str], output: Path) -> list[str]:
        return toolkit.compile_command(files, options, arch, output)

    return Builder(command, libraries, run)


def make_native_builder(tools: Toolchain, arch: str, *, isolated: bool) -> Builder:
    """The builder for a GPU of this machine: nvcc with its own runtime."""
    if isolated:
        _check_confinement()
    nvcc = tools.nvcc
    run = confine_tools([*nvcc.toolkit, *nvcc.include_roots]) if isolated else run_tool

    def command(files: Sequence[str], options: Sequence[str], output: Path) -> list[str]:
        return native_command(nvcc.path, files, options, arch, output)

    return Builder(command, nvcc.path.parent, run)


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


@dataclass(frozen=True)
class RunFolders:
    """The folders of a run: its own, in which it starts and may write, and that of the grader's
    records; and the file of its standard input."""

    own: Path
    records: Path
    stdin: Path


@contextmanager
def open_folders(order: RunOrder) -> Iterator[RunFolders]:
    """Makes the folders, with the input files, and removes them."""
    with tempfile.TemporaryDirectory(prefix="grader-run-") as name:
        base = Path(name)
        folders = RunFolders(base / "folder", base / "records", base / "stdin")
        folders.own.mkdir()
        folders.records.mkdir()
        folders.stdin.write_text(order.stdin, encoding="utf-8")
        for file, content in (order.files or {}).items():
            (folders.own / file).parent.mkdir(parents=True, exist_ok=True)
            (folders.own / file).write_bytes(content)
        yield folders


def run_confined(order: RunOrder) -> ConfinedRun:
    """Runs a program to its end, or to a limit."""
    from grader.cuda.server import Settings, start_server

    with open_folders(order) as folders:
        settings = Settings(
            order.gpu,
            check=order.check,
            model=order.model,
            folder=folders.records,
            order_seed=order.order_seed,
        )
        with start_server(settings) as socket:
            launch = replace(
                make_launch(order, folders), connection=str(socket), connected_as=SOCKET
            )
            done, limit = follow_program(launch_command(launch), order, folders)
        found = join_sessions(
            read_sessions(folders.records),
            exit_code=read_exit(done),
            modelled=order.model,
            checked=order.check,
            run=run_tool,
        )
        return finish_run(found, done, limit, order, folders)


def make_launch(order: RunOrder, folders: RunFolders) -> LaunchOrder:
    """The launch of the program, with its folder."""
    return LaunchOrder(
        (str(order.program), *order.arguments),
        readable=(str(order.program.parent), str(order.libraries)),
        writable=(str(folders.own),),
        cpu_seconds=max(1, round(order.cpu_seconds)),
        data_bytes=MEMORY_BYTES,
        file_bytes=FOLDER_BYTES // 4,
        confined=order.confined,
    )


def follow_program(
    command: Sequence[str],
    order: RunOrder,
    folders: RunFolders,
    *,
    variables: Mapping[str, str] | None = None,
    memory_bytes: int = MEMORY_BYTES,
) -> tuple[Completed, str]:
    """Runs the command line of the program to its end or to a limit; the limit's name, or
    nothing."""
    environment = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": str(folders.own),
        "TMPDIR": str(folders.own),
        "LD_LIBRARY_PATH": str(order.libraries),
        **(variables or {}),
    }
    watch = Watch()
    limits = ToolLimits(order.wall_seconds, output_bytes=OUTPUT_BYTES, stop=watch.stop)
    with folders.stdin.open("rb") as stdin:
        process = subprocess.Popen(
            list(command),
            cwd=folders.own,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    bounds = Bounds(memory_bytes, MOST_THREADS, folders.own, FOLDER_BYTES)
    with watching(process.pid, bounds, watch):
        done = follow(process, limits)
    limit = watch.exceeded or done.limit or ""
    if not limit and done.returncode in (-9, -24):  # SIGXCPU, or SIGKILL at the hard limit
        limit = "processor time"
    return done, limit


def read_exit(done: Completed) -> int:
    """The exit code as a shell shows it: 128 + n for signal n."""
    return 128 - done.returncode if done.returncode < 0 else done.returncode


def finish_run(
    found: ProgramRun, done: Completed, limit: str, order: RunOrder, folders: RunFolders
) -> ConfinedRun:
    """The result of the run, with its output and files."""
    files = {name: _read_written(folders.own, name) for name in order.outputs}
    found = replace(found, exit_code=read_exit(done), stdout=done.stdout, stderr=done.stderr)
    return ConfinedRun(found, files, limit or None)


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
