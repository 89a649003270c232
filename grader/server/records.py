"""The records of a course: people, assignments, attempts and gradings. Times are Unix seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from grader.lti import Platform


class Role(StrEnum):
    """The rights of an account."""

    STUDENT = "student"
    INSTRUCTOR = "instructor"
    GUEST = "guest"


class Counting(StrEnum):
    """The rule that chooses among the submissions of a student."""

    LAST = "last"
    BEST = "best"


class State(StrEnum):
    """The state of a grading in the queue."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"


class Queue(StrEnum):
    """The workers of a grading: on the server's device, or on a GPU."""

    SERVER = "server"
    GPU = "gpu"


@dataclass(frozen=True)
class Settings:
    """The settings of a server or a worker. `course`: the folder of the exercises; None: the
    grader's own. `database`: a URL of SQLAlchemy. `url`: the address that browsers use. `seconds`:
    the limit of a grading. `gpu_quota`: attempts that a student can send to a GPU in a day."""

    data: Path
    course: Path | None
    database: str
    url: str
    device: str = "emulated"
    workers: int = 1
    seconds: float = 600.0
    isolated: bool = True
    model: bool = True
    platforms: tuple[Platform, ...] = ()
    playground: bool = False
    queue: Queue = Queue.SERVER
    gpu_quota: int = 0


@dataclass(frozen=True)
class Person:
    """An account. `row`: the person's row of the roster by heading, for the exports, and the names
    of a platform (returns.py). `is_active`: the person has a password."""

    id: int
    name: str
    login: str
    role: Role
    student_id: str | None
    row: Mapping[str, str]
    is_active: bool

    @property
    def teaches(self) -> bool:
        return self.role is Role.INSTRUCTOR

    @property
    def is_guest(self) -> bool:
        return self.role is Role.GUEST


@dataclass(frozen=True)
class Assignment:
    """The rules of an exercise in this course. `visible`: students see it."""

    exercise: str
    deadline_s: float | None = None
    counting: Counting = Counting.LAST
    visible: bool = True


@dataclass(frozen=True)
class Attempt:
    """A source text that a student had graded. `submitted_s`: the time of the submission, None for
    a trial. `grading_id`, `state` and `queue` are of the latest grading, the other fields of the
    latest grading with a verdict: they are None or empty before it."""

    id: int
    person_id: int
    exercise: str
    sha256: str
    created_s: float
    submitted_s: float | None
    grading_id: int
    state: State
    queue: Queue
    verdict_id: int | None
    status: str | None
    points: float | None
    full: float | None
    message: str

    @property
    def is_done(self) -> bool:
        return self.state is State.DONE

    @property
    def known_points(self) -> float:
        """For comparison: an attempt without points comes last."""
        return -1.0 if self.points is None else self.points


@dataclass(frozen=True)
class Place:
    """The progress of a grading. `ahead`: gradings before it in its queue, also the running ones;
    `wait_s`: an estimate of the time until its verdict; `stage`: the running step."""

    state: State
    ahead: int = 0
    wait_s: float | None = None
    stage: str = ""


@dataclass(frozen=True)
class Work:
    """A grading that a worker has taken from the queue."""

    grading_id: int
    exercise: str
    source: str
    sha256: str
    tries: int


@dataclass(frozen=True)
class Comment:
    """An instructor's comment on a line of an attempt."""

    id: int
    line: int
    text: str
    author: str
    created_s: float


@dataclass(frozen=True)
class Override:
    """An instructor's decision on the points of a student's exercise; `points` is None where the
    grader's points count again."""

    person_id: int
    exercise: str
    points: float | None
    reason: str
    author: str
    created_s: float


@dataclass(frozen=True)
class Standing:
    """A student's attempts at an exercise by age, and the decisions of instructors, the newest
    last."""

    rules: Assignment
    attempts: Sequence[Attempt] = ()
    decisions: Sequence[Override] = ()

    @cached_property
    def counting(self) -> Attempt | None:
        """The submission that counts: the last, or the earliest of those with the most points."""
        submitted = [each for each in self.attempts if each.submitted_s is not None]
        submitted.sort(key=lambda each: each.submitted_s or 0.0)
        if self.rules.counting is Counting.LAST:
            return submitted[-1] if submitted else None
        return max(submitted, key=lambda each: each.known_points, default=None)

    @property
    def best(self) -> float | None:
        """The most points of an attempt, submitted or not."""
        return max((each.points for each in self.attempts if each.points is not None), default=None)

    @property
    def override(self) -> Override | None:
        """The decision that holds, if the last one sets points."""
        last = self.decisions[-1] if self.decisions else None
        return last if last is not None and last.points is not None else None
