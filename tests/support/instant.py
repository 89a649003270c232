"""A batch with a grader that takes no time: everything of a batch but the grading is real.

    python -m tests.support.instant OUT COUNT JOBS [REAL]

It is a program, so that tests can kill it. Each grading is logged to OUT/calls at its start; its
score holds a number that no other grading has. With a second grader, `slow`, each takes a fraction
of a second.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import secrets
import sys
import time
from pathlib import Path

from grader.batch.collect import HandIn
from grader.batch.journal import open_journal
from grader.batch.pool import LocalPool
from grader.batch.run import Reports, Settings, run_batch
from grader.batch.tasks import GradeTask, Task
from grader.cli.batch import _make_failed
from grader.judging.evidence import Subject
from grader.judging.score import failed_score
from grader.records import BatchSummary, Failure, Options, Status, Submission
from grader.report.json import format_score
from grader.spec.exercise import Exercise
from grader.spec.reader import read_exercise

ROOT = Path(__file__).resolve().parents[2]


def read_transpose() -> Exercise:
    return read_exercise(ROOT / "exercises" / "transpose")


def instant(task: Task) -> str:
    """A score as the pipeline makes them, of about the size of a real one, at once."""
    _log(task)
    failure = Failure(Status.COMPILE_ERROR, f"grading {secrets.token_hex(8)}", detail="x" * 8000)
    submission = Submission("transpose.cu", task.sha256, "")
    subject = Subject(_exercise(task), submission, None, {}, task.options.fixed_seed)
    return format_score(failed_score(subject, failure))


def slow(task: Task) -> str:
    time.sleep(0.02)
    return instant(task)


_CACHED: dict[Path, Exercise] = {}


def _exercise(task: Task) -> Exercise:
    if task.folder not in _CACHED:
        _CACHED[task.folder] = dataclasses.replace(read_exercise(task.folder))
    return _CACHED[task.folder]


def _log(task: Task) -> None:
    descriptor = os.open(task.source.parents[1] / "calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{task.sha256}\n".encode())
    os.close(descriptor)


def hand_ins(folder: Path, count: int) -> list[HandIn]:
    """Made-up students with files of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for number in range(count):
        path = folder / f"student{number:05}.cu"
        if not path.exists():
            path.write_text(f"// {number}\n")
        found.append(HandIn(path.stem, files={path.name: path}))
    return found


def sha256_of(number: int) -> str:
    return hashlib.sha256(f"// {number}\n".encode()).hexdigest()


def run(
    out: Path, found: list[HandIn], grade: GradeTask = instant, *, jobs: int = 2, **changes: object
) -> BatchSummary:
    settings = Settings(
        out,
        (read_transpose(),),
        options=Options("emulated"),
        device_name="emulated:h100",
        grader="test",
    )
    settings = dataclasses.replace(settings, **changes)  # type: ignore[arg-type]
    with open_journal(out) as journal:
        pool = lambda: LocalPool(grade, ["emulated:h100"], jobs=jobs, seconds=60.0)  # noqa: E731
        reports = Reports(lambda progress: None, lambda summary: None)
        return run_batch(
            settings, found, journal, pool, make_failed=_make_failed(settings), reports=reports
        )


if __name__ == "__main__":
    from tests.support import instant as module  # workers find its functions by this name

    started = time.monotonic()
    out = Path(sys.argv[1])
    module.run(
        out,
        hand_ins(out.parent / "submissions", int(sys.argv[2])),
        module.slow if "slow" in sys.argv else module.instant,
        jobs=int(sys.argv[3]),
    )
    print(f"{time.monotonic() - started:.1f} s")
