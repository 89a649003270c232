"""Runs correctness cases in the checked mode of the emulated device, in both orders of blocks and
warps, and collects the findings; shows the checks before a grading ends, if the options ask for
it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from grader.grading.cases import (
    Bench,
    CaseRun,
    Step,
    describe_failed_run,
    judge_step,
    prepare_case,
    run_case,
)
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Job
from grader.judging.evidence import Checked, CountedRun, Evidence
from grader.judging.score import make_score
from grader.messages.hidden import describe_findings, describe_mistake, hiding_errors
from grader.messages.observations import describe_order
from grader.records import (
    CaseResult,
    CheckedMode,
    Execution,
    Failure,
    Finding,
    FindingKind,
    RunLimits,
    Status,
    Stop,
)
from grader.spec.exercise import Case

MOST_BYTES = 64 << 20
"""Cases with larger buffers and variables run without the checks: the checked mode needs up to 17
times this memory."""
MOST_INSTRUCTIONS = 50_000_000
"""Warp instructions of a run: 1 to 3 seconds in the checked mode."""
MOST_FINDINGS = 20
_WITHOUT_CHECKS = (Status.TIMEOUT, Status.LAUNCH_ERROR)
"""Failures that can come from the time and memory of the checks: the case runs again without."""


@dataclass
class Findings:
    """The findings of the cases so far. `checked`: cases that ran in the checked mode; `clean`:
    those without a finding; `kept`: the first finding by kind, kernel and lines; `races`: the first
    race by case."""

    checked: int = 0
    clean: int = 0
    kept: dict[tuple[object, ...], Finding] = field(default_factory=dict)
    races: dict[str, Finding] = field(default_factory=dict)

    def add(self, case: Case, findings: Iterable[Finding]) -> None:
        """Adds a checked case. The findings of a hidden case come without its data."""
        found = tuple(findings)
        self.checked += 1
        self.clean += not found
        for finding in found:
            if finding.kind is FindingKind.RACE:
                self.races.setdefault(case.name, finding)
            lines = sorted(line or 0 for line in (finding.line, finding.other_line))
            if len(self.kept) < MOST_FINDINGS:
                in_case = replace(finding, case=case.name)
                self.kept.setdefault((finding.kind, finding.kernel, *lines), in_case)

    @property
    def outcome(self) -> Checked:
        """The fraction of clean cases, and the kept findings."""
        if not self.checked:
            return Checked(reason="no case is small enough for the checked mode")
        found = tuple(self.kept.values())
        if any(finding.kind is FindingKind.RACE for finding in found):  # that explains the order
            found = tuple(each for each in found if each.kind is not FindingKind.ORDER_DEPENDENT)
        return Checked(self.clean / self.checked, found, races=self.races)


def run_checked(bench: Bench, case: Case, findings: Findings) -> CaseRun:
    """Runs a case in the checked mode, judges it and adds to `findings`. A case that is too large
    or too slow for the checks runs without them. Raises SubmissionError."""
    with hiding_errors(case):
        step = prepare_case(bench, case)
        size_bytes = sum(buffer.size_bytes for buffer in step.program.buffers)
        if size_bytes + bench.built.binary.variable_bytes > MOST_BYTES:
            return run_case(bench, case)
        execution, got = bench.device.run(
            step.program, step.inputs, limits=_limits(bench), mode=CheckedMode()
        )
        stop = execution.failure
        if stop is not None and stop.status in _WITHOUT_CHECKS:
            return run_case(bench, case)
        if stop is not None:
            raise SubmissionError(describe_failed_run(execution, stop, case))
        result = judge_step(bench, step, case, execution, got)
        found = describe_findings(execution.findings, case)
        if result.passed:
            result, more = _run_backwards(bench, step, case, result)
            found += more
        findings.add(case, found)
        return CaseRun(result, execution)


def run_without_findings(bench: Bench, case: Case) -> CaseRun:
    """The same for a task that has no check of its own for findings: a finding is a mistake. Raises
    SubmissionError."""
    findings = Findings()
    run = run_checked(bench, case, findings)
    if found := findings.outcome.findings:
        raise SubmissionError(Failure(Status.FAILED, found[0].message, findings=found))
    return run


def fail_order(
    result: CaseResult, execution: Execution, problem: Stop | str, case: Case
) -> tuple[CaseResult, tuple[Finding, ...]]:
    """The verdict on a case that is right in one order and has this problem in the opposite order:
    an output that depends on the order is wrong."""
    only = execution.launches[0].kernel if len(execution.launches) == 1 else None
    message = problem if isinstance(problem, str) else describe_mistake(problem).message
    finding = describe_order(only, None if case.hidden else message)
    failed = replace(result, passed=False, message=finding.message, cause=finding.kind.value)
    return failed, (finding,)


def _run_backwards(
    bench: Bench, step: Step, case: Case, right: CaseResult
) -> tuple[CaseResult, tuple[Finding, ...]]:
    """The verdict on a right case with blocks and warps in the opposite order, and the findings of
    that run. A timeout counts as right, because a block may wait for an earlier block."""
    execution, got = bench.device.run(
        step.program, step.inputs, limits=_limits(bench), mode=CheckedMode(backwards=True)
    )
    if execution.failure is not None:
        if execution.failure.status is Status.TIMEOUT:
            return right, ()
        return fail_order(right, execution, execution.failure, case)
    result = judge_step(bench, step, case, execution, got)
    found = describe_findings(execution.findings, case)
    if result.passed:
        return right, found
    failed, order = fail_order(right, execution, result.message, case)
    return failed, (*found, *order)


def _limits(bench: Bench) -> RunLimits:
    """Limits of a run in the checked mode."""
    most = min(bench.limits.warp_instructions, MOST_INSTRUCTIONS)
    return replace(bench.limits, warp_instructions=most)


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
