"""Evidence for the judgement: the facts of the job, and the results of a submission's runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.records import (
    CaseResult,
    DeviceInfo,
    Execution,
    Finding,
    MachineWork,
    MeasuredProgram,
    Modelled,
    PartResult,
    Submission,
    Timing,
    Traffic,
    WrittenPrediction,
)
from grader.records.programs import HostMistake
from grader.spec.exercise import ComparedWith, Exercise
from grader.spec.statements import Plan


@dataclass
class Subject:
    """The graded submission, its exercise, the device and the seed. `device` is None until it is
    known; `environment` are the versions and facts for the score, added as they become known.
    `excluded` are the metrics that an option excludes from judgement; `predictions` are those
    of the submission."""

    exercise: Exercise
    submission: Submission
    device: DeviceInfo | None
    environment: dict[str, str]
    seed: int
    excluded: frozenset[str] = frozenset()
    predictions: tuple[WrittenPrediction, ...] = ()


@dataclass(frozen=True)
class OtherCounts:
    """The counts of a run of the baseline or the reference, or the `reason` why there are none."""

    execution: Execution | None = None
    reason: str = "it was not counted"


@dataclass(frozen=True)
class CountedRun:
    """A run of the submission whose counters are graded, and the counts of other programs at the
    same sizes."""

    sizes: Mapping[str, int]
    execution: Execution
    others: Mapping[ComparedWith, OtherCounts] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """Results of the checked mode: `clean` is the fraction of the checked cases without a finding;
    it is None for `reason`.

    `races` has the first race of each case that had one, by the case's name.
    """

    clean: float | None = None
    findings: tuple[Finding, ...] = ()
    reason: str = "the cases did not run in the checked mode"
    races: Mapping[str, Finding] = field(default_factory=dict)


@dataclass
class Evidence:
    """The results for a submission, filled in step by step: a score contains the results so far,
    also if the grading ends early.

    `plan` is the executed plan. `execution` is the run whose counters are graded; it is None for
    `missing_reason`, or while a case is wrong; a failed run is a failure instead of evidence.
    `lines_from` is the run whose lines are shown, if it is another run: Nsight Compute does not
    count lines. `counted` are the runs that the emulated device counted, the run of `execution`
    first; `others` are the counts of the programs that thresholds are relative to. Without
    `timings`, `untimed` is the reason; `traffic` and `model` belong to the timed run. `machine`
    exists on request. `measured` and `host_mistakes` are those of a whole program.
    """

    cases: tuple[CaseResult, ...] = ()
    parts: tuple[PartResult, ...] = ()
    checked: Checked = field(default_factory=Checked)
    plan: Plan | None = None
    execution: Execution | None = None
    missing_reason: str = "the benchmark did not run"
    lines_from: Execution | None = None
    counted: tuple[CountedRun, ...] = ()
    others: Mapping[ComparedWith, OtherCounts] = field(default_factory=dict)
    timings: tuple[Timing, ...] = ()
    untimed: str = ""
    traffic: Traffic = field(default_factory=Traffic)
    model: tuple[Modelled, ...] = ()
    machine: MachineWork | None = None
    measured: MeasuredProgram | None = None
    host_mistakes: tuple[HostMistake, ...] = ()

    @property
    def all_right(self) -> bool:
        """Whether no case is wrong."""
        return all(case.passed for case in self.cases)
