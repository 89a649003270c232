"""Runs kernels without an exercise: the launches of a source, on the caller's arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from grader.cpp.declarations import find_kernels, has_main
from grader.devices.choose import EMULATED, GPU
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import UsageError
from grader.explore.kernel_data import KernelData, Output, TensorMapFields, read_data
from grader.explore.kernel_job import KernelJob, emulate, record_launches, record_run
from grader.explore.kernels_on_gpu import run_on_gpu
from grader.grading.grade import check_seed, choose_device
from grader.grading.mistakes import SubmissionError, value_of
from grader.grading.tools import find_toolchain
from grader.messages.doubt import describe_waits
from grader.records import (
    PLAIN,
    Detail,
    DeviceChoice,
    Failure,
    KernelRun,
    NoSource,
    Options,
    ShowProgress,
    Status,
    Submission,
    show_nothing,
)
from grader.spec.statements import Plan
from grader.submission.plan import LAUNCH_FORM, read_plan
from grader.submission.scalars import Scalar
from grader.submission.source_file import parse_submission, read_submission

TEXT_NAME = "source.cu"
"""The file name in messages for a source that is given as text."""


def run(  # noqa: PLR0913 - one call for all that a run takes, by keyword
    source: Path | str,
    *,
    inputs: Mapping[str, np.ndarray] | None = None,
    outputs: Mapping[str, Output],
    sizes: Mapping[str, int] | None = None,
    scalars: Mapping[str, Scalar] | None = None,
    tensor_maps: Mapping[str, TensorMapFields] | None = None,
    device: str = "emulated:h100",
    check: bool = False,
    model: bool = False,
    seed: int = 0,
    isolated: bool = True,
    progress: ShowProgress | None = None,
    detail: Detail = PLAIN,
) -> KernelRun:
    """Run the kernels of a source as its `// launch:` lines say.

    Args:
        source: A path, or the text itself. The launch lines may use the names of `inputs`,
            `outputs` and `scalars` as arguments, and the integers of `sizes` everywhere.
        inputs: Arrays of any shape that kernels only read, by the names of the launch lines. All
            arrays are copied, in row-major order.
        outputs: Arrays with their contents before the run, or the type and shape of an array
            without contents: `("float32", (n,))`, in elements.
        sizes: Integers.
        scalars: Numbers, as wide as the kernel's parameter; those of NumPy keep their type.
        tensor_maps: The fields of a spec for each `CUtensorMap` argument.
        device: `auto`, `emulated`, `emulated:ID`, `gpu` or `gpu:N`.
        check: Run in the checked mode, for its findings, and once more in the opposite order.
        model: Model the times on the emulated device, in milliseconds; a GPU measures them anyway.
        seed: Seed of the sampled blocks; 0 or more.
        isolated: As for `grade`: the compiler and the device run confined.
        progress: Called with the current step.
        detail: The contents of the result's `machine`; the cycles of warps need `model`.

    Returns:
        The outputs as arrays of their types and shapes, and of each launch its grid in blocks, its
        block in threads, resources in registers and bytes, counters and time.

    Raises:
        SubmissionError: The source fails: it has a status, a message, a line and advice.
        UsageError: Arguments that no kernel can take. GraderError: The grader or the machine fails.
    """
    options = Options(
        choose_device(device),
        seed,
        isolated=isolated,
        model=model,
        detail=detail,
        show=progress or show_nothing,
    )
    data = read_data(inputs or {}, outputs, sizes or {}, scalars or {}, tensor_maps or {})
    return run_with(options, source, data, check=check)


def run_with(options: Options, source: Path | str, data: KernelData, *, check: bool) -> KernelRun:
    """`run` with all options, which have a seed."""
    device = options.device
    choice = device if isinstance(device, DeviceChoice) else choose_device(device)
    check_seed(options.fixed_seed)
    try:
        text = value_of(_read_source(source))
        job = KernelJob(text, _read_plan(text, data), data, choice, options, check)
        return _PAGES[choice.kind](job)
    except SubmissionError as error:  # a traceback shows its notes
        for note in filter(None, (error.detail, error.advice)):
            error.add_note(note)
        raise


def run_on_emulated(job: KernelJob) -> KernelRun:
    """Runs the job's launches on the emulated device. Raises SubmissionError."""
    with RemoteDevice(str(job.choice), isolated=job.options.isolated) as device:
        tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=job.options.isolated)
        info = device.info
        seen = emulate(job, device, job.make_program(job.build(tools, info.arch), info))
    launches = record_launches(seen.execution.launches, seen.times)
    waits = describe_waits(seen.execution.launches)
    return record_run(
        job,
        seen.execution,
        seen.outputs,
        launches=launches,
        findings=seen.findings,
        info=info,
        notes=(*seen.notes, *([f"Counters: {waits}."] if waits else ())),
        machine=seen.machine,
    )


_PAGES: Mapping[str, Callable[[KernelJob], KernelRun]] = {
    EMULATED: run_on_emulated,
    GPU: run_on_gpu,
}


def _read_source(source: Path | str) -> Submission | NoSource:
    if is_path(source):
        return read_submission(Path(source))
    return parse_submission(str(source).encode("utf-8", "surrogatepass"), TEXT_NAME)


def is_path(source: Path | str) -> bool:
    """Whether a source is a path: an existing file, or text that looks like a file name."""
    if isinstance(source, Path):
        return True
    try:
        return "\n" not in source and (source.endswith(".cu") or Path(source).is_file())
    except (OSError, ValueError):  # too long for a name, or with a null character
        return False


def _read_plan(source: Submission, data: KernelData) -> Plan:
    """The launch lines. Raises SubmissionError where there are none, and UsageError where a scratch
    buffer has the name of an argument."""
    plan = value_of(read_plan(source))
    if plan is None:
        kernel = next(iter(find_kernels(source.text)), "kernel")
        names = ", ".join((*(buffer.name for buffer in data.buffers), *data.scalars, *data.sizes))
        grid = f"ceil_div({next(iter(data.sizes))}, 256)" if data.sizes else "1"
        example = f"// launch: {kernel}<<<{grid}, 256>>>({names})"
        advice = f"Write one as a comment: {example}\n{LAUNCH_FORM}"
        if has_main(source.text):
            advice = f"The file is a program: grade exec {source.name}. Or remove main: {advice}"
        message = f"{source.name} has no launch line, which defines the launches of its kernels."
        raise SubmissionError(Failure(Status.LAUNCH_ERROR, message, advice=advice))
    for scratch in plan.scratch:
        if scratch.name in data.names:
            raise UsageError(
                f"'{scratch.name}' is given, and line {scratch.line} declares it as scratch memory",
                "Give one of them another name.",
            )
    return plan
