"""One grading: what it is about, and what every step of it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.choose import Choice
from grader.judging.evidence import Evidence, Subject
from grader.judging.score import failed_score
from grader.records import (
    CaseResult,
    DeviceInfo,
    Failure,
    RunLimits,
    Score,
    ShowProgress,
    Submission,
    Timing,
)
from grader.spec.exercise import Exercise


@dataclass(frozen=True)
class Job:
    """A submission that is being graded. `device` is None until it is known: a GPU is, once its
    worker has started.

    `spent_seconds`: of a case's wall time, what an earlier run of it took. `hold` gives the device
    to this grading alone for a while: for what runs on it, not for what compiles, emulates and
    judges.
    """

    exercise: Exercise
    submission: Submission
    choice: Choice
    device: DeviceInfo | None
    seed: int
    cache: Path
    show: ShowProgress
    environment: Mapping[str, str]
    isolated: bool = True
    model: bool = True
    hold: Callable[[], AbstractContextManager[None]] = nullcontext
    spent_seconds: float = 0.0

    @property
    def limits(self) -> RunLimits:
        """What one run of the plan may use."""
        limits = self.exercise.limits
        return RunLimits(
            limits.warp_instructions, limits.wall_seconds, spent_seconds=self.spent_seconds
        )

    @property
    def info(self) -> DeviceInfo:
        """The device, once it is known."""
        assert self.device is not None
        return self.device

    @property
    def subject(self) -> Subject:
        """What a score says of the job."""
        return Subject(self.exercise, self.submission, self.device, self.environment, self.seed)

    def noting(self, facts: Mapping[str, str]) -> Job:
        """The same job with more in the score's `environment`."""
        return replace(self, environment={**self.environment, **facts})

    def fail(
        self, failure: Failure, cases: Sequence[CaseResult] = (), timings: Sequence[Timing] = ()
    ) -> Score:
        """The score of a submission that a failure ended."""
        evidence = Evidence(cases=tuple(cases), timings=tuple(timings))
        return failed_score(self.subject, failure, evidence)
