"""Runs a case of a task on a device and compares its outputs with the oracle's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol

from grader.devices.base import Arrays, Device
from grader.grading.building import Built, make_program
from grader.grading.mistakes import SubmissionError
from grader.judging.compare import judge_case
from grader.messages.hidden import describe_failure, hiding_errors, name_case
from grader.records import (
    SUBMISSION,
    CaseResult,
    Execution,
    Failure,
    FindingKind,
    LaunchLimits,
    Printed,
    Program,
    Progress,
    RunLimits,
    ShowProgress,
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
