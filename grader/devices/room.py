"""The memory that a submission asks for beside the exercise's own buffers: what it cannot have is
its mistake, told with the bytes."""

from __future__ import annotations

from collections.abc import Sequence

from grader.errors import GraderError
from grader.records import Cause, DeviceBuffer, Failure, LaunchLimits, Obstacle, Role, Status

EMULATED_OWN_BYTES = 2 << 30
"""Of scratch buffers and variables on the emulated device, which holds them in this machine's
memory, side by side with others."""
SPARE_BYTES = 256 << 20
"""Who asks for less than this is not to blame where memory runs out."""
_ADVICE = "Ask for less scratch memory, and for smaller __device__ and local arrays."


def check_room(
    buffers: Sequence[DeviceBuffer], variable_bytes: int, limits: LaunchLimits
) -> Failure | None:
    """The Failure of a plan that asks for more than a device has; before anything is allocated."""
    scratch = _scratch_bytes(buffers)
    if limits.max_own_bytes is None or scratch + variable_bytes <= limits.max_own_bytes:
        return None
    return _too_much(
        scratch, variable_bytes, 0, f"this device has {limits.max_own_bytes:,} for them"
    )


def out_of_memory(
    buffers: Sequence[DeviceBuffer], variable_bytes: int, local_bytes: int
) -> Failure:
    """The Failure of a run that got no memory. `local_bytes`: of local arrays, of all threads that
    run side by side.

    Raises GraderError where the submission itself asks for little.
    """
    scratch = _scratch_bytes(buffers)
    if scratch + variable_bytes + local_bytes < SPARE_BYTES:
        needed = sum(buffer.size_bytes for buffer in buffers)
        advice = "Let fewer gradings run side by side (--jobs), or use a larger machine."
        raise GraderError(
            f"This machine has no room for the exercise, whose buffers need {needed:,} bytes.",
            advice,
        )
    return _too_much(scratch, variable_bytes, local_bytes, "there is no room for them here")


def _too_much(scratch: int, variables: int, local: int, why: str) -> Failure:
    asked = (
        f"its scratch buffers need {scratch:,} bytes" if scratch else "",
        f"its __device__ variables take {variables:,} bytes" if variables else "",
        f"its threads' local arrays take {local:,} bytes" if local else "",
    )
    parts = " and ".join(part for part in asked if part)
    message = f"The submission asks for too much device memory: {parts}; {why}."
    return Failure(
        Status.LAUNCH_ERROR, message, advice=_ADVICE, cause=Cause(Obstacle.OUT_OF_MEMORY)
    )


def _scratch_bytes(buffers: Sequence[DeviceBuffer]) -> int:
    return sum(buffer.size_bytes for buffer in buffers if buffer.role is Role.SCRATCH)
