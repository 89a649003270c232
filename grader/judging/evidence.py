"""What a grading has found so far: all that a score says beside the exercise and the submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.judging.values import CountedRun, OtherCounts, Sanitized
from grader.records import (
    CaseResult,
    DeviceInfo,
    Execution,
    Modelled,
    PartResult,
    Timing,
    Traffic,
)
from grader.spec.exercise import Yardstick


@dataclass
class Evidence:
    """Filled in step by step; whatever ends a grading early, the score holds what is here by then.

    `device` is None until it is known: a GPU is, once its worker has started. `execution` is the
    run whose counters are graded, None for `missing_reason`; `lines_from` is the run whose lines
    are shown, where that is another one (Nsight Compute counts none). `counted` are the runs that
    the emulated device counted, that of `execution` first. `untimed` says why there is no time.
    """

    seed: int
    environment: dict[str, str]
    device: DeviceInfo | None = None
    cases: list[CaseResult] = field(default_factory=list)
    timings: tuple[Timing, ...] = ()
    untimed: str = ""
    execution: Execution | None = None
    missing_reason: str = "the benchmark did not run"
    lines_from: Execution | None = None
    traffic: Traffic = field(default_factory=Traffic)
    counted: tuple[CountedRun, ...] = ()
    other_counts: Mapping[Yardstick, OtherCounts] = field(default_factory=dict)
    model: tuple[Modelled, ...] = ()
    sanitized: Sanitized = field(default_factory=Sanitized)
    parts: tuple[PartResult, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether all cases so far passed."""
        return all(case.passed for case in self.cases)
