"""One grading in a process of its own: `python -m grader.batch.once FD` takes it on standard input
and answers on FD.

It ends when its standard input does: with whoever asked.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from grader.batch.pool import Outcome
from grader.batch.tasks import Task
from grader.batch.worker import Answer, GradeTask, answer_task

_READ_BYTES = 1 << 16


def main(argv: Sequence[str]) -> int:
    """Grade what comes in."""
    size = int.from_bytes(sys.stdin.buffer.read(8), "big")
    task, grade = pickle.loads(sys.stdin.buffer.read(size))
    threading.Thread(target=_end_with_asker, daemon=True).start()
    with os.fdopen(int(argv[0]), "wb") as answer:
        answer.write(pickle.dumps(answer_task(task, grade)))
    return 0


def grade_once(task: Task, grade: GradeTask, *, seconds: float) -> Outcome:
    """Grade in a fresh process, which is ended after so many seconds."""
    began = time.monotonic()
    read_end, write_end = os.pipe()
    command = [sys.executable, "-m", "grader.batch.once", str(write_end)]
    nowhere = subprocess.DEVNULL
    paths = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # finds what this process finds
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=nowhere,
        stderr=nowhere,
        pass_fds=[write_end],
        env=paths,
    ) as process:
        os.close(write_end)
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            assert process.stdin is not None
            body = pickle.dumps((task, grade))
            process.stdin.write(len(body).to_bytes(8, "big") + body)
            process.stdin.flush()
            with os.fdopen(read_end, "rb") as answered:
                received = answered.read()
        except BrokenPipeError:
            received = b""
        finally:
            timer.cancel()
            process.kill()
    took = time.monotonic() - began
    if received:
        answer = pickle.loads(received)
        assert isinstance(answer, Answer)
        return Outcome(task, took, answer)
    if took >= seconds:
        return Outcome(task, took, lost=f"it had not ended after {seconds:g} s", out_of_time=True)
    return Outcome(task, took, lost=f"its process ended with exit code {process.returncode}")


def _end_with_asker() -> None:
    while os.read(0, _READ_BYTES):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
