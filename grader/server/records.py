"""The records of a course: people, assignments, attempts and gradings. Times are Unix seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
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
    """The workers of a grading: the server's, or those of `grade worker`."""

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
    """An account. `row`: of the roster, for the exports. `is_active`: there is a password."""

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


@dataclass(frozen=True)
class Place:
    """The progress of a grading: the number before it, an estimate, and the running step."""

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
    """An instructor's decision on points; None: the grader's points count again."""

    points: float | None
    reason: str
    author: str
    created_s: float
