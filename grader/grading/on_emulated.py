"""The steps of a grading without a GPU."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from threading import Thread

from grader.devices.remote.remote_device import RemoteDevice
from grader.grading.ahead import run_ahead
from grader.grading.building import build
from grader.grading.cases import Findings, run_checked, run_without_findings
from grader.grading.graded_run import RunTimed, execute, run_graded
from grader.grading.parts import run_parts
from grader.grading.session import (
    Job,
    Session,
    check_cases,
    draw_ahead,
    largest_output,
    open_session,
    show_cases,
)
from grader.grading.tools import find_toolchain
from grader.judging.values import TIMED_ON
from grader.records import Progress


def grade_on_emulated(job: Job) -> bool:
    """Compiles the submission, runs its cases in the checked mode and, if they are right, the
    benchmark; then the parts, also in the checked mode. In a watch, the timed run starts with the
    cases. Returns whether a repetition gives the same score: no limit of time or memory was
    reached. Raises SubmissionError."""
    with ExitStack() as stack:  # the devices start while the compiler runs
        timing = stack.enter_context(_start_device(job, largest_output(job)))
        drawn = stack.enter_context(draw_ahead(job))
        ahead = job.shared is not None and drawn is not None  # a class has no spare processor
        device = stack.enter_context(_start_device(job)) if ahead else timing
        session = _open(job, device)
        run_timed: RunTimed | None = None
        if drawn is not None:
            run_timed = partial(execute, session, TIMED_ON, drawn)
            if ahead:
                run_timed = stack.enter_context(run_ahead(session, timing, drawn))
        findings = Findings()
        check_cases(session, lambda case: run_checked(session.bench, case, findings))
        show_cases(job, findings)
        if job.evidence.all_right:
            run_graded(session, findings, run_timed)
        job.evidence.checked = findings.outcome
        run_parts(session, run_without_findings)
        limited = device.limited or timing.limited
        if ahead:  # the verdict does not wait for the end of processes with much memory
            Thread(target=stack.pop_all().close).start()
        return not (limited or any(part.failure for part in job.evidence.parts))


def _start_device(job: Job, output_bytes: int = 0) -> RemoteDevice:
    isolated = job.options.isolated
    return RemoteDevice(str(job.choice), isolated=isolated, output_bytes=output_bytes)


def _open(job: Job, device: RemoteDevice) -> Session:
    job.options.show(Progress("compiling"))
    tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=job.options.isolated)
    job.note(tools.versions)
    compilation = job.begun.compilation
    built = build(job.submission, job.exercise, tools, arch=job.info.arch, begun=compilation)
    job.note({"device_isolation": device.isolation})
    return open_session(job, tools, built, device)
