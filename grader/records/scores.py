"""The records of a score: cases, metrics, checks, timings, lines, resources.

The text below a field is its description in grader/schemas/score.schema.json.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from grader.records.accesses import WarpAccess
from grader.records.bounds import (
    LATER,
    ON_REQUEST,
    Amount,
    Count,
    Figure,
    Fraction,
    LineNumber,
    MetricName,
    Named,
    Positive,
)
from grader.records.counters import Counters
from grader.records.devices import DeviceInfo
from grader.records.devices import Source as Source
from grader.records.grades import Marks
from grader.records.outcomes import Failure, Finding, Printed
from grader.records.predictions import Prediction
from grader.records.programs import HostMistake
from grader.records.runs import Modelled
from grader.records.warp_cycles import MachineWork
from grader.records.what_if import WhatIf
from grader.statuses import CheckStatus, Status

PrintedTexts = Annotated[tuple[Printed, ...], ("maxItems", 4)]
"""Output of the submission's `printf`: untrusted text, to be escaped where it is shown."""
Picture = Annotated[
    tuple[Annotated[str, ("pattern", "^[·▒█?]{1,16}$")], ...],
    ("maxItems", 8),
]
CauseKey = Annotated[str, ("pattern", "^[a-z0-9_.]+$")]


@dataclass(frozen=True)
class Mismatch:
    """Where an output of a case is wrong."""

    buffer: str
    index: tuple[Count, ...] | None
    """The first wrong element, row-major; null for a hidden case."""
    expected: Figure
    got: Figure
    wrong_elements: Count | None
    """null for a hidden case."""
    total_elements: Count | None
    """null for a hidden case."""
    worst_error: Figure
    picture: Picture = ()
    """A map of the matrix, empty for a hidden case. Cells: · right, ▒ some wrong, █ all wrong,
    ? never written."""


@dataclass(frozen=True)
class CaseResult:
    """A correctness case. Of a hidden case the score has no sizes, no `printed`, no `worst_error`
    and no `mismatch`: a kernel could put the sizes there."""

    name: Named
    hidden: bool
    sizes: dict[str, Count]
    """null for a hidden case."""
    passed: bool
    message: str
    worst_error: Figure | None = None
    """Largest |got - expected| over the elements where both are finite; Infinity when elements are
    wrong and none of them is finite. null for a hidden case."""
    mismatch: Mismatch | None = None
    """null for a hidden case."""
    part: str | None = None
    """The part of the exercise that the case belongs to; null for the exercise itself."""
    printed: PrintedTexts = ()
    """Output of `printf` in its launches; empty for a hidden case."""
    cause: Annotated[str | None, LATER] = None
    """The key of the cause that explains a wrong case; see causes."""
    unverified: Annotated[str, LATER] = ""
    """Why it is unknown whether the outputs are right; empty where that is known. Such a case is
    neither passed nor wrong."""

    @property
    def is_wrong(self) -> bool:
        """Whether the case was verified and failed."""
        return not self.passed and not self.unverified


@dataclass(frozen=True)
class PartResult:
    """The cases of a part of an exercise.

    `failure` is set where the part's plan cannot be launched or did not run to its end; `absent` is
    the reason why the file leaves the part out.
    """

    part: str
    cases: tuple[CaseResult, ...] = ()
    failure: Failure | None = None
    absent: str | None = None


@dataclass(frozen=True)
class MetricValue:
    """A value with its unit and source, or the reason why there is none.

    `name` is a key of `metrics.METRICS`. `sizes` are those of the timed run where it counted worse
    than the run for counting (judging.worse). `unsure` is the reason why no goal within the
    interval is judged, empty where such a goal is passed.
    """

    name: str
    value: float | None
    unit: str
    """Empty for counts and fractions."""
    source: Source | None
    reason: str | None = None
    """Why the value is null."""
    interval: tuple[float, float] | None = None
    """Of a measured value: it contains the true median with a confidence of 99 %, repeated tests
    included. Of a modelled value: it contains the true value in nine of ten cases. Else null."""
    sizes: dict[str, int] | None = None
    unsure: str = ""


