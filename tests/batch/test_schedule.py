"""In which order tasks are carried out."""

from __future__ import annotations

from pathlib import Path

from grader.batch.pool import Outcome
from grader.batch.schedule import Queue
from grader.batch.tasks import Task
from grader.records import Options


def task(exercise: str, number: int) -> Task:
    return Task(f"{exercise} {number}", exercise, Path(), "", Path(), Options("gpu:0", 0))


def keys(queue: Queue, count: int) -> list[str]:
    return [queue.take().key for _ in range(count)]


def test_one_exercise_keeps_its_order() -> None:
    queue = Queue(task("quick", number) for number in range(3))
    queue.learn(Outcome(task("quick", 9), 1.0))
    assert keys(queue, 3) == ["quick 0", "quick 1", "quick 2"]
    assert not queue


def test_exercises_take_turns_until_it_shows_which_is_slow_and_the_quick_ones_come_last() -> None:
    queue = Queue(task(exercise, number) for number in range(4) for exercise in ("quick", "slow"))
    assert keys(queue, 2) == ["quick 0", "slow 0"]
    queue.learn(Outcome(task("quick", 0), 1.0))
    assert keys(queue, 1) == ["slow 1"]  # still unknown
    queue.learn(Outcome(task("slow", 0), 3.0))
    queue.learn(Outcome(task("quick", 0), 4.0))  # the mean counts: 2.5 s
    queue.add(task("slow", 0))
    assert keys(queue, 6) == ["slow 2", "slow 3", "slow 0", "quick 1", "quick 2", "quick 3"]
