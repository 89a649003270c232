"""A graded class: the results of a batch."""

from __future__ import annotations

from dataclasses import dataclass

from grader.records.grades import Marks, PendingRule
from grader.records.scores import Cause
from grader.statuses import CheckStatus, Status

MOODLE_COLUMNS = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum Grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)
"""Of Moodle's offline grading worksheet, in English."""


@dataclass(frozen=True)
class BatchExercise:
    """An exercise of a batch. `max_score` leaves bonus points out."""

    id: str
    title: str
    max_score: float


@dataclass(frozen=True)
class EntryCheck:
    """A check of a score, by the name that the handout gives it."""

    name: str
    status: CheckStatus
    points: float
    max_points: float
    bonus: bool = False

    @property
    def earned(self) -> float | None:
        """The points as a table gives them; None where this device could not judge the check."""
        return self.points if self.status.has_points else None


@dataclass(frozen=True)
class Lateness:
    """How late a submission is, and what that costs. Times have their offsets.

    `due` is for this student, later than for others where it was `extended`. `submitted` is None
    where no time is known, and `source` says by what it is known how late it is; empty: it is not.
    `days` are those begun since it was due, 0 on time, None unknown. `percent` and `penalty`, in
    points, are None where they cannot be told.
    """

    due: str
    submitted: str | None
    source: str
    extended: bool
    days: int | None
    percent: float | None
    penalty: float | None


@dataclass(frozen=True)
class LateRules:
    """The rules by which late work was judged (batch.late_policy)."""

    percent_per_day: float
    percent_of: str
    cap_percent: float
    grace_minutes: float
    timezone: str
    unknown_percent: float | None = None


@dataclass(frozen=True)
class BatchEntry:
    """What became of one student's submission to one exercise. All texts may be hostile: names and
    messages are the students'.

    `status` None: it was not graded, and `message` says why (no file, several files, the batch was
    interrupted); `score`, `judged_points`, `seconds`, `device` and `score_path` are None then.
    `submission` is the file's name, None without a file. `student_id` is what the platform that
    exported the file calls the student or the submission (`platform`: `canvas`, `moodle`,
    `gradescope`). `score_path` and `source_path` (the file as it was handed in) are relative to the
    batch's folder. `duplicate_of` is the student whose identical file was graded for both.
    `handed_in_as` is the name that the platform gave to what it exported: of the file (Canvas), or
    of the student's folder (Moodle). `why` says in a line why points were lost, `causes` for what,
    and `checks` are those of the score. `marked_late` is Canvas's mark, `submitted` the time in the
    platform's export, `file_time` the file's own; `late` is there where a policy was applied.
    `total_points` are those of the checks that are not excluded, None in summaries of earlier
    versions; `pending_rule` is the instructor's decision on pending points.
    """

    student: str
    exercise: str
    submission: str | None
    sha256: str | None
    status: Status | None
    score: float | None
    max_score: float
    judged_points: float | None
    seconds: float | None
    device: str | None
    score_path: str | None
    duplicate_of: str | None
    message: str
    source_path: str | None = None
    student_id: str | None = None
    platform: str | None = None
    handed_in_as: str | None = None
    why: str = ""
    causes: tuple[Cause, ...] = ()
    checks: tuple[EntryCheck, ...] = ()
    marked_late: bool = False
    submitted: str | None = None
    file_time: str | None = None
    late: Lateness | None = None
    total_points: float | None = None
    pending_rule: PendingRule | None = None

    @property
    def marks(self) -> Marks | None:
        """The points of the score, None where none follow from the grading."""
        if self.score is None or self.judged_points is None or self.status is None:
            return None
        if not self.status.has_points:
            return None
        bonus = sum(check.points for check in self.checks if check.bonus)
        total = self.max_score if self.total_points is None else self.total_points
        return Marks(self.score - bonus, bonus, self.judged_points, total, self.max_score)

    @property
    def points(self) -> float | None:
        """The grade before what late work costs, out of `max_score`: None, and an empty cell in
        every table, where there is no final one."""
        return None if self.marks is None else self.marks.grade(self.pending_rule)

    @property
    def final(self) -> float | None:
        """The points less what late work costs: what a gradebook takes. None where there are no
        points, or where it cannot be told how late it was."""
        if self.late is None or self.points is None:
            return self.points
        return None if self.late.penalty is None else round(self.points - self.late.penalty, 2)

    @property
    def reason(self) -> str:
        """Why it is not graded, or did not get full marks: what ended the grading, or the causes;
        empty for full marks."""
        return self.message if self.status is None or self.status.ended_early else self.why


@dataclass(frozen=True)
class BatchSummary:
    """A batch as far as it went. `started` and `finished` are ISO 8601 times of the last run,
    `device` is as the user asked for it.

    `entries` are ordered by student, then as the exercises are. The scores themselves are the JSON
    files at `score_path`.
    """

    exercises: tuple[BatchExercise, ...]
    entries: tuple[BatchEntry, ...]
    started: str
    finished: str
    grader_version: str
    device: str
    schema_version: int = 1
    late_rules: LateRules | None = None


@dataclass(frozen=True)
class BatchProgress:
    """The progress of a batch, in submissions. `reused`: known from an earlier run; `failed`: the
    grader or the machine failed.

    `running` names the students whose submissions are being graded, None where that did not change;
    `finished` has a line for each grading that just ended. `rate` is in gradings per second,
    `seconds_left` the remaining time at that rate; None while unknown.
    """

    done: int
    total: int
    reused: int
    failed: int
    running: tuple[str, ...] | None
    finished: tuple[str, ...]
    rate: float | None
    seconds_left: float | None
