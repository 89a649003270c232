"""Sentences for stopped runs: with all figures, and without figures where the sizes are secret."""

from __future__ import annotations

from grader.messages.observations import describe_fault, describe_observation
from grader.messages.phrases import outline, outline_status
from grader.records import (
    Failure,
    Faulted,
    NotEmulated,
    OutOfGpuMemory,
    OutOfMemory,
    Refused,
    Stop,
)

_ASK_FOR_LESS = "Ask for less scratch memory, and for smaller __device__ and local arrays."
_NOT_YOURS = "This is the grader's limit, not your mistake: grade it on a GPU"
_ANY_REFUSAL = "Compare the launch with the limits of the GPU."
_COMPARE = "Compare grid, block and dynamic shared memory with the limits of the GPU."
_REFUSALS = {
    "too many blocks in cooperative": (
        "A kernel of the file synchronises its grid, so that all kernels of the file are launched"
        " cooperatively: all blocks of a grid have to be on the GPU at once. Launch fewer of them,"
        " and let each do more (a grid-stride loop)."
    ),
    "too many resources": (
        "Use fewer registers or threads a block (__launch_bounds__ limits the registers), or less"
        " shared memory."
    ),
    "out of memory": "Ask for less scratch memory, and for smaller local arrays.",
    "invalid argument": _COMPARE,
    "invalid configuration": _COMPARE,
}
"""Advice by a part of CUDA's message."""


def describe_stop(stop: Stop, *, hidden: bool) -> Failure:
    """The failure of a stop; `hidden`: its kind, its line and plain names only."""
    return _outline_stop(stop) if hidden else _describe_stop(stop)


def _describe_stop(stop: Stop) -> Failure:
    match stop:
        case Faulted(seen):
            message, advice = describe_fault(seen)
            findings = tuple(describe_observation(each, hidden=False) for each in stop.findings)
            return Failure(stop.status, message, stop.quoted, advice, findings)
        case NotEmulated(kernel, line):
            what = stop.what or f"the way that {stop.opcode} takes here"
            place = f" (line {line})" if line is not None else ""
            message = (
                f"The emulated device does not know {what}, which kernel {kernel} uses{place}."
            )
            advice = f"{_NOT_YOURS}, or write the line another way."
            return Failure(stop.status, message, advice=advice, line=line)
        case Refused(kernel, line, error_text, quoted):
            message = f"Kernel {kernel} could not be launched: {error_text} (CUDA)."
            advice = next(
                (_REFUSALS[part] for part in _REFUSALS if part in error_text), _ANY_REFUSAL
            )
            return Failure(stop.status, message, quoted, advice, line=line)
        case OutOfMemory():
            return Failure(stop.status, _list_demands(stop), advice=_ASK_FOR_LESS)
        case OutOfGpuMemory(buffers, variables):
            more = f", its __device__ variables {variables:,}" if variables else ""
            message = (
                f"Out of device memory: the submission's buffers need {buffers:,} bytes{more}."
            )
            return Failure(stop.status, message, advice=_ASK_FOR_LESS)


def _outline_stop(stop: Stop) -> Failure:
    match stop:
        case Faulted():
            findings = tuple(describe_observation(each, hidden=True) for each in stop.findings)
            message = outline(findings[0].message, findings[0].line, kernel=findings[0].kernel)
            return Failure(stop.status, message, findings=findings)
        case NotEmulated(kernel, line):
            return outline_status(stop.status, line, kernel=kernel)
        case Refused(kernel, line):
            message = outline("the GPU refused the launch", line, kernel=kernel)
            advice = "Compare grid, block and shared memory with the limits of the GPU."
            return Failure(stop.status, message, advice=advice)
        case OutOfMemory() | OutOfGpuMemory():
            return Failure(stop.status, outline("out of device memory"), advice=_ASK_FOR_LESS)


def _list_demands(stop: OutOfMemory) -> str:
    scratch, variables, local = stop.scratch_bytes, stop.variable_bytes, stop.local_bytes
    asked = (
        f"its scratch buffers need {scratch:,} bytes" if scratch else "",
        f"its __device__ variables take {variables:,} bytes" if variables else "",
        f"its threads' local arrays take {local:,} bytes" if local else "",
    )
    parts = " and ".join(part for part in asked if part)
    why = (
        "there is no room for them here"
        if stop.most_bytes is None
        else f"this device has {stop.most_bytes:,} for them"
    )
    return f"The submission asks for too much device memory: {parts}; {why}."
