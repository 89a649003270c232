"""Has tasks carried out: fills the pool, writes results down as they come, and tries again what the
machine failed on."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from grader.batch.journal import Journal, Result
from grader.batch.pool import Outcome, Pool
from grader.batch.tasks import Graded, Task
from grader.errors import UsageError
from grader.records import GivenUp, OverBatchLimit, Status

ATTEMPTS = 3
"""How often a task is tried that the grader or the machine fails on."""
POLL_SECONDS = 0.5

Ungraded = OverBatchLimit | GivenUp
"""Why there is no score of a task."""
MakeFailed = Callable[[Task, Ungraded], str]
"""Makes the score of a task that could not be graded, as JSON text."""


class Queue:
    """Tasks that wait: those of the exercise whose gradings have taken longest come first, and the
    quick ones fill the end, where workers run out of work. Exercises of which none has ended yet
    take turns before all others; one exercise keeps its order.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._waiting: dict[str, deque[Task]] = {}
        self._taken: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        for task in tasks:
            self.add(task)

    def __bool__(self) -> bool:
        return any(self._waiting.values())

    def add(self, task: Task) -> None:
        self._waiting.setdefault(task.exercise, deque()).append(task)

    def take(self) -> Task:
        exercise = max((name for name, tasks in self._waiting.items() if tasks), key=self._rank)
        self._taken[exercise] += 1
        return self._waiting[exercise].popleft()

    def learn(self, outcome: Outcome) -> None:
        self._ended[outcome.task.exercise] += 1
        self._seconds[outcome.task.exercise] += outcome.seconds

    def _rank(self, exercise: str) -> tuple[float, int]:
        ended = self._ended[exercise]
        return self._seconds[exercise] / ended if ended else math.inf, -self._taken[exercise]


def run_tasks(
    tasks: Sequence[Task],
    pool: Pool,
    journal: Journal,
    *,
    make_failed: MakeFailed,
    limit_is_verdict: bool,
    on_results: Callable[[Sequence[Result]], None],
    on_change: Callable[[Sequence[Task]], None],
) -> None:
    """Grade every task once and journal its result; returns when all are.

    `limit_is_verdict`: the user set the time limit, and a submission that breaks it gets `timeout`;
    else that counts as a failure of the machine. `on_results` gets what has been journaled,
    `on_change` the tasks that are being graded. Raises UsageError where an exercise turns out to be
    broken, and GraderError where the journal cannot be written.
    """
    pending, running, attempts = Queue(tasks), dict[str, Task](), Counter[str]()
    while pending or running:
        while pending and pool.free:
            task = pending.take()
            attempts[task.key] += 1
            running[task.key] = task
            pool.submit(task)
        on_change(tuple(running.values()))
        graded = []
        for outcome in pool.wait(POLL_SECONDS):
            del running[outcome.task.key]
            pending.learn(outcome)
            tried = attempts[outcome.task.key]
            result = _settle(
                outcome, tried, make_failed=make_failed, limit_is_verdict=limit_is_verdict
            )
            if result is None:
                pending.add(outcome.task)
            else:
                graded.append(result)
        if graded:
            on_results(journal.add(graded))


def _settle(
    outcome: Outcome, tried: int, *, make_failed: MakeFailed, limit_is_verdict: bool
) -> Graded | None:
    """The result; None where the task is to be tried again."""
    task, answer = outcome.task, outcome.answer
    if answer is not None and answer.broken:
        raise UsageError(f"{task.exercise} cannot be graded: {answer.message}", answer.advice)
    if answer is not None and answer.text is not None:
        result = Graded(task.key, task.exercise, task.sha256, answer.text, outcome.seconds, tried)
        return (
            None
            if Status(str(result.fields()["status"])).is_worth_a_retry and tried < ATTEMPTS
            else result
        )
    if not (outcome.out_of_time and limit_is_verdict) and tried < ATTEMPTS:
        return None
    text = make_failed(task, _explain(outcome, tried, limit_is_verdict=limit_is_verdict))
    return Graded(task.key, task.exercise, task.sha256, text, outcome.seconds, tried)


def _explain(outcome: Outcome, tried: int, *, limit_is_verdict: bool) -> Ungraded:
    if outcome.out_of_time and limit_is_verdict:
        return OverBatchLimit(outcome.seconds)
    answer = outcome.answer
    if answer is None:
        return GivenUp(tried, outcome.lost, lost=True)
    return GivenUp(tried, answer.message, answer.detail, answer.advice)
