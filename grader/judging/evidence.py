"""What is judged: the job's facts, and what the runs of a submission gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.records import (
    CaseResult,
    DeviceInfo,
    Execution,
    Finding,
    MachineWork,
    Modelled,
    PartResult,
    Submission,
    Timing,
    Traffic,
)
from grader.spec.exercise import Exercise, Yardstick
from grader.spec.statements import Plan


@dataclass
class Subject:
    """What is graded, where, and with which seed. `device` is None until one is known;
    `environment` are the versions and facts that a score names, noted as they become known.
    `excluded` are metrics by which the instructor lets nothing be judged."""

    exercise: Exercise
    submission: Submission
    device: DeviceInfo | None
    environment: dict[str, str]
    seed: int
    excluded: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OtherCounts:
    """What one run of the baseline or the reference counted, or the `reason` why there is
    nothing."""

    execution: Execution | None = None
    reason: str = "it was not counted"


@dataclass(frozen=True)
class CountedRun:
    """A run of the submission whose counters are graded, and what others counted at the same
    sizes."""

    sizes: Mapping[str, int]
    execution: Execution
    others: Mapping[Yardstick, OtherCounts] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """What the checked mode says: `clean` is the fraction of the checked cases without a finding;
    None for `reason`.

    `races` has the first race of each case that had one, by the case's name.
    """

    clean: float | None = None
    findings: tuple[Finding, ...] = ()
    reason: str = "the cases did not run in the checked mode"
    races: Mapping[str, Finding] = field(default_factory=dict)


@dataclass
class Evidence:
    """What is known of a submission, filled in step by step: whatever ends a grading early, the
    score holds what is here by then.

    `plan` is the one that was run. `execution` is the run whose counters are graded, None for
    `missing_reason`, or while a case is wrong; a run that failed is no evidence but a failure.
    `lines_from` is the run whose lines are shown where that is another one: Nsight Compute counts
    none. `counted` are the runs that the emulated device counted, that of `execution` first;
    `others` are the counts of the programs that thresholds are relative to. `timings` may be
    missing, `untimed` says why then; `traffic` and `model` belong to the timed run. `machine` is
    there where it was asked for.
    """

    cases: tuple[CaseResult, ...] = ()
    parts: tuple[PartResult, ...] = ()
    checked: Checked = field(default_factory=Checked)
    plan: Plan | None = None
    execution: Execution | None = None
    missing_reason: str = "the benchmark did not run"
    lines_from: Execution | None = None
    counted: tuple[CountedRun, ...] = ()
    others: Mapping[Yardstick, OtherCounts] = field(default_factory=dict)
    timings: tuple[Timing, ...] = ()
    untimed: str = ""
    traffic: Traffic = field(default_factory=Traffic)
    model: tuple[Modelled, ...] = ()
    machine: MachineWork | None = None

    @property
    def all_right(self) -> bool:
        """Whether no case is wrong."""
        return all(case.passed for case in self.cases)
