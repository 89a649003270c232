"""The steps of a grading without a GPU."""

from __future__ import annotations

from grader.devices.remote.remote_device import RemoteDevice
from grader.grading.building import build
from grader.grading.cases import Findings, run_checked, run_without_findings
from grader.grading.graded_run import run_graded
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
from grader.records import Progress


def grade_on_emulated(job: Job) -> bool:
    """Compiles the submission, runs its cases in the checked mode and, if they are right, the
    benchmark; then the parts, also in the checked mode. Returns whether a repetition gives the same
    score: no limit of time or memory was reached. Raises SubmissionError."""
    remote = RemoteDevice(
        str(job.choice), isolated=job.options.isolated, output_bytes=largest_output(job)
    )
    with remote as device, draw_ahead(job) as drawn:
        session = _open(job, device)  # the device starts while the compiler runs
        findings = Findings()
        check_cases(session, lambda case: run_checked(session.bench, case, findings))
        show_cases(job, findings)
        if job.evidence.all_right:
            run_graded(session, findings, drawn)
        job.evidence.checked = findings.outcome
        run_parts(session, run_without_findings)
        return not (device.limited or any(part.failure for part in job.evidence.parts))


def _open(job: Job, device: RemoteDevice) -> Session:
    job.options.show(Progress("compiling"))
    tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=job.options.isolated)
    job.note(tools.versions)
    built = build(job.submission, job.exercise, tools, arch=job.info.arch, begun=job.begun)
    job.note({"device_isolation": device.isolation})
    return open_session(job, tools, built, device)
