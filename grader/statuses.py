"""Statuses of gradings and checks: a row for each, with its cause and all of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Doing(StrEnum):
    """The cause of a grading's end: the student, the device, or the grader and the machine (OURS),
    where another try may end better."""

    STUDENT = "student"
    DEVICE = "device"
    OURS = "ours"


class Badge(StrEnum):
    """The colour of a status on a page, by its class in the style sheet."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    NONE = "none"


class Status(StrEnum):
    """The status of a submission's grading. The student's faults and the grader's faults never have
    the same status."""

    PASSED = "passed"
    FAILED = "failed"
    COMPILE_ERROR = "compile_error"
    LAUNCH_ERROR = "launch_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"
    INCONCLUSIVE = "inconclusive"
    GRADER_ERROR = "grader_error"

    @property
    def row(self) -> StatusRow:
        return STATUSES[self]

    @property
    def has_points(self) -> bool:
        """Whether points follow from it, final or not (records.grades). Otherwise no gradebook and
        no table may show a zero, because it is not the student's fault."""
        return self.row.doing is Doing.STUDENT or not self.ended_early

    @property
    def is_worth_a_retry(self) -> bool:
        """Whether the grader or the machine failed: another try may end better."""
        return self.row.doing is Doing.OURS

    @property
    def ended_early(self) -> bool:
        """Whether something ended the grading before all checks were judged."""
        return self not in (Status.PASSED, Status.FAILED, Status.INCONCLUSIVE)

    @property
    def exit_code(self) -> int:
        """Exit code of `grade`: 0 full marks, 1 no full marks or points that are pending, 3 the
        grader's or the machine's fault."""
        if self.is_worth_a_retry:
            return 3
        return 0 if self is Status.PASSED else 1


@dataclass(frozen=True)
class StatusRow:
    """A status of a grading.

    `meaning` is for the documentation. `word` is its name in a table, `title` its heading above a
    failure, `clause` a clause about the submission ("it does not compile"). `badge` is its colour
    on a page, `style` its style in a table on a terminal. `unseen` and `unseen_advice` are the
    whole message for a failure in a hidden case without further facts.
    """

    doing: Doing
    meaning: str
    word: str
    badge: Badge
    style: str = ""
    title: str = ""
    clause: str = ""
    unseen: str = ""
    unseen_advice: str = ""


GRADE_AGAIN = (
    "This is not the submission's fault: grade it again, and report it with the score's seed if it"
    " happens again."
)

