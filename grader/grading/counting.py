"""Who counts for a submission on a GPU: Nsight Compute, or the emulated device where ncu cannot.

The emulated device runs in either case: Nsight Compute gives no counters for single source lines.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.devices.base import Arrays
from grader.devices.choose import DEFAULT_GPU
from grader.devices.gpus import Gpu, read_gpus
from grader.devices.ncu import count_with_ncu
from grader.devices.ncu_metrics import HARDWARE_CONFLICTS, CountedLaunch
from grader.errors import GraderError
from grader.grading.cases import BENCHMARK, Oracle, run_case
from grader.grading.job import Job
from grader.grading.programs import Built, Toolchain, build
from grader.records import DeviceInfo, Execution, Failure, Program
from grader.sandbox.process import run_tool
from grader.sandbox.remote import RemoteDevice
from grader.spec.model import Case


@dataclass(frozen=True)
class Counts:
    """The counters of one run of the plan: `execution` is None for `reason`. `facts` belong in the score's `environment`."""

    execution: Execution | None = None
    lines_from: Execution | None = None
    dram_bytes: int | None = None
    reason: str = "the benchmark did not run"
    facts: Mapping[str, str] = field(default_factory=dict)


def count_emulated(job: Job, built: Built, tools: Toolchain, oracle: Oracle) -> Execution | str:
    """Count on the emulated device, at its own benchmark sizes; or why it cannot, as a clause."""
    gpu = _stand_in(job.info)
    info = gpu.emulated_info
    try:
        own = built if gpu.arch == job.info.arch else build(built.source, job.exercise, tools, arch=gpu.arch)
        if isinstance(own, Failure):
            return own.message
        with RemoteDevice(f"emulated:{gpu.id}") as device:
            device.load(own.binary)
            case = Case(BENCHMARK, job.exercise.benchmark[info.kind], hidden=False)
            run = run_case(job, own, device, oracle, case, limits=info.limits)
    except GraderError as error:
        return str(error)
    if isinstance(run, Failure):
        return run.message
    return run.execution if run.result.passed else f"it computes another output: {run.result.message}"


def count_on_gpu(job: Job, program: Program, ran: Execution, inputs: Arrays, emulated: Execution | str) -> Counts:
    """Count the plan with ncu, on the GPU and the inputs that it `ran` on; else take what the emulated device counted."""
    lines_from = emulated if isinstance(emulated, Execution) else None
    counted = count_with_ncu(
        program.binary, program.launches, program.buffers, inputs, gpu_index=int(job.choice.id), run=run_tool, limits=job.limits,
        environ=os.environ,
    )  # fmt: skip
    if isinstance(counted, tuple):
        launches = tuple(replace(launch, counters=row.counters, lines=()) for launch, row in zip(ran.launches, counted, strict=True))
        facts = _describe_ncu(job, counted) | ({"line_counters": f"emulated device, {_sizes(job, 'emulated')}"} if lines_from else {})
        return Counts(replace(ran, launches=launches), lines_from, _total_dram_bytes(counted), facts=facts)
    why = f"{counted.reason}. {counted.advice}".strip()
    if lines_from is None:
        reason = f"{counted.reason}, and the emulated device cannot count it: {emulated}"
        return Counts(reason=reason, facts={"counters": f"none: {reason}"})
    return Counts(lines_from, lines_from, facts={"counters": f"emulated device, {_sizes(job, 'emulated')}, because {why}"})


def _stand_in(info: DeviceInfo) -> Gpu:
    """The emulated GPU for a real one: itself, else one that runs the same machine code, else the default."""
    known = read_gpus()
    same_code = (gpu for gpu in known.values() if gpu.arch == info.arch)
    return known.get(info.id) or next(same_code, known[DEFAULT_GPU])


def _total_dram_bytes(counted: Sequence[CountedLaunch]) -> int | None:
    """Of all launches; None where ncu does not have it."""
    known = [launch.dram_bytes for launch in counted if launch.dram_bytes is not None]
    return sum(known) if len(known) == len(counted) else None


def _describe_ncu(job: Job, counted: Sequence[CountedLaunch]) -> dict[str, str]:
    facts = {"counters": f"Nsight Compute, {_sizes(job, 'gpu')}"}
    conflicts = [launch.hardware_bank_conflicts for launch in counted if launch.hardware_bank_conflicts is not None]
    if conflicts:
        facts[HARDWARE_CONFLICTS] = f"{sum(conflicts):,} (with lost arbitration: for information, never graded)"
    return facts


def _sizes(job: Job, kind: str) -> str:
    return ", ".join(f"{name} = {size:,}" for name, size in job.exercise.benchmark[kind].items())