@dataclass(frozen=True)
class CountedAt:
    """The counts of a run on the emulated device."""

    sizes: dict[str, int]
    blocks_run: Count
    blocks: Count
    """Of all launches; where fewer were run, the counts of a sample stand for the others."""
    metrics: dict[MetricName, float | None]


@dataclass(frozen=True)
class CheckResult:
    """A check of the exercise, judged, in the order of the report."""

    name: Named
    title: Named
    status: CheckStatus
    points: Amount
    max_points: Amount
    metric: MetricName
    value: float | None
    threshold: str
    """The goal in words and figures: `>= 80 %`, `== 0`."""
    unit: str
    source: Source | None
    message: str
    """Value and goal, or why there is no value."""
    hint: str = ""
    """Evidence from the counters, and the next step; empty where no points were lost."""
    headline: str | None = None
    """Label of the line at the top of the report that the handout promises, if it does."""
    bonus: bool = False
    """Its points come on top of max_score, and its status does not change the score's."""
    relative_value: float | None = None
    """Where the goal is a multiple of another program's value of the metric: that value, if it is
    known; else null."""
    in_doubt: bool = False
    """It passed although the goal lies inside the interval of its value, measured or modelled; the
    message states this."""
    part: Annotated[str | None, LATER] = None
    """The part of the exercise whose cases it judges; null for the exercise itself."""
    pending_points: Annotated[Amount, LATER] = 0.0
    """Of max_points, the points that this device could not judge; 0 of a bonus check."""
    cost_points: Annotated[Amount, LATER] = 0.0
    """The points that the mistake costs: the lost points of this check, and the points of the
    checks that were skipped because this check failed; 0 if it lost none."""
    action: Annotated[str, LATER] = ""
    """The next step in the hint, with its line."""
    refers_to: Annotated[str | None, LATER] = None
    """The label of the check to whose hint the hint refers; null where it refers to none."""

    @property
    def missing_points(self) -> float:
        """Points that a fix can earn."""
        return round(self.max_points - self.points - self.pending_points, 2)


@dataclass(frozen=True)
class Cause:
    """A reason why points were lost."""

    key: CauseKey
    """The same for the same reason, whatever the text is, so that a class can be grouped by it."""
    text: str
    points: Amount
    """Points that it cost, including those of skipped checks that wait for it."""
    line: Annotated[int | None, ("minimum", 1)] = None
    """The line of the source where it shows."""


ShowChecks = Callable[[Sequence[CheckResult]], None]


@dataclass(frozen=True)
class Timing:
    """Times of a program, measured or modelled."""

    plan: str
    """submission, naive (the baseline of the grader's starter), reference (the hidden solution), or
    the name of a comparison of the spec."""
    median_ms: Positive
    interval_ms: tuple[float, float]
    """A distribution-free interval of the median, with a confidence of 99 %, repeated tests
    included. Of a modelled time: it contains the true time in nine of ten cases."""
    samples_ms: tuple[float, ...]
    """In the order of the rounds: the n-th sample of each plan is of round n. Empty where the time
    is modelled."""
    kind: Annotated[str | None, LATER] = None
    """The kind of the longest launch of a modelled plan: the width of the interval depends on it
    (docs/timing-model.md). null where the time was measured."""


@dataclass(frozen=True)
class SourceLine:
    """A line of the submission with its counters."""

    line: LineNumber
    text: str
    counters: Counters


@dataclass(frozen=True)
class Resources:
    """Resources of a launch."""

    kernel: str
    registers: Count
    """Per thread."""
    shared_bytes: Count
    """Per block, static and dynamic."""
    local_bytes: Count
    """Per thread."""
    occupancy: Fraction


