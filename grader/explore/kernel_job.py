"""A run of kernels without an exercise: its options, and its record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from grader.devices.base import Arrays, Device
from grader.explore.kernel_data import KernelData
from grader.grading.building import Built, build_plan, launch_on
from grader.grading.cases import collect_printed
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain
from grader.judging.machine_work import combine_machine_work
from grader.judging.timing import is_known, model_timing
from grader.messages.doubt import describe_unmodelled, describe_unsure
from grader.messages.findings import advise
from grader.messages.hidden import describe_findings, describe_mistake
from grader.messages.observations import describe_order
from grader.messages.outputs import describe_modified, describe_other_values
from grader.plumbing.cache import cache_folder
from grader.records import (
    PLAIN,
    SUBMISSION,
    CheckedMode,
    CountingMode,
    DeviceChoice,
    DeviceInfo,
    Execution,
    Failure,
    Finding,
    FindingKind,
    KernelLaunch,
    KernelRun,
    LaunchResult,
    LaunchTime,
    MachineWork,
    Mode,
    ModelledMode,
    Options,
    Program,
    RunLimits,
    ShowProgress,
    Source,
    Status,
    Submission,
    Timing,
    ToolLimits,
)
from grader.spec.exercise import Case
from grader.spec.statements import Plan

LIMITS = RunLimits(10**15, wall_seconds=300.0, processor_seconds=600.0, of_exercise=False)
"""Limits of one run: five minutes of two cores."""
COMPILE_LIMITS = ToolLimits(wall_seconds=60.0)
FACTOR, LEAST_INSTRUCTIONS = 4, 1_000_000
"""The opposite order may execute FACTOR times the warp instructions of the first, plus
LEAST_INSTRUCTIONS: where blocks wait for earlier blocks, it never ends."""
MOST_NAMED = 6
"""Most launches that a note names by their numbers."""
Times = tuple[LaunchTime | None, ...]
PUBLIC = Case("run", {}, hidden=False)
"""A run without an exercise has no secrets."""


@dataclass(frozen=True)
class KernelJob:
    """The request: run these launches of this source on this data and device."""

    source: Submission
    plan: Plan
    data: KernelData
    choice: DeviceChoice
    options: Options
    check: bool

    @property
    def limits(self) -> RunLimits:
        """The limits of each run: LIMITS, unless the options have others."""
        return self.options.limits or LIMITS

    @property
    def cache(self) -> Path:
        """The folder of compiled sources."""
        return cache_folder(self.options)

    def build(self, tools: Toolchain, arch: str) -> Built:
        """The compiled source. Raises SubmissionError."""
        return build_plan(
            self.source, self.plan, self.data.names, tools, arch=arch, limits=COMPILE_LIMITS
        )

    def make_program(self, built: Built, info: DeviceInfo) -> Program:
        """Its launches on the data. Raises SubmissionError."""
        data = self.data
        return launch_on(
            SUBMISSION,
            built,
            data.buffers,
            sizes=data.sizes,
            limits=info.limits,
            scalars=data.scalars,
        )


@dataclass(frozen=True)
class Emulated:
    """The result of a run; no outputs if a finding ended it. `notes` are about times."""

    execution: Execution
    outputs: Arrays
    findings: tuple[Finding, ...] = ()
    times: Times = ()
    notes: tuple[str, ...] = ()
    machine: MachineWork | None = None


def emulate(job: KernelJob, device: Device, program: Program) -> Emulated:
    """Runs the program on the emulated device: all of its blocks, on request in the checked mode
    and in both orders, and once more for the times. Raises SubmissionError."""
    detail = job.options.detail
    checked = _run(job, device, program, CheckedMode(detail=detail)) if job.check else None
    if checked is not None and (stopped := _as_findings(checked[0])):
        return Emulated(checked[0], {}, stopped)
    modelling = ModelledMode(job.options.fixed_seed, detail=detail)
    modelled = _run(job, device, program, modelling) if job.options.model else None
    if modelled is not None:
        refuse_failed(modelled[0])
    whole = checked
    if whole is None and modelled is not None and modelled[0].ran_whole:
        whole = modelled
    execution, outputs = whole or _run(job, device, program, CountingMode(detail=detail))
    refuse_failed(execution)
    times = () if modelled is None else modelled_times(modelled[0])
    notes = () if modelled is None else (*explain_untimed(modelled[0]), *explain_unsure(times))
    findings = describe_findings(execution.findings, PUBLIC)
    if checked is not None:
        arrays, show = job.data.arrays, job.options.show
        findings += find_order(device, program, arrays, checked, limits=job.limits, show=show)
    machine = None
    if detail != PLAIN:
        sizes, timed = job.data.sizes, None if modelled is None else (program, modelled[0])
        machine = combine_machine_work((program, execution), sizes, timed, sizes)
    return Emulated(execution, outputs, findings, times, notes, machine)


def record_run(
    job: KernelJob,
    execution: Execution,
    outputs: Arrays,
    *,
    launches: Sequence[KernelLaunch],
    findings: Sequence[Finding],
    info: DeviceInfo,
    notes: Sequence[str],
    machine: MachineWork | None = None,
) -> KernelRun:
    """The record of a run that ended normally or by a finding. Raises SubmissionError where an
    input was written to; in the checked mode that is a finding."""
    names = execution.modified_inputs
    modified = tuple(
        Finding(FindingKind.INPUT_MODIFIED, describe_modified([name]), buffer=name)
        for name in names
    )
    if modified and not job.check:
        message = f"{describe_modified(names).capitalize()}."
        advice = "Give an array that kernels write as an output, with its content before the run."
        error = Status.RUNTIME_ERROR
        raise SubmissionError(Failure(error, message, advice=advice, findings=modified))
    printed = "".join(launch.printed for launch in execution.launches) + execution.printed
    return KernelRun(
        outputs,
        tuple(launches),
        (*findings, *modified),
        printed,
        info.description,
        tuple(notes),
        job.source.name,
        job.source.text,
        dict(job.data.sizes),
        _render,
        machine,
        execution.accesses,
    )


def record_launches(
    launches: Sequence[LaunchResult], times: Sequence[LaunchTime | None]
) -> list[KernelLaunch]:
    """The records of launches that were counted, each with its time."""
    names = {field.name for field in fields(KernelLaunch)} - {"time"}
    return [
        KernelLaunch(**{name: getattr(launch, name) for name in names}, time=time)
        for launch, time in zip_longest(launches, times[: len(launches)])
    ]


def refuse_failed(execution: Execution) -> None:
    """Raises SubmissionError for a run that did not end, with advice and its output until then."""
    if execution.failure is not None:
        failure = describe_mistake(execution.failure)
        printed = collect_printed(execution, PUBLIC)
        raise SubmissionError(replace(failure, advice=advise(failure), printed=printed))


def _render(run: KernelRun) -> str:
    from grader.report.html.program import render_run

    return render_run(run)


def _run(job: KernelJob, device: Device, program: Program, mode: Mode) -> tuple[Execution, Arrays]:
    show = job.options.show
    return device.run(program, job.data.arrays, limits=job.limits, mode=mode, progress=show)


def _as_findings(execution: Execution) -> tuple[Finding, ...]:
    """The findings of a fault that ended a run in the checked mode."""
    if execution.failure is None or execution.failure.status is not Status.RUNTIME_ERROR:
        return ()
    return describe_mistake(execution.failure).findings


def modelled_times(execution: Execution) -> Times:
    """The modelled time of each launch with its interval; None where the model has no time."""
    return tuple(map(_modelled_time, execution.launches))


def _modelled_time(launch: LaunchResult) -> LaunchTime | None:
    timing = model_timing(launch.kernel, Execution((launch,)))
    if timing is None or launch.modelled is None:
        return None
    bound = launch.modelled.bounds[0].resource if launch.modelled.bounds else None
    ms, interval_ms = timing.median_ms, timing.interval_ms
    return LaunchTime(ms, interval_ms, bound, Source.MODELLED, timing.kind)


def explain_untimed(execution: Execution) -> tuple[str, ...]:
    """A sentence for the launches without a modelled time for the same reason."""
    untimed = (
        (number, describe_unmodelled(launch.unmodelled))
        for number, launch in enumerate(execution.launches, start=1)
        if launch.modelled is None
    )
    return tuple(
        f"{_name_launches(same)} {'has' if len(same) == 1 else 'have'} no modelled time: {why}."
        for why, same in _by_words(untimed).items()
    )


def explain_unsure(times: Times) -> tuple[str, ...]:
    """A sentence for the launches whose modelled times are hardly known for the same reason."""
    modelled = (
        (number, Timing(SUBMISSION, time.ms, time.interval_ms, (), time.kind))
        for number, time in enumerate(times, start=1)
        if time is not None and time.source is Source.MODELLED
    )
    unsure = (
        (number, describe_unsure([timing])) for number, timing in modelled if not is_known(timing)
    )
    return tuple(f"{_name_launches(numbers)}: {why}." for why, numbers in _by_words(unsure).items())


def _by_words(reasons: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for number, words in reasons:
        numbers.setdefault(words, []).append(number)
    return numbers


def _name_launches(numbers: Sequence[int]) -> str:
    """`Launch 3`, `Launches 3, 4`; of many only the first, and their number."""
    if len(numbers) == 1:
        return f"Launch {numbers[0]}"
    named = ", ".join(map(str, numbers[:MOST_NAMED]))
    more = f", ... ({len(numbers)} in all)" if len(numbers) > MOST_NAMED else ""
    return f"Launches {named}{more}"


def find_order(
    device: Device,
    program: Program,
    arrays: Arrays,
    first: tuple[Execution, Arrays],
    *,
    limits: RunLimits,
    show: ShowProgress,
) -> tuple[Finding, ...]:
    """The findings of the opposite order for a program that ran without an error in the `first`
    order; none where it does not end."""
    execution, outputs = first
    spent = sum(launch.counters.instructions_executed for launch in execution.launches)
    most = min(limits.warp_instructions, FACTOR * spent + LEAST_INSTRUCTIONS)
    again, others = device.run(
        program,
        arrays,
        limits=replace(limits, warp_instructions=most),
        mode=CheckedMode(backwards=True),
        progress=show,
    )
    kernel = execution.launches[0].kernel if len(execution.launches) == 1 else None
    if again.failure is not None:
        if again.failure.status is Status.TIMEOUT:
            return ()
        return (describe_order(kernel, describe_mistake(again.failure).message, judged=False),)
    known = {_key(finding) for finding in describe_findings(execution.findings, PUBLIC)}
    seen = describe_findings(again.findings, PUBLIC)
    found = tuple(finding for finding in seen if _key(finding) not in known)
    differing = [name for name, array in outputs.items() if not _is_same(array, others[name])]
    races = any(each.kind is FindingKind.RACE for each in (*execution.findings, *again.findings))
    if not differing or races:  # a race explains the order
        return found
    return (*found, describe_order(kernel, describe_other_values(differing), judged=False))


def _key(finding: Finding) -> tuple[object, ...]:
    """Equal for two findings of one mistake, whatever the order of their threads."""
    lines = sorted(line or 0 for line in (finding.line, finding.other_line))
    return finding.kind, finding.kernel, *lines


def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two outputs are equal; floating-point numbers in half of their digits, since a sum in
    another order is rounded differently."""
    if not np.issubdtype(first.dtype, np.floating):
        return np.array_equal(first, second)
    finite = np.isfinite(first)
    largest = float(np.max(np.abs(first), where=finite, initial=0.0))
    slack = float(np.sqrt(np.finfo(first.dtype).eps)) * largest
    return np.allclose(first, second, rtol=0.0, atol=slack, equal_nan=True)
