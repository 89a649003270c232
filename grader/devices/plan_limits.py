"""Limits of a plan: the memory that a submission requests in addition to the exercise's buffers,
and its time. Exceeding them is its mistake."""

from __future__ import annotations

from collections.abc import Sequence

from grader.errors import GraderError
from grader.records import (
    Act,
    DeviceBuffer,
    Faulted,
    Launch,
    LaunchLimits,
    Observation,
    OutOfMemory,
    Role,
    RunLimits,
)

EMULATED_OWN_BYTES = 2 << 30
"""Of scratch buffers and variables on the emulated device, which holds them in this machine's
memory, together with other gradings."""
SPARE_BYTES = 256 << 20
"""A submission that requests less than this is not at fault where memory runs out."""


def check_memory(
    buffers: Sequence[DeviceBuffer], variable_bytes: int, limits: LaunchLimits
) -> OutOfMemory | None:
    """The requests of a plan, where they exceed the device's memory; checked before any
    allocation."""
    scratch, most = scratch_bytes(buffers), limits.max_own_bytes
    if most is None or scratch + variable_bytes <= most:
        return None
    return OutOfMemory(scratch, variable_bytes, most_bytes=most)


def out_of_memory(
    buffers: Sequence[DeviceBuffer], variable_bytes: int, local_bytes: int
) -> OutOfMemory:
    """The requests of a run whose allocation failed. `local_bytes`: local arrays of all threads
    that run at the same time.

    Raises GraderError where the submission itself requests little.
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
    """The size of the submission's own buffers together."""
    return sum(buffer.size_bytes for buffer in buffers if buffer.role is Role.SCRATCH)


def out_of_time(
    launches: Sequence[Launch], limits: RunLimits, *, of_processor: bool = False
) -> Faulted:
    """The stop of a plan that exceeded its wall time or its processor time."""
    kernel = launches[0].symbol if len(launches) == 1 else None
    seen = Observation(
        Act.TOO_LONG,
        kernel,
        limit_seconds=limits.processor_seconds if of_processor else limits.wall_seconds,
        of_processor=of_processor,
        limit_of_exercise=limits.of_exercise,
    )
    return Faulted(seen, quoted="\n".join(launch.text for launch in launches))
