"""Runs the parts of an exercise: further tasks that the same file may solve. Whatever goes wrong
there ends only the part."""

from __future__ import annotations

from dataclasses import replace

from grader.devices.base import Device
from grader.errors import GraderError, SpecError
from grader.grading.cases import run_case
from grader.grading.job import Job
from grader.grading.programs import Built, Toolchain, build_part
from grader.records import Binary, CaseResult, Failure, PartResult, Progress, Status, ToolLimits
from grader.spec.draws import draw_cases
from grader.spec.exercise import Part
from grader.spec.launch_lines import Plan
from grader.spec.oracle import load_oracle
from grader.submission.plan import read_plan


def run_parts(job: Job, built: Built, device: Device, tools: Toolchain) -> tuple[PartResult, ...]:
    """Run every part of the exercise that the file has kernels for. SpecError where a part itself
    is broken."""
    return tuple(_run_part(job, part, built, device, tools) for part in job.exercise.parts)


def _run_part(job: Job, part: Part, built: Built, device: Device, tools: Toolchain) -> PartResult:
    plan = _find_plan(job, part, built)
    if isinstance(plan, str):
        return PartResult(part.name, absent=plan)
    if isinstance(plan, Failure):
        return PartResult(part.name, failure=plan)
    limits = ToolLimits(wall_seconds=job.exercise.limits.compile_seconds)
    planned = build_part(built, plan, part, tools, arch=job.info.arch, limits=limits)
    if isinstance(planned, Failure):
        return PartResult(part.name, failure=planned)
    try:
        return _run_cases(job, part, planned, device)
    except SpecError:
        raise
    except GraderError as error:
        return PartResult(
            part.name, failure=Failure(Status.GRADER_ERROR, str(error), error.detail, error.advice)
        )


def _find_plan(job: Job, part: Part, built: Built) -> Plan | Failure | str:
    """The submission's own plan for the part, else the part's default plan; why there is none, in
    words, without its kernels."""
    own = read_plan(built.source, part=part.name, parts=[each.name for each in job.exercise.parts])
    if own is not None:
        return own
    missing = [
        launch.kernel.name
        for launch in part.default_plan.launches
        if not _defines(built.binary, launch.kernel.name)
    ]
    return f"the file has no kernel {missing[0]}" if missing else part.default_plan


def _defines(binary: Binary, kernel: str) -> bool:
    """Whether there is a kernel of this name, in whatever namespace and with whatever template
    arguments."""
    return any(
        each.name.partition("<")[0].split("::")[-1] == kernel.split("::")[-1]
        for each in binary.kernels
    )


def _run_cases(job: Job, part: Part, planned: Built, device: Device) -> PartResult:
    oracle = load_oracle(job.exercise, part)
    cases = draw_cases(part, job.seed)
    results: list[CaseResult] = []
    for index, case in enumerate(cases):
        job.show(Progress(f"checking {part.name}", index, len(cases)))
        run = run_case(job, planned, device, oracle, case, task=part)
        if isinstance(run, Failure):
            return PartResult(part.name, tuple(results), failure=run)
        results.append(replace(run.result, part=part.name))
    return PartResult(part.name, tuple(results))
