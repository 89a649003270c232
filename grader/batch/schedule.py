"""Runs tasks: fills the pool, journals each result, and repeats tasks on which the machine
failed."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from grader.batch.journal import Journal, Result, read_result
from grader.batch.pool import Outcome, Pool
from grader.batch.tasks import Task
from grader.errors import UsageError
from grader.records import GivenUp, OverBatchLimit, Status

ATTEMPTS = 3
"""Most attempts of a task on which the grader or the machine fails."""
POLL_SECONDS = 0.5

Ungraded = OverBatchLimit | GivenUp
"""The reason why a task has no score."""
MakeFailed = Callable[[Task, Ungraded], str]
"""Makes the score, as JSON text, of a task that could not be graded."""


class Queue:
    """Waiting tasks. Exercises with the longest mean time come first: short tasks at the end keep
    all workers busy. Exercises without an ended task take turns before all others. Tasks of one
    exercise keep their order.
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
    """Grades every task and journals its result. `limit_is_verdict`: a task that exceeds the time
    limit gets `timeout`; else this is a failure of the machine. `on_results` receives journaled
    results, `on_change` the running tasks. UsageError if an exercise is broken, GraderError if the
    journal cannot be written."""
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
            journal.add(graded)
            on_results([result for result, _ in graded])


def _settle(
    outcome: Outcome, tried: int, *, make_failed: MakeFailed, limit_is_verdict: bool
) -> tuple[Result, str] | None:
    """The result and its score as JSON text; None if the task has to be repeated."""
    task, answer = outcome.task, outcome.answer
    if answer is not None and answer.broken:
        raise UsageError(f"{task.exercise} cannot be graded: {answer.message}", answer.advice)
    if answer is not None and answer.text is not None:
        result = read_result(task, answer.text, seconds=outcome.seconds, attempts=tried)
        again = Status(result.status).is_worth_a_retry and tried < ATTEMPTS
        return None if again else (result, answer.text)
    if not (outcome.out_of_time and limit_is_verdict) and tried < ATTEMPTS:
        return None
    text = make_failed(task, _explain(outcome, tried, limit_is_verdict=limit_is_verdict))
    return read_result(task, text, seconds=outcome.seconds, attempts=tried), text


def _explain(outcome: Outcome, tried: int, *, limit_is_verdict: bool) -> Ungraded:
    if outcome.out_of_time and limit_is_verdict:
        return OverBatchLimit(outcome.seconds)
    answer = outcome.answer
    if answer is None:
        return GivenUp(tried, outcome.lost, lost=True)
    return GivenUp(tried, answer.message, answer.detail, answer.advice)
