"""Runs correctness cases in the checked mode of the emulated device, once more in the opposite
order, and gathers what was found."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from grader.devices.base import Device
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError
from grader.grading.cases import (
    CaseRun,
    Oracle,
    Step,
    describe_failed_run,
    judge_step,
    prepare_case,
    run_case,
)
from grader.grading.counting import stand_in
from grader.grading.job import Job
from grader.grading.programs import Built, Toolchain, build
from grader.judging.evidence import Checked
from grader.records import (
    CheckedMode,
    Execution,
    Failure,
    Finding,
    FindingKind,
    LaunchLimits,
    RunLimits,
    Status,
)
from grader.spec.draws import draw_cases
from grader.spec.exercise import Case
from grader.words.hidden import tell_findings, telling_errors

MOST_BYTES = 64 << 20
"""Cases whose buffers and variables hold more than this are run without the checks: the shadow of
memory takes up to 17 times as much."""
MOST_INSTRUCTIONS = 50_000_000
"""Warp instructions: a second or three in the checked mode."""
MOST_FINDINGS = 20
_WITHOUT_CHECKS = (Status.TIMEOUT, Status.LAUNCH_ERROR, Status.UNSUPPORTED)
"""What may go well without the checks, which take time and memory, and make the code that is to be
translated longer."""
_PART_OF_TIME = 0.5
"""Of a case's wall time: the rest is there to run it without the checks."""


@dataclass
class Findings:
    """What was found in the cases so far, each kind of mistake once: `checked` cases ran, `clean`
    ones without a finding."""

    checked: int = 0
    clean: int = 0
    kept: dict[tuple[object, ...], Finding] = field(default_factory=dict)
    races: dict[str, Finding] = field(default_factory=dict)

    def add(self, case: Case, findings: Iterable[Finding]) -> None:
        """Note a case that was checked. What is found is what may be told of the case
        (words.hidden)."""
        found = tuple(findings)
        self.checked += 1
        self.clean += not found
        for finding in found:
            if finding.kind is FindingKind.RACE:
                self.races.setdefault(case.name, finding)
            lines = sorted(line or 0 for line in (finding.line, finding.other_line))
            if len(self.kept) < MOST_FINDINGS:
                self.kept.setdefault(
                    (finding.kind, finding.kernel, *lines),
                    replace(finding, message=_name(finding, case)),
                )

    @property
    def outcome(self) -> Checked:
        """What the score says of them."""
        if not self.checked:
            return Checked(reason="no case is small enough for the checked mode")
        found = tuple(self.kept.values())
        races = [finding for finding in found if finding.kind is FindingKind.RACE]
        explained = (
            [finding for finding in found if finding.kind is not FindingKind.ORDER_DEPENDENT]
            if races
            else found
        )
        return Checked(self.clean / self.checked, tuple(explained), races=self.races)


def rehearse_case(
    job: Job,
    built: Built,
    device: Device,
    oracle: Oracle,
    case: Case,
    findings: Findings,
    *,
    limits: LaunchLimits | None = None,
) -> CaseRun | Failure:
    """Run a case in the checked mode and judge it; what is found goes to `findings`. A case that is
    too large just runs."""
    with telling_errors(case):
        return _rehearse_case(job, built, device, oracle, case, findings, limits)


def _rehearse_case(
    job: Job,
    built: Built,
    device: Device,
    oracle: Oracle,
    case: Case,
    findings: Findings,
    limits: LaunchLimits | None,
) -> CaseRun | Failure:
    step = prepare_case(job, built, job.exercise, case, limits or job.info.limits)
    if isinstance(step, Failure):
        return step
    if (
        sum(array.nbytes for array in step.arrays.values()) + built.binary.variable_bytes
        > MOST_BYTES
    ):
        return run_case(job, built, device, oracle, case, limits=limits)
    started = time.monotonic()
    execution, got = device.run(step.program, step.inputs, limits=_limits(job), mode=CheckedMode())
    if execution.failure is not None and execution.failure.status in _WITHOUT_CHECKS:
        rest = replace(job, spent_seconds=time.monotonic() - started)
        return run_case(rest, built, device, oracle, case, limits=limits)
    if execution.failure is not None:
        return describe_failed_run(execution.failure, execution, case)
    result = judge_step(step, job.exercise, case, oracle, execution, got)
    found = execution.findings
    if result.passed:
        found += _run_backwards(job, step, device, oracle, case)
    findings.add(case, tell_findings(found, case))
    return CaseRun(result, execution)


def _limits(job: Job) -> RunLimits:
    """A case that needs more than this is none of the small ones that are checked."""
    spent = (1 - _PART_OF_TIME) * job.limits.wall_seconds
    return replace(
        job.limits,
        warp_instructions=min(job.limits.warp_instructions, MOST_INSTRUCTIONS),
        spent_seconds=spent,
    )


def _run_backwards(
    job: Job,
    step: Step,
    device: Device,
    oracle: Oracle,
    case: Case,
) -> tuple[Finding, ...]:
    """What a second run finds, with blocks and warps in the opposite order; it may not end where
    blocks wait for earlier ones."""
    mode = CheckedMode(backwards=True)
    execution, got = device.run(step.program, step.inputs, limits=_limits(job), mode=mode)
    if execution.failure is not None:
        return (
            ()
            if execution.failure.status is Status.TIMEOUT
            else (order_dependent(execution, execution.failure.message),)
        )
    result = judge_step(step, job.exercise, case, oracle, execution, got)
    return (
        execution.findings
        if result.passed
        else (*execution.findings, order_dependent(execution, result.message))
    )


def order_dependent(execution: Execution, problem: str) -> Finding:
    """The finding of a plan that is right in one order, and has this problem in the opposite
    one."""
    only = execution.launches[0].kernel if len(execution.launches) == 1 else None
    message = (
        "the result depends on the order in which blocks and warps run: right in one order, and in"
        f" the opposite one: {problem}"
    )
    return Finding(FindingKind.ORDER_DEPENDENT, message, kernel=only)


def _name(finding: Finding, case: Case) -> str:
    return f"{finding.message.removesuffix('.')} (case '{case.name}')"


def rehearse_on_stand_in(job: Job, built: Built, tools: Toolchain, oracle: Oracle) -> Checked:
    """For a submission on a GPU: run its cases in the checked mode of the emulated device; or why
    that cannot be."""
    gpu = stand_in(job.info)
    findings = Findings()
    try:
        own = (
            built
            if gpu.arch == job.info.arch
            else build(built.source, job.exercise, tools, arch=gpu.arch, plan=built.plan)
        )
        if isinstance(own, Failure):
            return Checked(reason=own.message)
        with RemoteDevice(f"emulated:{gpu.id}", isolated=job.isolated) as device:
            for case in draw_cases(job.exercise, job.seed):
                run = rehearse_case(
                    job, own, device, oracle, case, findings, limits=gpu.emulated_info.limits
                )
                if isinstance(run, Failure):
                    return _after_failure(run, case, findings)
    except GraderError as error:
        return Checked(reason=str(error))
    return findings.outcome


def _after_failure(failure: Failure, case: Case, findings: Findings) -> Checked:
    """What a GPU lets through (an access beyond a buffer, a barrier that threads skip) ends a run
    on the emulated device."""
    if failure.status is not Status.RUNTIME_ERROR:
        return Checked(reason=f"the emulated device cannot run it: {failure.message}")
    findings.add(case, failure.findings)
    return findings.outcome
