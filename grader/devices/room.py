"""The memory that a submission asks for beside the exercise's own buffers: what it cannot have is
its mistake."""

from __future__ import annotations

from collections.abc import Sequence

from grader.errors import GraderError
from grader.records import DeviceBuffer, LaunchLimits, OutOfMemory, Role

EMULATED_OWN_BYTES = 2 << 30
"""Of scratch buffers and variables on the emulated device, which holds them in this machine's
memory, side by side with others."""
SPARE_BYTES = 256 << 20
"""Who asks for less than this is not to blame where memory runs out."""


def check_room(
    buffers: Sequence[DeviceBuffer], variable_bytes: int, limits: LaunchLimits
) -> OutOfMemory | None:
    """What a plan asks for, where that is more than a device has; before anything is allocated."""
    scratch, most = scratch_bytes(buffers), limits.max_own_bytes
    if most is None or scratch + variable_bytes <= most:
        return None
    return OutOfMemory(scratch, variable_bytes, most_bytes=most)


def out_of_memory(
    buffers: Sequence[DeviceBuffer], variable_bytes: int, local_bytes: int
) -> OutOfMemory:
    """What a run asked for that got no memory. `local_bytes`: of local arrays, of all threads that
    run side by side.

    Raises GraderError where the submission itself asks for little.
    """
    scratch = scratch_bytes(buffers)
    if scratch + variable_bytes + local_bytes < SPARE_BYTES:
        needed = sum(buffer.size_bytes for buffer in buffers)
        advice = "Let fewer gradings run side by side (--jobs), or use a larger machine."
        raise GraderError(
            f"This machine has no room for the buffers, which need {needed:,} bytes.",
            advice,
        )
    return OutOfMemory(scratch, variable_bytes, local_bytes)


def scratch_bytes(buffers: Sequence[DeviceBuffer]) -> int:
    """What the submission's own buffers take together."""
    return sum(buffer.size_bytes for buffer in buffers if buffer.role is Role.SCRATCH)
