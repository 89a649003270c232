"""Who counts for a submission on a GPU: Nsight Compute, or the emulated device where ncu cannot.

The emulated device runs in either case: Nsight Compute gives no counters for single source lines.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

from grader.devices.base import Arrays, Device
from grader.devices.choose import DEFAULT_GPU
from grader.devices.gpu.ncu import count_with_ncu
from grader.devices.gpu.ncu_metrics import HARDWARE_CONFLICTS, CountedLaunch, NotCounted
from grader.devices.gpus import Gpu, read_gpus
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError
from grader.grading.cases import BENCHMARK, Oracle, poison_outputs, run_case
from grader.grading.job import Job
from grader.grading.others import OTHERS_SEED, broken
from grader.grading.programs import Built, Toolchain, build
from grader.grading.remembered import counts_key, recall, remember
from grader.judging.checks import find_counted
from grader.judging.timing import LABELS
from grader.judging.values import OtherCounts
from grader.records import DeviceInfo, Execution, Failure, Program, Progress, Traffic
from grader.sandbox.process import run_tool
from grader.spec.cases import make_inputs
from grader.spec.model import Case, Yardstick


@dataclass(frozen=True)
class Counts:
    """The counters of one run of the plan: `execution` is None for `reason`. `facts` belong in the
    score's `environment`.

    `by_ncu`: Nsight Compute counted, at the GPU's benchmark sizes; else it was the emulated device,
    at its own.
    """

    execution: Execution | None = None
    lines_from: Execution | None = None
    traffic: Traffic = field(default_factory=Traffic)
    reason: str = "the benchmark did not run"
    facts: Mapping[str, str] = field(default_factory=dict)
    by_ncu: bool = False


def count_emulated(job: Job, built: Built, tools: Toolchain, oracle: Oracle) -> Execution | str:
    """Count on the emulated device, at its own benchmark sizes; or why it cannot, as a clause."""
    gpu = stand_in(job.info)
    info = gpu.emulated_info
    try:
        own = (
            built
            if gpu.arch == job.info.arch
            else build(built.source, job.exercise, tools, arch=gpu.arch, plan=built.plan)
        )
        if isinstance(own, Failure):
            return own.message
        with RemoteDevice(f"emulated:{gpu.id}", isolated=job.isolated) as device:
            case = Case(BENCHMARK, job.exercise.benchmark[info.kind], hidden=False)
            run = run_case(job, own, device, oracle, case, limits=info.limits)
    except GraderError as error:
        return str(error)
    if isinstance(run, Failure):
        return run.message
    return (
        run.execution if run.result.passed else f"it computes another output: {run.result.message}"
    )


def count_on_gpu(
    job: Job, program: Program, ran: Execution, inputs: Arrays, emulated: Execution | str
) -> Counts:
    """Count the plan with ncu, on the GPU and the inputs that it `ran` on; else take what the
    emulated device counted."""
    lines_from = emulated if isinstance(emulated, Execution) else None
    counted = _ask_ncu(job, program, inputs)
    if isinstance(counted, tuple):
        facts = _describe_ncu(job, counted) | (
            {"line_counters": f"emulated device, {_sizes(job, 'emulated')}"} if lines_from else {}
        )
        return Counts(
            _with_counters(ran, counted),
            lines_from,
            _total_traffic(counted),
            facts=facts,
            by_ncu=True,
        )
    why = f"{counted.reason}. {counted.advice}".strip()
    if lines_from is None:
        reason = f"{counted.reason}, and the emulated device cannot count it: {emulated}"
        return Counts(reason=reason, facts={"counters": f"none: {reason}"})
    return Counts(
        lines_from,
        lines_from,
        facts={"counters": f"emulated device, {_sizes(job, 'emulated')}, because {why}"},
    )


def count_others_on_gpu(
    job: Job,
    built: Mapping[str, Built],
    programs: Sequence[Program],
    device: Device,
    *,
    by_ncu: bool,
    tools: Toolchain,
    oracle: Oracle,
) -> dict[Yardstick, OtherCounts]:
    """Count each program that a check needs the counters of, as the submission was counted: at the
    same sizes, `by_ncu` or not."""
    taken = {program.label: program for program in programs}
    counts = {}
    for yardstick in find_counted(job.exercise, job.info):
        label = LABELS[yardstick]
        job.show(Progress(f"counting the {label} kernel"))
        if label not in taken:
            counts[yardstick] = OtherCounts(reason="this GPU cannot launch it")
        elif by_ncu:
            counts[yardstick] = _count_other_with_ncu(job, taken[label], device, tools)
        else:
            emulated = count_emulated(job, built[label], tools, oracle)
            counts[yardstick] = (
                OtherCounts(reason=emulated) if isinstance(emulated, str) else OtherCounts(emulated)
            )
    return counts


def _count_other_with_ncu(
    job: Job, program: Program, device: Device, tools: Toolchain
) -> OtherCounts:
    """What is remembered, or else counted now; ncu repeats a launch until it has all counters,
    which can take many seconds."""
    key = counts_key(program, job.info)
    if known := recall(tools.cache, key, Execution):
        return OtherCounts(known)
    inputs = make_inputs(
        job.exercise,
        Case(BENCHMARK, job.exercise.benchmark[job.info.kind], hidden=False),
        OTHERS_SEED,
    )
    with job.hold():
        ran, _ = device.run(program, poison_outputs(program.buffers) | inputs, limits=job.limits)
    if ran.failure is not None:
        raise broken(job, program.label, ran.failure.message)
    counted = _ask_ncu(job, program, inputs)
    if isinstance(counted, NotCounted):
        return OtherCounts(reason=counted.reason)
    execution = _with_counters(ran, counted)
    remember(tools.cache, key, execution)
    return OtherCounts(execution)


def _ask_ncu(job: Job, program: Program, inputs: Arrays) -> tuple[CountedLaunch, ...] | NotCounted:
    return count_with_ncu(
        program,
        inputs,
        gpu_index=int(job.choice.id),
        run=run_tool,
        limits=job.limits,
        environ=os.environ,
        hold=job.hold,
    )


def _with_counters(ran: Execution, counted: Sequence[CountedLaunch]) -> Execution:
    """A run with the counters of Nsight Compute, which counts no lines."""
    launches = zip(ran.launches, counted, strict=True)
    return replace(
        ran,
        launches=tuple(
            replace(launch, counters=row.counters, lines=()) for launch, row in launches
        ),
    )


def stand_in(info: DeviceInfo) -> Gpu:
    """The emulated GPU for a real one: itself, else one that runs the same machine code, else the
    default."""
    known = read_gpus()
    same_code = (gpu for gpu in known.values() if gpu.arch == info.arch)
    return known.get(info.id) or next(same_code, known[DEFAULT_GPU])


def _total_traffic(counted: Sequence[CountedLaunch]) -> Traffic:
    """Of all launches."""
    return reduce(add, (launch.traffic for launch in counted))


def _describe_ncu(job: Job, counted: Sequence[CountedLaunch]) -> dict[str, str]:
    facts = {"counters": f"Nsight Compute, {_sizes(job, 'gpu')}"}
    conflicts = [
        launch.hardware_bank_conflicts
        for launch in counted
        if launch.hardware_bank_conflicts is not None
    ]
    if conflicts:
        facts[HARDWARE_CONFLICTS] = (
            f"{sum(conflicts):,} (with lost arbitration: for information, never graded)"
        )
    return facts


def _sizes(job: Job, kind: str) -> str:
    return ", ".join(f"{name} = {size:,}" for name, size in job.exercise.benchmark[kind].items())
