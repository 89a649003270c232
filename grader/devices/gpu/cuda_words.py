"""What CUDA reports of a kernel, and what guard bands show, in a student's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.devices.gpu.placement import Damage
from grader.errors import GraderError
from grader.records import (
    Binary,
    Cause,
    DeviceBuffer,
    Failure,
    Finding,
    FindingKind,
    Launch,
    Obstacle,
    Role,
    Status,
)

NAME_THE_PLACE = "`--device emulated` names the line, the thread and the buffer."


@dataclass(frozen=True)
class _Fault:
    """A fault of a running kernel: `said` is a part of what cuGetErrorString says of it."""

    said: str
    kind: FindingKind
    what: str
    advice: str


_FAULTS = (
    _Fault(
        "illegal memory access",
        FindingKind.OUT_OF_BOUNDS,
        "it accessed an address that belongs to no buffer",
        f"Compare the index with the sizes before the access. {NAME_THE_PLACE}",
    ),
    _Fault(
        "misaligned address",
        FindingKind.MISALIGNED,
        "it accessed an address that is no multiple of the access's size",
        "A float4 access needs an address that is a multiple of 16: treat rows of other lengths"
        f" apart. {NAME_THE_PLACE}",
    ),
    _Fault(
        "assert",
        FindingKind.TRAP,
        "an assert() of it did not hold",
        f"Look at the condition of the assert(). {NAME_THE_PLACE}",
    ),
    _Fault(
        "illegal instruction",
        FindingKind.TRAP,
        "it stopped itself with __trap()",
        "Look at the condition that leads there.",
    ),
    _Fault(
        "stack",
        FindingKind.OUT_OF_BOUNDS,
        "it overran its stack",
        f"Look for a recursion without end, or an index beyond a local array. {NAME_THE_PLACE}",
    ),
    _Fault(
        "unspecified launch failure",
        FindingKind.TRAP,
        "it stopped for a reason that CUDA does not name",
        f"Most often that is an access beyond a __shared__ array, or __trap(). {NAME_THE_PLACE}",
    ),
    _Fault(
        "address space",
        FindingKind.OUT_OF_BOUNDS,
        "it used an address of another memory than the instruction is for",
        "Look for a pointer to shared memory that outlived its block, or an index far beyond an"
        f" array. {NAME_THE_PLACE}",
    ),
    _Fault(
        "program counter",
        FindingKind.OUT_OF_BOUNDS,
        "it jumped to where no code is",
        f"Look for an index beyond a local array. {NAME_THE_PLACE}",
    ),
)

_OTHER_FAULT = _Fault("", FindingKind.TRAP, "CUDA stopped it", NAME_THE_PLACE)

_NOT_THE_STUDENTS = ("uncorrectable", "unknown error", "system", "driver", "busy", "contained")
"""Parts of what CUDA says when the machine failed."""

SPARE_BYTES = 256 << 20
"""A GPU that has not even this much left is full by others' doing."""
RESIDENT_THREADS = 1 << 18
"""For about as many threads a large GPU sets local memory aside (an H100: 132 multiprocessors of
2,048)."""

_REFUSALS = {
    "too many resources": (
        "Use fewer registers or threads a block (__launch_bounds__ limits the registers), or less"
        " shared memory."
    ),
    "out of memory": "Ask for less scratch memory, and for smaller local arrays.",
    "invalid argument": "Compare grid, block and dynamic shared memory with what the GPU allows.",
    "invalid configuration": (
        "Compare grid, block and dynamic shared memory with what the GPU allows."
    ),
}


def describe_fault(error: Exception, launch: Launch, kernel: str) -> Failure:
    """The Failure of a kernel that started and did not end well. Raises GraderError where the
    machine is to blame."""
    said = _said(error)
    if "timed out" in said:
        message = f"Kernel {kernel} ran until the GPU's watchdog ended it."
        advice = "Look for a loop whose end is never reached."
        return Failure(
            Status.TIMEOUT,
            message,
            said,
            advice,
            (Finding(FindingKind.WALL_LIMIT, message, kernel=kernel),),
        )
    _check_machine(said)
    fault = next((fault for fault in _FAULTS if fault.said in said), _OTHER_FAULT)
    message = f"Kernel {kernel} did not end well: {fault.what} (CUDA: {said})."
    finding = Finding(fault.kind, f"{fault.what} (CUDA: {said})", kernel=kernel)
    return Failure(Status.RUNTIME_ERROR, message, launch.text, fault.advice, (finding,))


def describe_refusal(error: Exception, launch: Launch, kernel: str) -> Failure:
    """The Failure of a launch that CUDA did not begin. Raises GraderError where the machine is to
    blame."""
    said = _said(error)
    _check_machine(said)
    advice = next(
        (advice for part, advice in _REFUSALS.items() if part in said),
        "Compare the launch with what the GPU allows.",
    )
    message, cause = (
        f"Kernel {kernel} could not be launched: {said} (CUDA).",
        Cause(Obstacle.REFUSED, launch.line, kernel=kernel),
    )
    return Failure(Status.LAUNCH_ERROR, message, launch.text, advice, cause=cause)


def describe_damage(damage: Damage, launch: Launch, kernel: str) -> Failure:
    """The Failure of a launch after which a guard band was not whole."""
    message = f"Kernel {kernel} wrote out of bounds: {damage.words}."
    finding = Finding(
        FindingKind.OUT_OF_BOUNDS,
        f"store out of bounds: {damage.words}",
        kernel=kernel,
        buffer=damage.place.name,
        offset_bytes=damage.offset_bytes,
    )
    advice = (
        "Compare the index with the sizes before the store; sizes need not be multiples of the"
        f" tile. {NAME_THE_PLACE}"
    )
    return Failure(Status.RUNTIME_ERROR, message, launch.text, advice, (finding,))


def out_of_memory(buffers: Sequence[DeviceBuffer], binary: Binary) -> Failure:
    """The Failure of a plan that does not fit the GPU. Raises GraderError where the submission
    itself asks for little."""
    needed = sum(buffer.size_bytes for buffer in buffers)
    scratch = sum(buffer.size_bytes for buffer in buffers if buffer.role is Role.SCRATCH)
    local = RESIDENT_THREADS * max((kernel.local_bytes for kernel in binary.kernels), default=0)
    if scratch + binary.variable_bytes + local < SPARE_BYTES:
        raise GraderError(
            f"The GPU has no room for the exercise: its buffers need {needed:,} bytes, some of them"
            " several times.",
            "Another program may fill the GPU's memory: see `nvidia-smi`. Grade again when it has"
            " ended, or on a larger GPU.",
        )
    variables = (
        f", its __device__ variables {binary.variable_bytes:,}" if binary.variable_bytes else ""
    )
    return Failure(
        Status.LAUNCH_ERROR,
        f"Out of device memory: the submission's buffers need {needed:,} bytes{variables}.",
        advice="Ask for less scratch memory, and for smaller __device__ and local arrays.",
        cause=Cause(Obstacle.OUT_OF_MEMORY),
    )


def _check_machine(said: str) -> None:
    """Raises GraderError for what only a failing machine makes CUDA say."""
    if any(part in said for part in _NOT_THE_STUDENTS):
        raise GraderError(
            f"The GPU failed: {said}.",
            "Look at `nvidia-smi -q` and the system's log; grade again when the GPU is well.",
        )


def _said(error: Exception) -> str:
    """CUDA's own words in one of PyCUDA's messages, `cuLaunchKernel failed: too many resources
    requested for launch`."""
    return str(error).partition(" failed: ")[2].strip() or str(error)
