"""Shows the checks before a grading ends, if the options ask for it."""

from __future__ import annotations

from dataclasses import replace

from grader.grading.checked import Findings
from grader.grading.session import Job
from grader.judging.evidence import CountedRun, Evidence
from grader.judging.score import make_score
from grader.records import CaseResult, Execution


def show_cases(job: Job, findings: Findings) -> None:
    """Shows the checks after the correctness cases."""
    _show(job, replace(job.evidence, checked=findings.outcome))


def show_counted(job: Job, findings: Findings, case: CaseResult, execution: Execution) -> None:
    """Shows the checks after the correctness cases and a counted run."""
    evidence = replace(
        job.evidence,
        cases=(*job.evidence.cases, case),
        checked=findings.outcome,
        execution=execution,
        counted=(CountedRun(case.sizes, execution),),
    )
    _show(job, evidence)


def _show(job: Job, evidence: Evidence) -> None:
    if job.options.interim is not None:
        job.options.interim(make_score(job.subject, evidence).checks)
