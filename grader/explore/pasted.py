"""Runs a file of a stranger as `grade run` does: kernels by the file's launch lines on the data of
its run line, or a program with a `main`. Compiler, device and program are confined, and the limits
are small."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from grader.cuda.confined import RunOrder, make_builder, run_confined
from grader.devices.choose import EMULATED
from grader.devices.gpus import read_gpus
from grader.errors import UsageError
from grader.explore.kernel_job import COMPILE_LIMITS, PUBLIC
from grader.explore.kernel_run import run_with
from grader.explore.kernel_words import Allowed
from grader.explore.run_request import RunRequest, find_run_line, is_program, read_given
from grader.grading.grade import choose_device
from grader.grading.mistakes import SubmissionError, value_of
from grader.grading.program_grading import build_program, refuse_build
from grader.grading.program_results import find_end, findings_of, mistakes_of
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import cache_folder
from grader.records import (
    DeviceChoice,
    Failure,
    KernelRun,
    Options,
    Progress,
    RunLimits,
    Status,
    Submission,
)
from grader.records.program_run import ProgramRun
from grader.submission.source_file import read_submission

LIMITS = RunLimits(10**9, wall_seconds=60.0, processor_seconds=20.0, of_exercise=False)
ALLOWED = Allowed(most_arrays=16, most_bytes=32 << 20, files=False)

Found = KernelRun | ProgramRun | Failure


def run_pasted(options: Options, file: Path) -> Found:
    """The result of a file; a Failure where it does not run. The run line chooses the checked mode,
    and modelled times of kernels. No GPU of this machine is used."""
    device = options.device
    choice = device if isinstance(device, DeviceChoice) else choose_device(device)
    choice = choice if choice.kind == EMULATED else choose_device(EMULATED)
    options = replace(options, device=choice, limits=LIMITS)
    try:
        source = value_of(read_submission(file))
        request = find_run_line(source.text)
        if is_program(source, request):
            return _run_program(options, choice.id, source, check=request.check)
        return _run_kernels(options, file, request)
    except SubmissionError as error:
        return replace(error.failure, line=error.line)
    except UsageError as error:
        return Failure(Status.LAUNCH_ERROR, error.sentence, advice=error.advice)


def _run_kernels(options: Options, file: Path, request: RunRequest) -> KernelRun:
    data = read_given(file, request, options.fixed_seed, allowed=ALLOWED)
    running = replace(options, model=options.model and request.model)
    return run_with(running, file, data, check=request.check)


def _run_program(options: Options, id_: str, source: Submission, *, check: bool) -> ProgramRun:
    gpu, cache = read_gpus()[id_], cache_folder(options)
    options.show(Progress("compiling"))
    tools = find_toolchain(prefer_wheel=True, cache=cache, isolated=options.isolated)
    builder = make_builder(tools, gpu.arch, cache=cache, isolated=options.isolated)
    name = source.name
    with tempfile.TemporaryDirectory(prefix="grader-program-") as folder:
        build = Path(folder) / "build"
        build.mkdir()
        seconds = COMPILE_LIMITS.wall_seconds
        messages = build_program(builder, {name: source.text}, [name], (), build, seconds=seconds)
        if messages is not None:
            raise refuse_build(messages)
        options.show(Progress("running"))
        order = RunOrder(
            build / "program",
            builder.libraries,
            gpu=id_,
            check=check,
            model=options.model,
            wall_seconds=LIMITS.wall_seconds,
            cpu_seconds=LIMITS.processor_seconds,
            confined=options.isolated,
        )
        ran = run_confined(order)
    if failure := find_end(ran):
        raise SubmissionError(failure)
    return replace(
        ran.found,
        device=gpu.emulated_info.name,
        findings=findings_of(ran, PUBLIC, name),
        host_findings=mistakes_of(ran, PUBLIC),
    )
