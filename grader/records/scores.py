"""What a score holds: cases, metrics, checks, timings, lines, resources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.records.accesses import WarpAccess
from grader.records.counters import Counters
from grader.records.devices import DeviceInfo
from grader.records.grades import Marks
from grader.records.outcomes import Failure, Finding, Printed
from grader.records.runs import Modelled
from grader.records.sources import Source as Source
from grader.records.warp_cycles import MachineWork
from grader.records.what_if import WhatIf
from grader.statuses import CheckStatus, Status


@dataclass(frozen=True)
class Mismatch:
    """Where an output of a public case is wrong. `picture` is a small map of the matrix, a string
    per row of cells (see judging.compare).

    In scores of earlier versions hidden cases have one too, in which index and counts are None and
    the picture is empty.
    """

    buffer: str
    index: tuple[int, ...] | None
    expected: float
    got: float
    wrong_elements: int | None
    total_elements: int | None
    worst_error: float
    picture: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseResult:
    """One correctness case, of the exercise itself or of a `part`. The sizes of hidden cases are
    kept out of what students are shown.

    `printed` is what its launches printed. Of a hidden case there is no `printed`, no `worst_error`
    and no `mismatch`: a kernel could put its sizes there. `cause` is the key of what explains a
    wrong one (words.causes). `unverified` is the reason why it is unknown whether the outputs are
    right: such a case is neither passed nor wrong.
    """

    name: str
    hidden: bool
    sizes: dict[str, int]
    passed: bool
    message: str
    worst_error: float | None = None
    mismatch: Mismatch | None = None
    part: str | None = None
    printed: tuple[Printed, ...] = ()
    cause: str | None = None
    unverified: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the case was verified and failed."""
        return not self.passed and not self.unverified


@dataclass(frozen=True)
class PartResult:
    """How a part of an exercise went: its cases, and what ended it before the last one.

    `failure` is that of a plan that cannot be launched or did not run to its end; `absent` says why
    the file leaves the part out.
    """

    part: str
    cases: tuple[CaseResult, ...] = ()
    failure: Failure | None = None
    absent: str | None = None


@dataclass(frozen=True)
class MetricValue:
    """One metric of a score: `value` None comes with a `reason`; `name` is a key of
    `metrics.METRICS`.

    `interval` is where the true value lies as far as a measurement (judging.timing) or the model
    (judging.modelled) tells; None for what is counted. `sizes` are there where the timed run
    counted worse than the one for counting (judging.worse): its own. `unsure` is the reason why
    no goal within the interval is judged, empty where such a goal is passed.
    """

    name: str
    value: float | None
    unit: str
    source: Source | None
    reason: str | None = None
    interval: tuple[float, float] | None = None
    sizes: dict[str, int] | None = None
    unsure: str = ""


@dataclass(frozen=True)
class CountedAt:
    """What a run of the submission counted at these sizes: all blocks of its launches, or a sample
    whose counts stand for the others."""

    sizes: dict[str, int]
    blocks_run: int
    blocks: int
    metrics: dict[str, float | None]


@dataclass(frozen=True)
class CheckResult:
    """One check of the spec, judged. `threshold` is words and figure (`>= 0.8`); `hint` says what
    to try.

    `relative_value` is the other program's value that the threshold is a multiple of, where it is
    one and the value is known. `in_doubt`: it passed because its value cannot be told from the
    goal; `message` says so. `part` is the part of the exercise whose cases it judges.
    `pending_points`: of `max_points`, what this device could not judge.
    """

    name: str
    title: str
    status: CheckStatus
    points: float
    max_points: float
    metric: str
    value: float | None
    threshold: str
    unit: str
    source: Source | None
    message: str
    hint: str = ""
    headline: str | None = None
    bonus: bool = False
    relative_value: float | None = None
    in_doubt: bool = False
    part: str | None = None
    pending_points: float = 0.0

    @property
    def missing_points(self) -> float:
        """What it is worth to mend it."""
        return round(self.max_points - self.points - self.pending_points, 2)


@dataclass(frozen=True)
class Cause:
    """One reason for which points were lost. `key` stays the same whatever its words are, so that a
    class can be grouped by it; `points` is what it cost, `line` where it shows."""

    key: str
    text: str
    points: float
    line: int | None = None


ShowChecks = Callable[[Sequence[CheckResult]], None]


@dataclass(frozen=True)
class Timing:
    """Samples of one timed plan in milliseconds: `interval_ms` is a distribution-free interval of
    the median.

    A modelled plan has no samples: its interval is where the true time lies in nine of ten cases,
    and `kind` what kind of launch its longest one is (emulator.timing.kinds).
    """

    plan: str
    median_ms: float
    interval_ms: tuple[float, float]
    samples_ms: tuple[float, ...]
    kind: str | None = None


@dataclass(frozen=True)
class SourceLine:
    """Counters of one source line with the text that a student sees."""

    line: int | None
    text: str
    counters: Counters


@dataclass(frozen=True)
class Resources:
    """What one kernel of the plan uses: registers a thread, bytes a block (shared) and a thread
    (local)."""

    kernel: str
    registers: int
    shared_bytes: int
    local_bytes: int
    occupancy: float


@dataclass(frozen=True)
class Score:
    """The result of grading one submission: what the score JSON holds.

    `max_score` leaves out bonus checks and excluded ones; `judged_points` of it are decided.
    `line_sizes` are the exercise's sizes at which `lines` were counted; empty where nothing was.
    `causes` say why points were lost, the dearest first, and `why` does in one line; neither has
    figures of a run. `printed` is of the run that failed. `model` has an entry a launch that was
    modelled, `counted` one a run that counted. `machine` is what the machine code did, where that
    was asked for. `hidden_left_out`: it was graded by a students' copy of the exercise, and a
    course's grading adds hidden cases. `what_if` is None where no mends were asked for. `accesses`
    are the worst ones of source lines.
    """

    exercise: str
    submission_name: str
    submission_sha256: str
    status: Status
    message: str
    score: float
    max_score: float
    judged_points: float
    device: DeviceInfo | None
    checks: tuple[CheckResult, ...]
    metrics: tuple[MetricValue, ...]
    cases: tuple[CaseResult, ...]
    timings: tuple[Timing, ...]
    lines: tuple[SourceLine, ...]
    findings: tuple[Finding, ...]
    resources: tuple[Resources, ...]
    environment: dict[str, str]
    seed: int
    detail: str = ""
    advice: str = ""
    line_sizes: dict[str, int] = field(default_factory=dict)
    printed: tuple[Printed, ...] = ()
    model: tuple[Modelled, ...] = ()
    counted: tuple[CountedAt, ...] = ()
    causes: tuple[Cause, ...] = ()
    why: str = ""
    machine: MachineWork | None = None
    hidden_left_out: bool = False
    what_if: WhatIf | None = None
    accesses: tuple[WarpAccess, ...] = ()
    schema_version: int = field(default=1)

    @property
    def pending_points(self) -> float:
        """Of `max_score`, the points that this device could not judge."""
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
