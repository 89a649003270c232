"""The timed run beside the correctness cases, on a device of its own. A watch has a processor to
spare for it; if a case is wrong, the run is stopped and its results are not used."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from threading import Event

from grader.devices.base import Arrays
from grader.devices.remote.remote_device import RemoteDevice
from grader.grading.graded_run import RunTimed, UnjudgedRun, execute
from grader.grading.session import Session
from grader.judging.values import TIMED_ON
from grader.records import Progress


@contextmanager
def run_ahead(session: Session, device: RemoteDevice, drawn: Future[Arrays]) -> Iterator[RunTimed]:
    """Starts the timed run, with inputs `drawn`, on `device`; gives a function that waits for the
    run. At the end, the device is closed: this stops a run that nobody needs."""
    job, awaited = session.job, Event()

    def show(progress: Progress) -> None:
        if awaited.is_set():  # until then, the stages of the cases are shown
            job.options.show(progress)

    def wait() -> UnjudgedRun:
        awaited.set()
        return begun.result()

    options, bench = replace(job.options, show=show), replace(session.bench, device=device)
    beside = replace(session, job=replace(job, options=options), bench=bench)
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(execute, beside, TIMED_ON, drawn)
        try:
            yield wait
        finally:
            device.close()
