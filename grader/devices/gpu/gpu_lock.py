"""One grading at a time on a GPU: a lock file per GPU. The operating system frees the lock when its
holder ends, for any reason."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from grader.errors import GraderError
from grader.plumbing.locks import hold_lock
from grader.records import Progress, ShowProgress

LOCKS_VARIABLE = "GRADER_LOCKS"
WAIT_SECONDS = 600.0
POLL_SECONDS = 0.05


def lock_folder() -> Path:
    """The folder where all users of this machine find the same lock files, even in a batch with its
    own folder for temporary files."""
    return Path(os.environ.get(LOCKS_VARIABLE) or tempfile.gettempdir())


@contextlib.contextmanager
def hold_gpu(
    uuid: str | None,
    *,
    show: ShowProgress,
    folder: Path | None = None,
    wait_seconds: float = WAIT_SECONDS,
) -> Iterator[None]:
    """Lock the GPU with this UUID against all other graders of the machine; None means no GPU, and
    no lock.

    `show` reports that another grader holds it. Raises GraderError when that lasts longer than
    `wait_seconds`.
    """
    if uuid is None:
        yield
        return
    path = (folder or lock_folder()) / f"cuda-exercise-grader-{uuid}.lock"
    deadline = time.monotonic() + wait_seconds

    def wait() -> None:
        if time.monotonic() >= deadline:
            raise GraderError(
                f"The GPU {uuid} was in use by another grading for {wait_seconds:g} s.",
                "Grade again when it has ended, or on another GPU (--device gpu:N), or with"
                " --device emulated.",
            )
        show(Progress("waiting for the GPU, which another grading uses"))
        time.sleep(POLL_SECONDS)

    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(path, wait, mode=0o644))
        except OSError as error:
            advice = "Remove it, or set TMPDIR to a folder that all graders of this machine share."
            message = f"The lock file {path} cannot be opened: {error.strerror}"
            raise GraderError(message, advice) from error
        yield
