"""The end of a plan that exceeds its time limit."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Act, Faulted, Launch, Observation, RunLimits


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
