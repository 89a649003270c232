"""Runs an untrusted program on a GPU: by itself, traced, or under a tool of NVIDIA.

The program is confined as on the emulated device, except for the files and system calls that the
driver needs (grader.sandbox.launch). A tool starts in a network of its own, and starts the program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cuda.confined import (
    ConfinedRun,
    RunFolders,
    RunOrder,
    finish_run,
    follow_program,
    make_launch,
    open_folders,
)
from grader.cuda.gpu.activities import parse_trace
from grader.cuda.gpu.counts import add_counts, count_command
from grader.cuda.gpu.real_gpu import RealGpu
from grader.cuda.gpu.sanitizer import check_command, is_complete, parse_findings, parse_mistakes
from grader.cuda.gpu.tracer import Tracer, trace_environment
from grader.devices.gpu.ncu import NOT_INSTALLED, find_ncu
from grader.records import NotCounted, Uncountable
from grader.records.program_run import ProgramRun
from grader.sandbox.launch import NO_NETWORK, Place, isolate_command, launch_command
from grader.sandbox.process import run_tool

DATA_BYTES = 16 << 30
"""Private memory of a process: the driver takes some for itself."""
TOOL_SECONDS, TOOL_FACTOR = 60.0, 10.0
"""The time of a run under a tool: the start of the tool, and so many times that of the program."""


@dataclass(frozen=True)
class _Done:
    """A run under a tool: its result, and the tool's log, empty where it wrote none. `problem` is a
    clause with the reason why the tool did not run."""

    ran: ConfinedRun
    log: str
    problem: str = ""


def run_plain(order: RunOrder, gpu: RealGpu) -> ConfinedRun:
    """Runs a program by itself: its output, files and exit code."""
    with open_folders(order) as folders:
        launch = _make_launch(order, folders, Place.GPU)
        done, limit = follow_program(
            launch, order, folders, variables=_variables(gpu), memory_bytes=DATA_BYTES
        )
        return finish_run(_empty(gpu), done, limit, order, folders)


def run_traced(order: RunOrder, gpu: RealGpu, tracer: Tracer) -> ConfinedRun:
    """Runs a program with its kernels, times and timeline. Without a trace, because the program
    ended by a signal or `_exit`, it has none of them."""
    with open_folders(order) as folders:
        trace = folders.records / "trace.tsv"
        readable = [tracer.library.parent, tracer.cupti]
        launch = _make_launch(
            order, folders, Place.GPU, readable=readable, writable=[folders.records]
        )
        variables = {**_variables(gpu), **trace_environment(tracer, trace)}
        done, limit = follow_program(
            launch, order, folders, variables=variables, memory_bytes=DATA_BYTES
        )
        text = trace.read_text("utf-8", "replace") if trace.is_file() else ""
        found = parse_trace(text, gpu=gpu.figures, run=run_tool) or _empty(gpu)
        return finish_run(found, done, limit, order, folders)


def count_program(order: RunOrder, gpu: RealGpu, traced: ProgramRun) -> ProgramRun | NotCounted:
    """The traced run with the counters of Nsight Compute, from another run of the program."""
    ncu = find_ncu(os.environ)
    if ncu is None:
        return NOT_INSTALLED
    done = _run_under(lambda log: count_command(ncu, log, gpu.arch), ncu, order, gpu)
    if done.problem:
        return NotCounted(Uncountable.FAILED, {"error": done.problem})
    if done.ran.limit is not None:
        seconds = _tool_seconds(order)
        return NotCounted(Uncountable.OVER_LIMIT, {"limit": done.ran.limit, "seconds": seconds})
    return add_counts(traced, done.log or done.ran.found.stderr or "", gpu.arch)


def check_program(order: RunOrder, gpu: RealGpu, sanitizer: Path, tool: str) -> ProgramRun | str:
    """A run with the findings of a tool of compute-sanitizer; or a clause with the reason why there
    is none."""
    done = _run_under(lambda log: check_command(sanitizer, tool, log), sanitizer, order, gpu)
    if done.problem:
        return done.problem
    if not is_complete(done.log):
        reason = f"its limit of {done.ran.limit}" if done.ran.limit else "an error"
        return f"{reason} ended compute-sanitizer"
    return replace(
        done.ran.found,
        findings=parse_findings(done.log),
        host_findings=parse_mistakes(done.log, order.program, run_tool),
        checked=True,
    )


def _run_under(
    tool: Callable[[Path], Sequence[str]], path: Path, order: RunOrder, gpu: RealGpu
) -> _Done:
    longer = replace(order, wall_seconds=_tool_seconds(order), cpu_seconds=_tool_seconds(order))
    with open_folders(longer) as folders:
        log = folders.records / "tool.log"
        home = path.resolve().parent
        # Nsight Compute and compute-sanitizer keep the libraries of the program beside themselves
        program = _make_launch(longer, folders, Place.TOOL, readable=[home, home.parent])
        command = [*tool(log), *program]
        if order.confined:
            command = isolate_command(command)
        done, limit = follow_program(
            command, longer, folders, variables=_variables(gpu), memory_bytes=1 << 50
        )
        problem = ""
        if done.returncode == NO_NETWORK and not log.is_file():
            problem = "this system gives a tool no network of its own (unshare)"
        text = log.read_text("utf-8", "replace") if log.is_file() else ""
        return _Done(finish_run(_empty(gpu), done, limit, longer, folders), text, problem)


def _tool_seconds(order: RunOrder) -> float:
    return TOOL_SECONDS + TOOL_FACTOR * order.wall_seconds


def _make_launch(
    order: RunOrder,
    folders: RunFolders,
    place: Place,
    *,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
) -> list[str]:
    launch = make_launch(order, folders)
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return launch_command(
        replace(
            launch,
            readable=(*launch.readable, *map(str, readable), *filter(None, libraries)),
            writable=(*launch.writable, *map(str, writable)),
            data_bytes=DATA_BYTES,
            place=place,
        )
    )


def _variables(gpu: RealGpu) -> dict[str, str]:
    """The program sees this GPU only, and finds the driver as other programs do."""
    paths = os.environ.get("LD_LIBRARY_PATH", "")
    return {"CUDA_VISIBLE_DEVICES": gpu.uuid, "LD_LIBRARY_PATH": paths}


def _empty(gpu: RealGpu) -> ProgramRun:
    return ProgramRun(0, gpu.figures.id, modelled=False, counted=False)
