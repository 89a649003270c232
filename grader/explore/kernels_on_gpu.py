"""A run of kernels on a GPU, from top to bottom."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random

from grader.devices.base import Arrays, TimingDevice
from grader.devices.gpu.gpu_lock import hold_gpu
from grader.devices.gpu.ncu import Hold, count_with_ncu
from grader.devices.gpu.ncu_metrics import CountedLaunch
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError
from grader.explore.kernel_job import (
    Emulated,
    KernelJob,
    Times,
    emulate,
    record_launches,
    record_run,
    refuse_failed,
)
from grader.grading.building import Built
from grader.grading.measure import measure
from grader.grading.mistakes import SubmissionError
from grader.grading.stand_in import stand_in
from grader.grading.tools import find_toolchain
from grader.messages.counting import describe_not_counted
from grader.messages.hidden import describe_mistake
from grader.metrics import format_value
from grader.records import (
    SUBMISSION,
    KernelLaunch,
    KernelRun,
    LaunchResult,
    LaunchTime,
    NotCounted,
    Program,
    RunLimits,
    ShowProgress,
    Source,
    Timing,
    Uncountable,
)
from grader.sandbox.process import run_tool

MOST_APART = 12
"""Most launches that are timed apart: each is timed together with all launches before it."""


def run_on_gpu(job: KernelJob) -> KernelRun:
    """Runs the job's launches on its GPU, and times them; the emulated device finds mistakes, and
    counts where Nsight Compute does not. Raises SubmissionError."""
    with RemoteDevice(str(job.choice), isolated=job.options.isolated) as device:
        tools = find_toolchain(prefer_wheel=False, cache=job.cache, isolated=job.options.isolated)
        info, arrays = device.info, job.data.arrays
        built = job.build(tools, info.arch)
        program = job.make_program(built, info)
        gpu = stand_in(info)
        emulated = _emulate(job, gpu.id, built if gpu.arch == info.arch else None)
        hold = partial(hold_gpu, device.uuid, show=job.options.show)
        with hold():
            execution, outputs = device.run(program, arrays, limits=job.limits)
            refuse_failed(execution)
            times = measure_launches(
                device,
                program,
                arrays,
                limits=job.limits,
                seed=job.options.fixed_seed,
                show=job.options.show,
            )
    notes = [times] if isinstance(times, str) else []
    launches = record_launches(execution.launches, () if isinstance(times, str) else times)
    findings = () if isinstance(emulated, str) else emulated.findings
    if job.check and isinstance(emulated, str):
        notes.append(f"The checked mode could not look at it: {emulated}")
    launches, how = _count(job, program, launches, emulated, hold)
    return record_run(
        job,
        execution,
        outputs,
        launches=launches,
        findings=findings,
        info=info,
        notes=[*notes, how],
        machine=None if isinstance(emulated, str) else emulated.machine,
    )


def _emulate(job: KernelJob, gpu_id: str, built: Built | None) -> Emulated | str:
    """The result of the emulated device, or the reason why there is none."""
    job = replace(job, options=replace(job.options, model=False))
    try:
        with RemoteDevice(f"emulated:{gpu_id}", isolated=job.options.isolated) as device:
            if built is None:
                tools = find_toolchain(
                    prefer_wheel=True, cache=job.cache, isolated=job.options.isolated
                )
                built = job.build(tools, device.info.arch)
            return emulate(job, device, job.make_program(built, device.info))
    except (GraderError, SubmissionError) as error:
        return str(error)


def _count(
    job: KernelJob,
    program: Program,
    launches: Sequence[KernelLaunch],
    emulated: Emulated | str,
    hold: Hold,
) -> tuple[list[KernelLaunch], str]:
    """The launches with the counters of Nsight Compute, or else of the emulated device, which also
    counts line by line; and the source of the counters, as a sentence."""
    seen: Sequence[LaunchResult] = (
        () if isinstance(emulated, str) or not emulated.outputs else emulated.execution.launches
    )
    if len(seen) == len(launches):
        launches = [
            replace(launch, counters=counted.counters, lines=counted.lines)
            for launch, counted in zip(launches, seen, strict=True)
        ]
    else:
        launches = [replace(launch, counters=None, lines=()) for launch in launches]
    counted = _ask_ncu(job, program, hold)
    if not isinstance(counted, NotCounted):
        rows = zip(launches, counted, strict=True)
        return [replace(each, counters=row.counters) for each, row in rows], (
            "Counters are those of Nsight Compute."
        )
    reason, _ = describe_not_counted(counted)
    if seen:
        return launches, f"Counters are those of the emulated device: {reason}."
    why = emulated if isinstance(emulated, str) else "a finding ended its run"
    return launches, f"There are no counters: {reason}, and the emulated device: {why}."


def _ask_ncu(
    job: KernelJob, program: Program, hold: Hold
) -> tuple[CountedLaunch, ...] | NotCounted:
    if job.data.fills_outputs:
        return NotCounted(Uncountable.FILLED_OUTPUTS)
    return count_with_ncu(
        program,
        job.data.arrays,
        gpu_index=int(job.choice.id),
        run=run_tool,
        limits=job.limits,
        environ=os.environ,
        hold=hold,
    )


def measure_launches(
    device: TimingDevice,
    program: Program,
    arrays: Arrays,
    *,
    limits: RunLimits,
    seed: int,
    show: ShowProgress,
) -> Times | str:
    """The measured time of each launch of a program that ran without an error, or the reason why
    there is none, as a sentence.

    A launch needs the results of the launches before it. So the timed sequences are the first
    launch, the first two, and so on, in rounds side by side: the time of a launch is the time that
    it adds. With more than MOST_APART launches only the total time is measured.
    """
    apart = len(program.launches) <= MOST_APART
    shorter = [
        replace(program, label=f"first {count}", steps=program.up_to_launch(count))
        for count in range(1, len(program.launches) if apart else 1)
    ]
    programs = [replace(program, label=SUBMISSION), *shorter]
    execution, _ = device.prepare(programs, [arrays], limits=limits)
    if execution.failure is not None:
        return describe_mistake(execution.failure).message
    labels = [each.label for each in programs]
    found = measure(
        device, labels, input_sets=1, find_open=lambda _: (), rng=Random(seed), show=show
    )
    if found.wrong is not None:
        return "The kernels were not timed: they do not give the same outputs in every run."
    if found.disturbed is not None:
        return describe_mistake(found.disturbed).message
    timings = {timing.plan: timing for timing in found.timings}
    if not apart:
        return _describe_whole(timings[SUBMISSION], len(program.launches))
    return added_times([timings[label] for label in (*labels[1:], SUBMISSION)])


def _describe_whole(timing: Timing, launches: int) -> str:
    least, most = (format_value("time_ms", end) for end in timing.interval_ms)
    whole = format_value("time_ms", timing.median_ms)
    return f"The {launches} launches took {whole} together ({least} to {most}): measured."


def added_times(timings: Sequence[Timing]) -> Times:
    """The time that each launch adds, from the times of the first, the first two, and so on."""
    times, before, (least, most) = [], 0.0, (0.0, 0.0)
    for timing in timings:
        low, high = timing.interval_ms
        interval = max(0.0, low - most), max(0.0, high - least)
        added_ms = max(0.0, timing.median_ms - before)
        times.append(LaunchTime(added_ms, interval, None, Source.MEASURED))
        before, least, most = timing.median_ms, low, high
    return tuple(times)
