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
class BatchEntry:
    """The result of a student's submission to an exercise. All texts may be hostile: names and
    messages are the students'.

    `status` is None for a submission that was not graded; `message` then has the reason (no file,
    several files, the batch was interrupted), and `score`, `judged_points`, `seconds`, `device` and
    `score_path` are None. `submission`: the file's name, None without a file. `student_id`: the
    id of the student or the submission on the `platform` (`canvas`, `moodle`, `gradescope`).
    `score_path` and `source_path` (the file as handed in) are relative to the folder of the batch.
    `duplicate_of`: the student whose identical file was graded for both. `handed_in_as`: the name
    in the platform's export, of the file (Canvas) or of the student's folder (Moodle). `why`: a
    line with the reasons of lost points; `causes`: the same as records. `total_points`: the points
    of all checks that are not excluded, None in summaries of earlier versions. `pending_rule`: the
    instructor's decision on pending points.
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
        """The grade out of `max_score`. None, and an empty cell in every table, without a final
        grade."""
        return None if self.marks is None else self.marks.grade(self.pending_rule)

    @property
    def reason(self) -> str:
        """The reason for no grade or for lost points; empty for full marks."""
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


@dataclass(frozen=True)
class BatchProgress:
    """The progress of a batch, in submissions. `failed`: the grader or the machine failed.

    `running` names the students whose submissions are being graded, None where that did not change;
    `finished` has a line for each grading that just ended. `rate` is in gradings per second,
    `seconds_left` the remaining time at that rate; None while unknown.
    """

    done: int
    total: int
    failed: int
    running: tuple[str, ...] | None
    finished: tuple[str, ...]
    rate: float | None
    seconds_left: float | None
