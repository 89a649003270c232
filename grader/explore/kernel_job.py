"""A run of kernels without an exercise: its options, and its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import zip_longest
from pathlib import Path

from grader.devices.base import Arrays, Device
from grader.explore.kernel_data import KernelData
from grader.explore.launch_times import Times, modelled_times, note_unsure, note_untimed
from grader.explore.other_order import PUBLIC, find_order
from grader.grading.building import Built, build_plan, launch_on
from grader.grading.cases import collect_printed
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain
from grader.judging.machine_work import tell_machine_work
from grader.messages.findings import advise
from grader.messages.hidden import tell, tell_findings
from grader.messages.outputs import describe_modified
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
    Status,
    Stop,
    Submission,
    ToolLimits,
)
from grader.spec.statements import Plan

LIMITS = RunLimits(10**15, wall_seconds=300.0, processor_seconds=600.0, of_exercise=False)
"""Limits of one run: five minutes of two cores."""
COMPILE_LIMITS = ToolLimits(wall_seconds=60.0)


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
    """The result of a run on the emulated device; no outputs where a finding ended it. `notes` are
    about times."""

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
        _refuse(modelled[0])
    whole = checked
    if whole is None and modelled is not None and modelled[0].ran_whole:
        whole = modelled
    execution, outputs = whole or _run(job, device, program, CountingMode(detail=detail))
    _refuse(execution)
    times = () if modelled is None else modelled_times(modelled[0])
    notes = () if modelled is None else (*note_untimed(modelled[0]), *note_unsure(times))
    findings = tell_findings(execution.findings, PUBLIC)
    if checked is not None:
        arrays, show = job.data.arrays, job.options.show
        findings += find_order(device, program, arrays, checked, limits=LIMITS, show=show)
    machine = None
    if detail != PLAIN:
        sizes, timed = job.data.sizes, None if modelled is None else (program, modelled[0])
        machine = tell_machine_work((program, execution), sizes, timed, sizes)
    return Emulated(execution, outputs, findings, times, notes, machine)


def tell_run(
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
    modified = [_modified(name) for name in execution.modified_inputs]
    if modified and not job.check:
        raise SubmissionError(_input_failure(modified))
    printed = "".join(launch.printed for launch in execution.launches) + execution.printed
    return KernelRun(
        outputs,
        tuple(launches),
        (*findings, *modified),
        printed,
        f"{info.name} ({info.stands_for})",
        tuple(notes),
        job.source.name,
        job.source.text,
        dict(job.data.sizes),
        _render,
        machine,
        execution.accesses,
    )


def tell_launches(
    launches: Sequence[LaunchResult], times: Sequence[LaunchTime | None]
) -> list[KernelLaunch]:
    """The records of launches that were counted, each with its time."""
    told = {field.name for field in fields(KernelLaunch)} - {"time"}
    return [
        KernelLaunch(**{name: getattr(launch, name) for name in told}, time=time)
        for launch, time in zip_longest(launches, times[: len(launches)])
    ]


def fail_run(execution: Execution, stop: Stop) -> SubmissionError:
    """The error of a run that did not end, with advice and its output until then."""
    printed = collect_printed(execution, PUBLIC)
    failure = tell(stop)
    return SubmissionError(replace(failure, advice=advise(failure), printed=printed))


def _render(run: KernelRun) -> str:
    from grader.report.html.kernel_run import render_run

    return render_run(run)


def _run(job: KernelJob, device: Device, program: Program, mode: Mode) -> tuple[Execution, Arrays]:
    arrays = job.data.arrays
    return device.run(program, arrays, limits=LIMITS, mode=mode, progress=job.options.show)


def _as_findings(execution: Execution) -> tuple[Finding, ...]:
    """The findings of a fault that ended a run in the checked mode."""
    if execution.failure is None or execution.failure.status is not Status.RUNTIME_ERROR:
        return ()
    return tell(execution.failure).findings


def _refuse(execution: Execution) -> None:
    if execution.failure is not None:
        raise fail_run(execution, execution.failure)


def _modified(name: str) -> Finding:
    return Finding(FindingKind.INPUT_MODIFIED, describe_modified([name]), buffer=name)


def _input_failure(modified: Sequence[Finding]) -> Failure:
    names = [finding.buffer or "" for finding in modified]
    advice = "Give an array that kernels write as an output, with its content before the run."
    return Failure(
        Status.RUNTIME_ERROR,
        f"{describe_modified(names).capitalize()}.",
        advice=advice,
        findings=tuple(modified),
    )
