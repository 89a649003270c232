"""Runs a case of a task on a device and compares its outputs with the expected outputs.

The checked mode of the emulated device runs a case in both orders of blocks and warps, and finds
mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Protocol

from grader.devices.base import Arrays, Device
from grader.grading.building import Built, make_program
from grader.grading.mistakes import SubmissionError
from grader.judging.compare import judge_case
from grader.judging.evidence import Checked
from grader.messages.hidden import (
    describe_failure,
    describe_findings,
    describe_mistake,
    hiding_errors,
    name_case,
)
from grader.messages.observations import describe_order
from grader.records import (
    SUBMISSION,
    CaseResult,
    CheckedMode,
    Execution,
    Failure,
    Finding,
    FindingKind,
    LaunchLimits,
    Mode,
    Printed,
    Program,
    Progress,
    RunLimits,
    ShowProgress,
    Status,
    Stop,
)
from grader.spec.draws import device_buffers, draw_cases, make_inputs
from grader.spec.exercise import Case, Task
from grader.spec.oracle import Places, Sizes
from grader.spec.tolerance import tolerance_at

BENCHMARK = "benchmark"
"""Name of the counted and timed case."""
MAX_PRINTED, MAX_PRINTING = 4096, 4
"""Limits of the kept `printf` output: characters per launch, and launches per case."""
MOST_BYTES = 64 << 20
"""Cases with larger buffers and variables run without the checks: the checked mode needs up to 17
times this memory."""
MOST_INSTRUCTIONS = 50_000_000
"""Warp instructions of a run: 1 to 3 seconds in the checked mode."""
MOST_FINDINGS = 20
_WITHOUT_CHECKS = (Status.TIMEOUT, Status.LAUNCH_ERROR)
"""Failures that can come from the time and memory of the checks: the case runs again without."""
GRADED_TIME = 6
"""Limit of processor time at the benchmark sizes, as a multiple of the limit for a small case. A
naive matrix product of 4096³ with all blocks takes 70 s; the usual limit gives 120 s."""


class Oracle(Protocol):
    """Computes the expected outputs; see `spec.oracle.Oracle`."""

    def __call__(self, inputs: Arrays, sizes: Sizes, /) -> Arrays: ...

    def at(self, inputs: Arrays, sizes: Sizes, places: Places, /) -> Arrays: ...


@dataclass(frozen=True)
class Bench:
    """Runs the cases of a task. `launch_limits`: the device's limits of a launch; `limits`: time
    and instructions of a run."""

    device: Device
    built: Built
    task: Task
    oracle: Oracle
    seed: int
    launch_limits: LaunchLimits
    limits: RunLimits

    def program(self, sizes: Mapping[str, int], label: str = SUBMISSION) -> Program:
        """The launches at these sizes. Raises SubmissionError."""
        return make_program(label, self.built, self.task, sizes=sizes, limits=self.launch_limits)


@dataclass(frozen=True)
class CaseRun:
    """A case that ran to its end."""

    result: CaseResult
    execution: Execution


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


@dataclass(frozen=True)
class Step:
    """A case that is ready to run. `expected` calls the oracle once and caches its outputs."""

    program: Program
    inputs: Arrays
    expected: Callable[[], Arrays]


def each_case(task: Task, seed: int, show: ShowProgress, stage: str) -> Iterator[Case]:
    """Draws the cases of a task in turn and shows the progress."""
    cases = draw_cases(task, seed)
    for index, case in enumerate(cases):
        show(Progress(stage, index, len(cases)))
        yield case


def run_case(bench: Bench, case: Case, *, show: ShowProgress | None = None) -> CaseRun:
    """Runs a case with poisoned outputs and scratch, and judges it. Raises SubmissionError."""
    with hiding_errors(case):
        step = prepare_case(bench, case)
        execution, got = bench.device.run(
            step.program, step.inputs, limits=bench.limits, progress=show
        )
        if execution.failure is not None:
            raise SubmissionError(describe_failed_run(execution, execution.failure, case))
        return CaseRun(judge_step(bench, step, case, execution, got), execution)


def run_program(
    bench: Bench, program: Program, inputs: Arrays, mode: Mode, stage: str, show: ShowProgress
) -> tuple[Execution, Arrays]:
    """Runs a program at the benchmark sizes. Shows the device's steps under the name of the
    stage."""

    def show_step(step: Progress) -> None:
        show(Progress(stage, step.done, step.total))

    limits = graded_limits(bench)
    return bench.device.run(program, inputs, limits=limits, mode=mode, progress=show_step)


def graded_limits(bench: Bench) -> RunLimits:
    seconds = GRADED_TIME * bench.limits.processor_seconds
    return replace(bench.limits, processor_seconds=seconds)


def prepare_case(bench: Bench, case: Case) -> Step:
    """The case with evaluated launches and drawn inputs. Raises SubmissionError."""
    try:
        program = bench.program(case.sizes)
    except SubmissionError as error:
        raise SubmissionError(describe_failure(error.mistake, case)) from None
    inputs = make_inputs(bench.task, case, bench.seed)
    return Step(program, inputs, cache(partial(bench.oracle, inputs, case.sizes)))


def judge_step(
    bench: Bench, step: Step, case: Case, execution: Execution, got: Arrays
) -> CaseResult:
    """Compares the outputs of a run with the oracle's; adds the printed text."""
    result = judge_outputs(bench.task, case, step.expected(), got, execution)
    return replace(result, printed=collect_printed(execution, case))


def judge_outputs(
    task: Task, case: Case, expected: Arrays, got: Arrays, execution: Execution
) -> CaseResult:
    """Compares all outputs of a run with the expected outputs."""
    return judge_case(
        case,
        device_buffers(task, case.sizes),
        expected,
        got,
        tolerance_at(task, case),
        modified_inputs=execution.modified_inputs,
        raced=any(each.kind is FindingKind.RACE for each in execution.findings),
    )


def not_verified(case: Case, reason: str) -> CaseResult:
    """A case that is neither right nor wrong."""
    return CaseResult(
        case.name, case.hidden, dict(case.sizes), passed=False, message=reason, unverified=reason
    )


def describe_failed_run(execution: Execution, stop: Stop, case: Case) -> Failure:
    """The reason why a run of a case stopped, with the case's name and the printed text."""
    return replace(name_case(stop, case), printed=collect_printed(execution, case))


def collect_printed(execution: Execution, case: Case) -> tuple[Printed, ...]:
    """The printed text of the launches, cut to the limits of a score. Empty for a hidden case,
    because the text can reveal its sizes."""
    if case.hidden:
        return ()
    texts: list[tuple[str | None, str]] = [
        (launch.kernel, launch.printed) for launch in execution.launches
    ]
    texts.append((None, execution.printed))
    kept = (
        Printed(kernel, text[:MAX_PRINTED], len(text) > MAX_PRINTED)
        for kernel, text in texts
        if text
    )
    return tuple(kept)[:MAX_PRINTING]


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
    most = min(bench.limits.warp_instructions, MOST_INSTRUCTIONS)
    return replace(bench.limits, warp_instructions=most)