@dataclass(frozen=True)
class Score:
    """The result of grading a submission on a device. A figure that is not available is null
    with a reason."""

    exercise: Named
    """Folder name of the exercise."""
    submission_name: str
    """File name as it was handed in."""
    submission_sha256: str
    """SHA-256 of the file's bytes."""
    status: Status
    message: str
    """A sentence: the points, or the reason why the grading ended early."""
    score: Amount
    """Points earned, bonus checks included. Pending points are not earned."""
    max_score: Amount
    """Points of all checks that are neither bonus checks nor excluded."""
    judged_points: Amount
    """Of max_score, the points that are decided: earned or lost. max_score - pending_points."""
    device: DeviceInfo | None
    checks: tuple[CheckResult, ...]
    metrics: tuple[MetricValue, ...]
    """Every metric that the grader knows, by name."""
    cases: tuple[CaseResult, ...]
    timings: tuple[Timing, ...]
    lines: tuple[SourceLine, ...]
    """Counters of each source line that has any over all launches, in the file's order; or, of a
    failed run, the lines that findings name."""
    findings: tuple[Finding, ...]
    resources: tuple[Resources, ...]
    """An entry for each launch of the plan, in order."""
    environment: dict[str, str]
    """Versions of the software that made the score (`nvcc`: `13.0.88`); on a GPU also its clocks
    during the timing, the bandwidth of the grader's copy kernels, and the source of the
    counters."""
    seed: int
    """The inputs and the hidden cases were drawn from it."""
    detail: str = ""
    """A tool's output (the compiler's, for example), verbatim; empty when there is none."""
    advice: str = ""
    """The next step after a failure; empty when it was graded."""
    line_sizes: dict[str, Count] = field(default_factory=dict)
    """The exercise's sizes at which the lines were counted, on the emulated device; empty where
    nothing was counted."""
    printed: PrintedTexts = ()
    """Output of `printf` in the run that failed."""
    model: Annotated[tuple[Modelled, ...], LATER] = ()
    """The modelled time of each launch of the plan, in order; empty where nothing was modelled."""
    counted: Annotated[tuple[CountedAt, ...], LATER] = ()
    """Counts of the emulated device, run by run: at the sizes for counting, and at the timed sizes.
    The checks judge the worse."""
    causes: Annotated[tuple[Cause, ...], LATER] = ()
    """Why points were lost, the most expensive reason first. They contain no figures of a run."""
    why: Annotated[str, LATER] = ""
    """The causes in one line; empty where no points were lost."""
    machine: Annotated[MachineWork | None, ON_REQUEST] = None
    """Where the modelled cycles of warps go; only on request (--annotate, --html, --sass,
    --trace)."""
    hidden_left_out: Annotated[bool, LATER] = False
    """It was graded by a students' copy of the exercise: a course's grading adds hidden cases."""
    what_if: Annotated[WhatIf | None, ON_REQUEST] = None
    """The effects of fixes of the submission; only on request, where the exercise shows them. They
    change no points."""
    predictions: Annotated[tuple[Prediction, ...], LATER] = ()
    """The exercise's questions first, then the submission's other predictions."""
    host_findings: Annotated[tuple[HostMistake, ...], LATER] = ()
    """Mistakes in the host code of a program, each kind once per place; empty for an exercise of
    kernels."""
    accesses: Annotated[tuple[WarpAccess, ...], LATER] = ()
    """Of each source line that wastes something, and each way of accessing memory there, the one
    access of a warp that cost most beyond its need, with its addresses, as the emulated device
    executed it at line_sizes: pictures are drawn from it. Nothing of hidden cases."""
    schema_version: Annotated[int, ("const", 1)] = 1

    @property
    def pending_points(self) -> float:
        """Of max_score, the points that this device could not judge: those of checks that are
        not_measured, and partial credit that a wide interval leaves open. A score with pending
        points has no final grade."""
        return self.marks.pending

    @property
    def marks(self) -> Marks:
        """Its points, for a grade."""
        bonus = sum(check.points for check in self.checks if check.bonus)
        full = sum(check.max_points for check in self.checks if not check.bonus)
        return Marks(self.score - bonus, bonus, self.judged_points, self.max_score, full)

    @property
    def exit_code(self) -> int:
        """Exit code of `grade` for this score."""
        return self.status.exit_code
