"""The times of single launches: modelled, or measured on a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from grader.devices.base import Arrays, TimingDevice
from grader.grading.measure import measure
from grader.judging.timing import is_known, model_timing
from grader.messages.doubt import describe_unmodelled, describe_unsure
from grader.messages.hidden import describe_mistake
from grader.metrics import format_value
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

Times = tuple[LaunchTime | None, ...]
MOST_NAMED = 6
"""Most launches that a note names by their numbers."""
MOST_APART = 12
"""Most launches that are timed apart: each is timed together with all launches before it."""


def modelled_times(execution: Execution) -> Times:
    """The modelled time of each launch with its interval; None where the model has no time."""
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
    """The time that each launch adds, from the times of the first launch, the first two, and so
    on."""
    times, before, (least, most) = [], 0.0, (0.0, 0.0)
    for timing in timings:
        low, high = timing.interval_ms
        interval = max(0.0, low - most), max(0.0, high - least)
        added_ms = max(0.0, timing.median_ms - before)
        times.append(LaunchTime(added_ms, interval, None, Source.MEASURED))
        before, least, most = timing.median_ms, low, high
    return tuple(times)
