"""Errors of CUDA, and damage in guard bands, as facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.devices.gpu.placement import Damage
from grader.devices.plan_limits import SPARE_BYTES, scratch_bytes
from grader.errors import GraderError
from grader.records import (
    Act,
    Binary,
    DeviceBuffer,
    Faulted,
    Launch,
    Observation,
    OutOfGpuMemory,
    Party,
    Refused,
    Spot,
)

_ACTS: Mapping[str, Act] = {
    "timed out": Act.WATCHDOG,
    "illegal memory access": Act.ILLEGAL_ADDRESS,
    "misaligned address": Act.MISALIGNED_ADDRESS,
    "assert": Act.FAILED_ASSERT,
    "illegal instruction": Act.ILLEGAL_INSTRUCTION,
    "stack": Act.STACK_OVERRUN,
    "unspecified launch failure": Act.UNNAMED_FAULT,
    "address space": Act.OTHER_ADDRESS_SPACE,
    "program counter": Act.INVALID_JUMP,
}
"""Faults of a running kernel, by a part of the text of cuGetErrorString."""

_NOT_THE_STUDENTS = ("uncorrectable", "unknown error", "system", "driver", "busy", "contained")
"""Parts of CUDA's error texts when the machine failed."""

RESIDENT_THREADS = 1 << 18
"""A large GPU reserves local memory for about this number of threads (an H100: 132 multiprocessors
of 2,048)."""


def read_fault(error: Exception, launch: Launch, kernel: str) -> Faulted:
    """The fault of a kernel that started. Raises GraderError where it is the machine's fault."""
    error_text = _error_text(error)
    act = next((act for part, act in _ACTS.items() if part in error_text), Act.UNKNOWN_FAULT)
    if act is Act.WATCHDOG:
        return Faulted(Observation(act, kernel), quoted=error_text)
    _check_machine(error_text)
    return Faulted(Observation(act, kernel, error_text=error_text), quoted=launch.text)


def read_refusal(error: Exception, launch: Launch, kernel: str) -> Refused:
    """The reason why CUDA refused a launch. Raises GraderError where it is the machine's fault."""
    error_text = _error_text(error)
    _check_machine(error_text)
    return Refused(kernel, launch.line, error_text, launch.text)


def read_damage(damage: Damage, launch: Launch, kernel: str) -> Faulted:
    """The fault of a launch that changed a guard band."""
    place = damage.place
    spot = Spot(buffer=place.name, offset_bytes=damage.offset_bytes, size_bytes=place.size_bytes)
    observation = Observation(Act.GUARD_BAND, kernel, Party(stores=True), spot=spot)
    return Faulted(observation, quoted=launch.text)


def out_of_memory(buffers: Sequence[DeviceBuffer], binary: Binary) -> OutOfGpuMemory:
    """The memory of a plan that does not fit the GPU. Raises GraderError where the submission
    itself requests little."""
    needed = sum(buffer.size_bytes for buffer in buffers)
    local = RESIDENT_THREADS * max((kernel.local_bytes for kernel in binary.kernels), default=0)
    if scratch_bytes(buffers) + binary.variable_bytes + local < SPARE_BYTES:
        raise GraderError(
            f"The GPU has no room for the buffers, which need {needed:,} bytes, some of them"
            " several times.",
            "Another program may fill the GPU's memory: see `nvidia-smi`. Grade again when it has"
            " ended, or on a larger GPU.",
        )
    return OutOfGpuMemory(needed, binary.variable_bytes)


def _check_machine(error_text: str) -> None:
    """Raises GraderError for error texts of a failing machine."""
    if any(part in error_text for part in _NOT_THE_STUDENTS):
        raise GraderError(
            f"The GPU failed: {error_text}.",
            "Look at `nvidia-smi -q` and the system's log; grade again when the GPU is well.",
        )


def _error_text(error: Exception) -> str:
    """CUDA's text in a message of PyCUDA: `cuLaunchKernel failed: too many resources requested for
    launch`."""
    return str(error).partition(" failed: ")[2].strip() or str(error)
