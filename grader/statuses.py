"""How a grading and a check can end: one row each, with whose doing it is and all of its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Doing(StrEnum):
    """Whose doing it is how a grading ended. Points follow from the student's alone; what is ours
    may end better at another try."""

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
    """How the grading of one submission ended. What is the student's doing and what is ours never
    mix."""

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
        """What is known of it."""
        return STATUSES[self]

    @property
    def has_points(self) -> bool:
        """Whether points follow from it. Where none do, no gradebook and no table may show a zero:
        the student is not to blame."""
        return self.row.doing is Doing.STUDENT

    @property
    def is_worth_a_retry(self) -> bool:
        """Whether the grader or the machine failed: another try may end better."""
        return self.row.doing is Doing.OURS

    @property
    def ended_early(self) -> bool:
        """Whether something ended the grading before all checks were judged."""
        return self not in (Status.PASSED, Status.FAILED)

    @property
    def exit_code(self) -> int:
        """Exit code of `grade`: 0 full marks, 1 graded, 3 the grader's or the machine's fault."""
        if self.is_worth_a_retry:
            return 3
        return 0 if self is Status.PASSED else 1


@dataclass(frozen=True)
class StatusRow:
    """One way in which a grading ends.

    `meaning` is for the documentation. `word` names it in a table, `title` over what ended the
    grading, `clause` says it of the submission ("it does not compile"). `badge` is its colour on a
    page, `style` that in a table on a terminal. `unseen` and `unseen_advice` are all that is told
    of a failure in a hidden case of which nothing else is known.
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
    "This is not the submission's doing: grade it again, and report it with the score's seed if it"
    " comes back."
)

STATUSES: Mapping[Status, StatusRow] = {
    Status.PASSED: StatusRow(
        Doing.STUDENT,
        "full marks, of the points that the device can judge",
        "full marks",
        Badge.PASSED,
        style="green",
    ),
    Status.FAILED: StatusRow(
        Doing.STUDENT, "it ran, and a check lost points", "points lost", Badge.PARTIAL
    ),
    Status.COMPILE_ERROR: StatusRow(
        Doing.STUDENT,
        "the compiler refuses the file",
        "compile error",
        Badge.FAILED,
        title="Compile error",
        clause="it does not compile",
    ),
    Status.LAUNCH_ERROR: StatusRow(
        Doing.STUDENT,
        "a launch line is wrong, or asks for what no device gives",
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
        "a kernel broke off: an access out of bounds, say",
        "runtime error",
        Badge.FAILED,
        title="Runtime error",
        clause="it does not run to its end",
        unseen="a kernel did not end well",
    ),
    Status.TIMEOUT: StatusRow(
        Doing.STUDENT,
        "the kernels, or the compiler, took more than the exercise allows",
        "timeout",
        Badge.FAILED,
        title="Timeout",
        clause="it does not end in time",
        unseen="the kernels did not end in time",
    ),
    Status.REJECTED: StatusRow(
        Doing.STUDENT,
        "it does what no submission may: a forbidden include, or a time that cannot be",
        "rejected",
        Badge.FAILED,
        style="red",
        title="Rejected",
        clause="it was rejected",
        unseen="the submission was rejected",
    ),
    Status.UNSUPPORTED: StatusRow(
        Doing.DEVICE,
        "the emulated device does not know an instruction; no points follow",
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
        Doing.OURS,
        "the measurement says nothing; no points follow",
        "inconclusive",
        Badge.NONE,
        style="bold red",
        title="Inconclusive",
        clause="the grading was inconclusive",
        unseen="the run says nothing",
    ),
    Status.GRADER_ERROR: StatusRow(
        Doing.OURS,
        "the grader or the machine failed; no points follow",
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
    """How one check of the spec ended. `skipped`: a prerequisite failed; `not_measured`: no value,
    see the reason."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_MEASURED = "not_measured"

    @property
    def row(self) -> CheckRow:
        """What is known of it."""
        return CHECK_STATUSES[self]

    @property
    def is_verdict(self) -> bool:
        """Whether the check was judged by its own value."""
        return self not in (CheckStatus.SKIPPED, CheckStatus.NOT_MEASURED)

    @property
    def lost_points(self) -> bool:
        """Whether the check was judged and missed points: there is something to try."""
        return self in (CheckStatus.FAILED, CheckStatus.PARTIAL)


@dataclass(frozen=True)
class CheckRow:
    """One way in which a check ends: its word and glyph, its style on a terminal, and its colour on
    a page."""

    word: str
    glyph: str
    style: str
    badge: Badge


CHECK_STATUSES: Mapping[CheckStatus, CheckRow] = {
    CheckStatus.PASSED: CheckRow("passed", "✓", "green", Badge.PASSED),
    CheckStatus.PARTIAL: CheckRow("partial", "~", "yellow", Badge.PARTIAL),
    CheckStatus.FAILED: CheckRow("failed", "✗", "red", Badge.FAILED),
    CheckStatus.SKIPPED: CheckRow("skipped", "–", "dim", Badge.NONE),
    CheckStatus.NOT_MEASURED: CheckRow("not measured", "–", "dim", Badge.NONE),
}
