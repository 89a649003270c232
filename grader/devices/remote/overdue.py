"""Why a plan's wall time is over: it had not ended, or its kernels had not been translated."""

from __future__ import annotations

import time
from collections.abc import Sequence

from grader.records import (
    Act,
    Faulted,
    Launch,
    NotTranslated,
    Observation,
    Progress,
    RunLimits,
    ShowProgress,
    Stop,
)


class TranslationClock:
    """Hands notes of progress on, and keeps in mind how long the worker has translated kernels."""

    def __init__(self, progress: ShowProgress | None) -> None:
        self._progress = progress
        self._began = time.monotonic()
        self._started: float | None = None
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """How long it has translated until now."""
        return self._seconds + (0.0 if self._started is None else time.monotonic() - self._started)

    @property
    def prevails(self) -> bool:
        """Whether it has translated for most of the time."""
        return self.seconds > (time.monotonic() - self._began) / 2

    def show(self, note: Progress) -> None:
        """Take a note."""
        self._seconds, self._started = self.seconds, time.monotonic() if note.translates else None
        if self._progress is not None:
            self._progress(note)


def find_why_overdue(
    launches: Sequence[Launch], limits: RunLimits, clock: TranslationClock
) -> Stop:
    """Why the emulated device had not run a plan to its end: most of its time may have gone into
    making code."""
    if clock.prevails:
        return NotTranslated(limits.wall_seconds, _quote(launches), limits.of_exercise)
    return wall_limit(launches, limits)


def wall_limit(launches: Sequence[Launch], limits: RunLimits) -> Faulted:
    """What stops a plan that was still running when its wall time was over."""
    kernel = launches[0].symbol if len(launches) == 1 else None
    seen = Observation(
        Act.TOO_LONG,
        kernel,
        limit_seconds=limits.wall_seconds,
        limit_of_exercise=limits.of_exercise,
    )
    return Faulted(seen, quoted=_quote(launches))


def _quote(launches: Sequence[Launch]) -> str:
    return "\n".join(launch.text for launch in launches)
