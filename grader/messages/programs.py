"""Sentences about programs: compilation, runs without CUDA calls, the result and the next step."""

from __future__ import annotations

import signal

from grader.messages.findings import FINDINGS, advise
from grader.records.program_run import ProgramRun

_COMPILATION = (
    (
        "undefined reference to `main'",
        "The files have no main(). Kernels without a program run by `grade run FILE.cu`.",
    ),
    ("undefined reference to `cublas", "Link cuBLAS: --nvcc=-lcublas."),
    ("undefined reference to `curand", "Link cuRAND: --nvcc=-lcurand."),
    (
        "curand_kernel.h",
        "The header is in a package of its own: `pip install nvidia-curand`.",
    ),
    (
        "nvToolsExt.h",
        "The headers of NVTX are in a package of their own: `pip install nvidia-nvtx`.",
    ),
    (
        "No such file or directory",
        "Add the folder of the header: --nvcc=-IFOLDER.",
    ),
    (
        "undefined reference",
        "Name all source files of the program, and libraries by --nvcc=-lNAME.",
    ),
    (
        "separate compilation",
        "Code on the device that is spread over several files needs --nvcc=-rdc=true.",
    ),
    (
        "Unresolved extern",
        "Code on the device that is spread over several files needs --nvcc=-rdc=true.",
    ),
)
"""Parts of nvcc's messages with the next step, the first that fits."""
_SIGNALS = {128 + each.value: each.name for each in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)}
_STATIC_MARK, _RUNTIME, _DRIVER = b".nvFatBinSegment", b"libcudart.so.13", b"libcuda.so.1"


def advise_on_compilation(messages: str) -> str:
    """The next step after nvcc's messages."""
    usual = "Correct the first error; --nvcc=OPTION gives nvcc an option."
    return next((advice for part, advice in _COMPILATION if part in messages), usual)


def explain_missing(program: bytes) -> str:
    """Why a program of these bytes made no CUDA call."""
    if _STATIC_MARK in program and _RUNTIME not in program:
        return (
            "The program contains NVIDIA's runtime, which needs a GPU. Link it dynamically: build"
            " it by `grade exec -- make`, or with `nvcc -cudart shared` of CUDA 13."
        )
    if _RUNTIME in program or _DRIVER in program:
        return "The program made no CUDA call."
    return (
        "No process made a CUDA call. If the build names nvcc by its path, name it `nvcc`:"
        " `make NVCC=nvcc`."
    )


def describe_clock(run: ProgramRun) -> str:
    """The kind of its times: the checked mode runs other code than the model."""
    if not run.counted:
        return "not timed under compute-sanitizer" if run.checked else "times are measured"
    if not run.modelled:
        return "times are those of this computer's clock"
    if run.checked:
        return "with --check, copies have modelled times and kernels have none"
    return "times are modelled"


def describe_result(run: ProgramRun) -> str:
    """`exit code 0, 3 kernels, 12 launches, 2 findings`."""
    launches = sum(kernel.launches for kernel in run.kernels)
    found = len(run.findings) + len(run.failures) + len(run.host_findings)
    parts = [
        f"exit code {run.exit_code}",
        _count(len(run.kernels), "kernel"),
        _count(launches, "launch", "launches"),
    ]
    if found or run.checked:
        parts.append(_count(found, "finding"))
    return ", ".join(parts)


def advise_on_program(run: ProgramRun) -> str:
    """The next step: the first mistake, else the kernel with the longest time."""
    for failure in run.failures:
        return advise(failure) or failure.message
    for finding in run.findings:
        place = f"line {finding.line}: " if finding.line else ""
        return place + FINDINGS[finding.kind].advice
    for mistake in run.host_findings:
        place = f"line {mistake.place.line}: " if mistake.place else ""
        return place + (mistake.advice or mistake.message)
    if run.exit_code in _SIGNALS:
        return f"{_SIGNALS[run.exit_code]} ended the program; --check looks for the cause"
    if not run.kernels and not run.timeline and run.notes:
        return run.notes[0]
    if not run.checked:
        return "--check finds races, bad indices, leaks and unchecked errors"
    timed = [(k.time.ms, k) for k in run.kernels if k.time is not None]
    if not timed:
        return "--annotate shows the cost of each source line"
    _, slowest = max(timed, key=lambda each: each[0])
    bound = slowest.modelled.bounds[0] if slowest.modelled and slowest.modelled.bounds else None
    return f"{slowest.kernel}: {bound.advice if bound else 'see --annotate'}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
