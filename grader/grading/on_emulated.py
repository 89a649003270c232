"""A grading without a GPU, from top to bottom."""

from __future__ import annotations

from grader.grading.building import build, find_toolchain
from grader.grading.checked import Findings, run_checked
from grader.grading.graded_run import run_graded
from grader.grading.parts import run_parts
from grader.grading.session import Job, Session, check_cases, make_bench
from grader.judging.evidence import Evidence
from grader.records import Progress
from grader.sandbox.remote import RemoteDevice


def grade_on_emulated(job: Job, evidence: Evidence) -> None:
    """Compiles the submission, runs its cases in the checked mode and, if they are right, the
    benchmark; then the parts. Raises SubmissionError."""
    with RemoteDevice(str(job.choice), isolated=job.isolated, models=job.model) as device:
        session = _open(job, evidence, device)  # the device starts while the compiler runs
        findings = Findings()
        check_cases(session, lambda case: run_checked(session.bench, case, findings))
        if evidence.is_right:
            run_graded(session, findings)
        evidence.sanitized = findings.outcome
        run_parts(session)


def _open(job: Job, evidence: Evidence, device: RemoteDevice) -> Session:
    """The grading with its submission compiled."""
    info = evidence.device
    assert info is not None  # which GPU is emulated is known from the start
    job.show(Progress("compiling"))
    tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=job.isolated)
    evidence.environment |= tools.versions
    built = build(job.submission, job.exercise, tools, arch=info.arch)
    evidence.environment["device_isolation"] = device.isolation
    return Session(job, tools, make_bench(job, built, device, info), info, evidence)
