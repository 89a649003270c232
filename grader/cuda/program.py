"""Runs a CUDA program on the emulated device: compiles it, starts the device's server, and waits
for the program. On a GPU of this machine, runs it with NVIDIA's tools."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TextIO

from grader.cuda.compile_program import make_toolkit
from grader.cuda.sessions import join_sessions, read_sessions
from grader.devices.choose import DEFAULT_GPU, GPU, has_pycuda, parse_device
from grader.devices.gpus import read_gpus
from grader.errors import UsageError
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import find_toolchain
from grader.messages.programs import advise_on_compilation, explain_missing
from grader.plumbing.cache import default_cache
from grader.records import DeviceChoice, Failure, Status
from grader.records.program_run import ProgramRun
from grader.sandbox.process import run_tool

SOCKET = "GRADER_CUDA_SOCKET"
_ADDR_NO_RANDOMIZE = 0x0040000
"""Of <sys/personality.h>."""


@dataclass(frozen=True)
class ProgramJob:
    """A request: compile `sources` with nvcc's `options` and run the program with `arguments`; or,
    without sources, run `arguments` as a command.

    `stdin` and `output` are None for the streams of this process; `captured` keeps the output
    instead. `timeout_s` ends all processes of the program.
    """

    sources: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    device: str = "auto"
    devices: int = 1
    check: bool = False
    model: bool = True
    stdin: str | None = None
    captured: bool = False
    output: TextIO | None = None
    folder: Path | None = None
    timeout_s: float | None = None


def exec_program(  # noqa: PLR0913 - the options of `grade exec`
    sources: Path | str | Sequence[Path | str] = (),
    *,
    args: Sequence[str] = (),
    command: Sequence[str] = (),
    nvcc: Sequence[str] = (),
    stdin: str = "",
    device: str = "emulated",
    devices: int = 1,
    check: bool = False,
    model: bool = True,
    cwd: Path | str | None = None,
    timeout_s: float | None = None,
) -> ProgramRun:
    """Compiles a CUDA program and runs it, or runs `command` (`["make", "test"]`), on the emulated
    device or a GPU of this machine (`gpu`).

    `sources`: a path, several paths, or the text of a program; `nvcc`: options of the compiler;
    `cwd`: the folder of the compiler and the program, to which paths are relative; `check`: with
    the checked mode for kernels and host code; `model=False`: times of the wall clock. Raises
    SubmissionError if nvcc fails, and UsageError for a bad request.
    """
    given = [sources] if isinstance(sources, Path | str) else sources
    if bool(given) == bool(command):
        raise UsageError("exec_program needs sources or a command", "Give one of them.")
    with tempfile.TemporaryDirectory(prefix="grader-text-") as name:
        files = tuple(_name_source(each, Path(name)) for each in given)
        return run_program(
            ProgramJob(
                files,
                tuple(args) if given else tuple(command),
                *(tuple(nvcc), device, devices, check, model, stdin),
                captured=True,
                folder=None if cwd is None else Path(cwd),
                timeout_s=timeout_s,
            )
        )


def run_program(job: ProgramJob) -> ProgramRun:
    """Runs a request. Raises SubmissionError if nvcc fails, and UsageError for a bad request."""
    choice = parse_device(job.device, gpu_works=lambda: False, has_pycuda=has_pycuda)
    if choice.kind == GPU:
        return _run_on_gpu(job, choice)
    gpu = choice.id or DEFAULT_GPU
    cache = default_cache(os.environ)
    tools = find_toolchain(prefer_wheel=True, cache=cache)
    toolkit = make_toolkit(tools.nvcc, cache)
    if not toolkit.is_linked:
        if not job.captured:
            print("grade: compiling the CUDA libraries, once on this machine", file=sys.stderr)
        toolkit.link_to(_find_libraries())
    arch = read_gpus()[gpu].arch
    with tempfile.TemporaryDirectory(prefix="grader-exec-") as name:
        folder = Path(name)
        compiling = _start_compiler(job, partial(toolkit.compile_command, arch=arch), folder)
        with _serve(job, gpu, folder) as socket:
            libraries = _find_libraries()
            toolkit.link_to(libraries)
            compiled = "" if compiling is None else _finish_compiler(compiling)
            if not job.captured:
                sys.stderr.write(compiled)
            command = _command(job, folder)
            environment = toolkit.environment(os.environ, arch, libraries) | {SOCKET: str(socket)}
            code, stdout, stderr = _execute(job, command, environment)
        found = join_sessions(
            read_sessions(folder),
            exit_code=code,
            modelled=job.model,
            checked=job.check,
            run=run_tool,
        )
        notes = found.notes if found.device else (explain_missing(_first_bytes(command[0])),)
    return replace(
        found,
        device=read_gpus()[gpu].emulated_info.name,
        notes=notes,
        stdout=stdout,
        stderr=stderr,
        compiler=compiled,
        render=_render,
    )


def _find_libraries() -> Path:
    from grader.cuda.build import library_folder  # loads the emulator, while nvcc runs

    return library_folder()


@contextmanager
def _serve(job: ProgramJob, gpu: str, folder: Path) -> Iterator[Path]:
    """Yields the path of the server's socket."""
    from grader.cuda.server import Settings, start_server

    settings = Settings(
        gpu=gpu, devices=job.devices, check=job.check, model=job.model, folder=folder
    )
    with start_server(settings) as path:
        yield path


