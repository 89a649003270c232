"""What a plan whose wall time is over is told: that it had not ended, or that its kernels had not
been translated."""

from __future__ import annotations

import time
from collections.abc import Sequence

from grader.records import (
    Failure,
    Finding,
    FindingKind,
    Launch,
    Progress,
    RunLimits,
    ShowProgress,
    Status,
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


def overdue_failure(
    launches: Sequence[Launch], limits: RunLimits, clock: TranslationClock
) -> Failure:
    """The failure of a plan that the emulated device had not run to its end: most of its time may
    have gone into making code."""
    return (
        _slow_translation_failure(launches, limits)
        if clock.prevails
        else wall_limit_failure(launches, limits)
    )


def _slow_translation_failure(launches: Sequence[Launch], limits: RunLimits) -> Failure:
    """The failure of a plan whose time went into making code of its kernels: the emulated device's
    limit, not a loop of theirs."""
    return Failure(
        status=Status.UNSUPPORTED,
        message=(
            "This takes too long to translate: the emulated device had not made code of the"
            f" kernels after {limits.wall_seconds:g} s, the time limit of this exercise."
        ),
        detail="\n".join(launch.text for launch in launches),
        advice=(
            "This is the grader's limit, not your mistake: grade it on a GPU, or let the kernel"
            " have less code (unroll less)."
        ),
    )


def wall_limit_failure(launches: Sequence[Launch], limits: RunLimits) -> Failure:
    """The failure of a plan that was still running when its wall time was over."""
    message = (
        f"The kernels had not ended after {limits.wall_seconds:g} s, the time limit of this"
        " exercise."
    )
    only = launches[0] if len(launches) == 1 else None
    return Failure(
        status=Status.TIMEOUT,
        message=message,
        detail="\n".join(launch.text for launch in launches),
        advice=(
            "Look for a loop whose end is never reached: does its counter advance, and towards the"
            " bound?"
        ),
        findings=(Finding(FindingKind.WALL_LIMIT, message, kernel=only.symbol if only else None),),
    )
