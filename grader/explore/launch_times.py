"""The times of single launches: modelled, or measured on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from grader.devices.base import Arrays, TimingDevice
from grader.grading.measure import measure
from grader.judging.modelled import is_known, model_timing
from grader.records import (
    SUBMISSION,
    Execution,
    LaunchTime,
    Program,
    RunLimits,
    ShowProgress,
    Source,
    Timing,
)
from grader.words.doubt import UNKNOWN_FIGURES, describe_unsure
from grader.words.hidden import tell

Times = tuple[LaunchTime | None, ...]


def modelled_times(execution: Execution) -> Times:
    """The modelled time of each launch with its interval; None where the model has none."""
    times: list[LaunchTime | None] = []
    for launch in execution.launches:
        timing = model_timing(launch.kernel, Execution((launch,)))
        if timing is None or launch.modelled is None:
            times.append(None)
            continue
        bounds = launch.modelled.bounds
        bound = bounds[0].resource if bounds else None
        times.append(
            LaunchTime(timing.median_ms, timing.interval_ms, bound, Source.MODELLED, timing.kind)
        )
    return tuple(times)


def note_untimed(execution: Execution) -> tuple[str, ...]:
    """A sentence for each launch that has no modelled time."""
    return tuple(
        f"Launch {number} has no modelled time: {launch.unmodelled or UNKNOWN_FIGURES}."
        for number, launch in enumerate(execution.launches, start=1)
        if launch.modelled is None
    )


def note_unsure(times: Times) -> tuple[str, ...]:
    """A sentence for each launch whose modelled time is hardly known."""
    modelled = (
        (number, Timing(SUBMISSION, time.ms, time.interval_ms, (), time.kind))
        for number, time in enumerate(times, start=1)
        if time is not None and time.source is Source.MODELLED
    )
    return tuple(
        f"Launch {number}: {describe_unsure([timing])}."
        for number, timing in modelled
        if not is_known(timing)
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
    """The measured time of each launch of a program that ran well, or why there is none, as a
    sentence.

    A launch needs what those before it left, so that what is timed is the first launch, the first
    two, and so on, in rounds side by side: the time of a launch is what it adds.
    """
    shorter = [
        replace(program, label=f"first {count}", launches=program.launches[:count])
        for count in range(1, len(program.launches))
    ]
    programs = [replace(program, label=SUBMISSION), *shorter]
    execution, _ = device.prepare(programs, [arrays], limits=limits)
    if execution.failure is not None:
        return tell(execution.failure).message
    labels = [each.label for each in programs]
    found = measure(
        device, labels, input_sets=1, find_open=lambda _: (), rng=Random(seed), show=show
    )
    if found.wrong is not None:
        return "The kernels were not timed: they do not give the same outputs in every run."
    if found.disturbed is not None:
        return tell(found.disturbed).message
    timings = {timing.plan: timing for timing in found.timings}
    return added_times([timings[label] for label in (*labels[1:], SUBMISSION)])


def added_times(timings: Sequence[Timing]) -> Times:
    """What each launch adds, from the times of the first launch, the first two, and so on."""
    times, before, (least, most) = [], 0.0, (0.0, 0.0)
    for timing in timings:
        low, high = timing.interval_ms
        interval = max(0.0, low - most), max(0.0, high - least)
        added_ms = max(0.0, timing.median_ms - before)
        times.append(LaunchTime(added_ms, interval, None, Source.MEASURED))
        before, least, most = timing.median_ms, low, high
    return tuple(times)