def _run_on_gpu(job: ProgramJob, choice: DeviceChoice) -> ProgramRun:
    """Runs a request on a GPU of this machine."""
    from grader.cuda.gpu.real_gpu import find_real_gpu
    from grader.cuda.gpu.user_program import GpuProgram

    if job.devices > 1:
        raise UsageError("--devices is for the emulated device", "Leave it out on a GPU.")
    cache = default_cache(os.environ)
    tools = find_toolchain(prefer_wheel=False, cache=cache)
    with tempfile.TemporaryDirectory(prefix="grader-exec-") as name:
        folder = Path(name)
        program = GpuProgram(find_real_gpu(choice), tools.nvcc, cache, folder)
        compiling = _start_compiler(job, program.compile_command, folder)
        compiled = "" if compiling is None else _finish_compiler(compiling)
        if not job.captured:
            sys.stderr.write(compiled)
        run = program.check if job.check else program.trace
        found = run(_command(job, folder), partial(_execute, job))
    return replace(found, compiler=compiled, render=_render)


def _name_source(source: Path | str, folder: Path) -> str:
    """The path of a source; a text is written to the folder."""
    if isinstance(source, str) and "\n" in source:
        path = folder / "program.cu"
        path.write_text(source, encoding="utf-8")
        return str(path)
    return str(source)


def _start_compiler(
    job: ProgramJob, compile_command: Callable[..., list[str]], folder: Path
) -> subprocess.Popen[str] | None:
    """Starts nvcc, so that the server starts beside it. `compile_command` takes the sources, nvcc's
    options and the program's path."""
    if not job.sources:
        return None
    for source in job.sources:
        if not (job.folder or Path()).joinpath(source).is_file():
            raise UsageError(f"there is no file {source}", "Name the program's source files.")
    program = _program(job, folder)
    program.parent.mkdir()
    command = compile_command(job.sources, job.options, output=program)
    return subprocess.Popen(
        command, cwd=job.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _finish_compiler(compiling: subprocess.Popen[str]) -> str:
    """nvcc's messages. Raises SubmissionError if it fails."""
    messages, _ = compiling.communicate()
    if compiling.returncode != 0:
        advice = advise_on_compilation(messages)
        raise SubmissionError(
            Failure(Status.COMPILE_ERROR, "nvcc does not compile the program.", messages, advice)
        )
    return messages


def _program(job: ProgramJob, folder: Path) -> Path:
    return folder / "bin" / Path(job.sources[0]).stem


def _command(job: ProgramJob, folder: Path) -> list[str]:
    """The program's command line. Raises UsageError for an unknown command."""
    if job.sources:
        return [str(_program(job, folder)), *job.arguments]
    found = shutil.which(job.arguments[0])
    if found is None:
        raise UsageError(
            f"there is no command {job.arguments[0]!r}",
            "Name a program: `grade exec -- ./a.out`, or source files: `grade exec a.cu`.",
        )
    return [found, *job.arguments[1:]]


def _execute(
    job: ProgramJob, command: Sequence[str], environment: Mapping[str, str]
) -> tuple[int, str | None, str | None]:
    """The exit code, and the captured output."""
    pipe = subprocess.PIPE if job.captured else None
    sys.stdout.flush()
    with (
        _leaving_interrupts_to_program(),  # first: the program may be faster than this process
        subprocess.Popen(
            [_named_in(job, command[0]), *command[1:]],
            executable=command[0],
            cwd=job.folder,
            env=environment,
            stdin=None if job.stdin is None else subprocess.PIPE,
            stdout=pipe or job.output,
            stderr=pipe,
            text=True,
            errors="replace",
            start_new_session=job.captured,
            preexec_fn=_fix_addresses,
        ) as process,
    ):
        try:
            stdout, stderr = process.communicate(job.stdin, timeout=job.timeout_s)
        except subprocess.TimeoutExpired:
            _kill(process, whole=job.captured)
            stdout, stderr = process.communicate()
        except BaseException:  # the grader ends: so does the program
            _kill(process, whole=job.captured)
            raise
    code = process.returncode
    return (128 - code if code < 0 else code), stdout, stderr


def _named_in(job: ProgramJob, program: str) -> str:
    """argv[0]: a compiled program is named as if it lay beside its source, where programs look for
    their files."""
    if not job.sources or Path(program).name != Path(job.sources[0]).stem:
        return program
    name = Path(job.sources[0]).with_suffix("")
    return str(name) if len(name.parts) > 1 else f"./{name}"


def _fix_addresses() -> None:
    """Libraries of the program get the usual addresses, so that none lies in the range of device
    memory. Containers may forbid it."""
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)


def _kill(process: subprocess.Popen[str], *, whole: bool) -> None:
    """Kills the program; `whole`: with all of its processes, which have their own group."""
    if whole:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


@contextmanager
def _leaving_interrupts_to_program() -> Iterator[None]:
    """Ctrl-C reaches all processes of the terminal: the program decides, and the report follows. A
    handler, unlike SIG_IGN, is not inherited by the program."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _first_bytes(program: str) -> bytes:
    """The beginning of a program's file, in which its sections' names may be missing."""
    try:
        with Path(program).open("rb") as file:
            return file.read(64 << 20)
    except OSError:
        return b""


def _render(run: ProgramRun) -> str:
    from grader.report.html.program import render_program_fragment

    return render_program_fragment(run)