STATUSES: Mapping[Status, StatusRow] = {
    Status.PASSED: StatusRow(
        Doing.STUDENT,
        "Every check passed, and none is pending.",
        "full marks",
        Badge.PASSED,
        style="green",
    ),
    Status.FAILED: StatusRow(
        Doing.STUDENT, "It was graded, but did not get full marks.", "points lost", Badge.PARTIAL
    ),
    Status.COMPILE_ERROR: StatusRow(
        Doing.STUDENT,
        "It does not compile, or is empty.",
        "compile error",
        Badge.FAILED,
        title="Compile error",
        clause="it does not compile",
    ),
    Status.LAUNCH_ERROR: StatusRow(
        Doing.STUDENT,
        "A launch line is wrong, or requests more than any launch can have.",
        "launch error",
        Badge.FAILED,
        title="Launch error",
        clause="it cannot be launched",
        unseen="the launch plan does not hold at the sizes of this case",
        unseen_advice=(
            "Work the launch line through for one row, one column, a prime and a large size."
        ),
    ),
    Status.RUNTIME_ERROR: StatusRow(
        Doing.STUDENT,
        "A kernel had a fault while it ran: an access outside of a buffer, a trap, a barrier that"
        " some threads skip.",
        "runtime error",
        Badge.FAILED,
        title="Runtime error",
        clause="it does not run to its end",
        unseen="a kernel did not end well",
    ),
    Status.TIMEOUT: StatusRow(
        Doing.STUDENT,
        "The compiler or a kernel took longer than its limit.",
        "timeout",
        Badge.FAILED,
        title="Timeout",
        clause="it does not end in time",
        unseen="the kernels did not end in time",
    ),
    Status.REJECTED: StatusRow(
        Doing.STUDENT,
        "It contains a use that the exercise forbids, includes a file that it may not read, or"
        " takes less time than the hardware allows.",
        "rejected",
        Badge.FAILED,
        style="red",
        title="Rejected",
        clause="it was rejected",
        unseen="the submission was rejected",
    ),
    Status.UNSUPPORTED: StatusRow(
        Doing.DEVICE,
        "The emulated device does not know an instruction; a GPU may run it.",
        "not supported",
        Badge.NONE,
        title="Not supported by this device",
        clause="this device cannot run it",
        unseen="the emulated device does not know what a kernel does there",
        unseen_advice=(
            "This is the grader's limit, not your mistake: grade it on a GPU, or write the line"
            " another way."
        ),
    ),
    Status.INCONCLUSIVE: StatusRow(
        Doing.DEVICE,
        "No check failed, and this device could not judge all of them: points are pending.",
        "inconclusive",
        Badge.NONE,
    ),
    Status.GRADER_ERROR: StatusRow(
        Doing.OURS,
        "The grader or the machine failed, or disturbed every measurement.",
        "grader failed",
        Badge.NONE,
        style="bold red",
        title="The grader failed",
        clause="the grader failed",
        unseen="the grader failed",
        unseen_advice=GRADE_AGAIN,
    ),
}


class CheckStatus(StrEnum):
    """The status of a check. `skipped`: a prerequisite failed, the points are lost; `not_measured`:
    this device cannot judge it, the points are pending; `excluded`: an option or the spec disables
    it, its points are not in the total."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_MEASURED = "not_measured"
    EXCLUDED = "excluded"

    @property
    def row(self) -> CheckRow:
        return CHECK_STATUSES[self]

    @property
    def is_verdict(self) -> bool:
        """Whether the check was judged by its value."""
        return self.has_points and self is not CheckStatus.SKIPPED

    @property
    def has_points(self) -> bool:
        """Whether its points are decided: earned or lost."""
        return self not in (CheckStatus.NOT_MEASURED, CheckStatus.EXCLUDED)

    @property
    def lost_points(self) -> bool:
        """Whether the check was judged and lost points: a hint has a next step."""
        return self in (CheckStatus.FAILED, CheckStatus.PARTIAL)


@dataclass(frozen=True)
class CheckRow:
    """A status of a check: its word and glyph, its style on a terminal, its colour on a page, and
    its meaning for the documentation."""

    word: str
    glyph: str
    style: str
    badge: Badge
    meaning: str


CHECK_STATUSES: Mapping[CheckStatus, CheckRow] = {
    CheckStatus.PASSED: CheckRow(
        "passed",
        "✓",
        "green",
        Badge.PASSED,
        "The value reaches the goal, or the goal lies within the interval of the value.",
    ),
    CheckStatus.PARTIAL: CheckRow(
        "partial", "~", "yellow", Badge.PARTIAL, "At least 1 % of the points, not all of them."
    ),
    CheckStatus.FAILED: CheckRow(
        "failed", "✗", "red", Badge.FAILED, "Less than 1 % of the points."
    ),
    CheckStatus.SKIPPED: CheckRow(
        "skipped",
        "–",
        "dim",
        Badge.NONE,
        "A prerequisite did not pass, or the file leaves the part out.",
    ),
    CheckStatus.NOT_MEASURED: CheckRow(
        "not measured",
        "–",
        "dim",
        Badge.NONE,
        "This device cannot judge it; the message has the reason. Its points are pending.",
    ),
    CheckStatus.EXCLUDED: CheckRow(
        "excluded",
        "–",
        "dim",
        Badge.NONE,
        "Disabled by `--no-model`, or in the spec for this kind of device. "
        "Its points leave the total.",
    ),
}
