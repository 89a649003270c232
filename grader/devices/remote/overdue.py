"""A plan's wall time is over."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Act, Faulted, Launch, Observation, RunLimits


def wall_limit(launches: Sequence[Launch], limits: RunLimits) -> Faulted:
    """What stops a plan that was still running when its wall time was over."""
    kernel = launches[0].symbol if len(launches) == 1 else None
    seen = Observation(
        Act.TOO_LONG,
        kernel,
        limit_seconds=limits.wall_seconds,
        limit_of_exercise=limits.of_exercise,
    )
    return Faulted(seen, quoted="\n".join(launch.text for launch in launches))
