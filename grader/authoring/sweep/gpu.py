"""A sweep on a GPU: all programs timed in rounds at every size, and the GPU's library where one is
installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from statistics import median

from grader.authoring.sweep.rows import timed_row
from grader.authoring.sweep.sizes import Sizes, at_sizes
from grader.devices.base import Arrays, TimingDevice
from grader.devices.choose import GPU, Choice
from grader.devices.gpu.library import find_array_library, time_on_gpu
from grader.errors import SpecError
from grader.grading.benchmark import count_input_sets, draw_input_set, judge_outputs
from grader.grading.cases import Oracle
from grader.grading.job import Job
from grader.grading.measure import measure
from grader.grading.others import make_others
from grader.grading.programs import Built, make_program
from grader.records import SUBMISSION, Failure, Progress, Timing
from grader.report.sweep import SweepRow
from grader.spec.exercise import Exercise
from grader.spec.oracle import load_oracle


def sweep_gpu(
    job: Job, built: Mapping[str, Built], device: TimingDevice, points: Sequence[Sizes]
) -> list[list[SweepRow]]:
    """A row list for each point."""
    oracle = load_oracle(job.exercise)
    rows = []
    for index, sizes in enumerate(points):
        job.show(Progress("timing the programs at all sizes", index, len(points)))
        rows.append(list(time_programs(at_sizes(job, sizes), built, device, oracle, sizes)))
    return rows


def time_programs(
    job: Job, built: Mapping[str, Built], device: TimingDevice, oracle: Oracle, sizes: Sizes
) -> Iterator[SweepRow]:
    """The submission's row, then those of the others; these have no times where the submission does
    not run."""
    own = make_program(
        SUBMISSION, built[SUBMISSION], job.exercise, sizes=sizes, limits=job.info.limits
    )
    if isinstance(own, Failure):
        yield SweepRow(SUBMISSION, False, note=own.message)
        return
    others = make_others(job, {label: each for label, each in built.items() if label != SUBMISSION})
    programs = [own, *others]
    sets = [draw_input_set(job, oracle, number) for number in range(count_input_sets(job))]
    execution, outputs = device.prepare(programs, [each.inputs for each in sets], limits=job.limits)
    if execution.failure is not None:
        yield SweepRow(SUBMISSION, False, note=execution.failure.message)
        return
    case = judge_outputs(job, sets, outputs, execution)
    labels = [program.label for program in programs]
    found = measure(
        device, labels, input_sets=len(sets), find_open=lambda _: (), rng=Random(job.seed)
    )
    timings = {timing.plan: timing for timing in found.timings}
    disturbed = "disturbed" if found.failure is not None else ""
    for label in labels:
        is_own = label == SUBMISSION
        right = case.passed and found.wrong is None if is_own else None
        note = (
            disturbed
            if right is not False
            else case.message
            if not case.passed
            else "wrong in a timed run"
        )
        yield replace(
            _row_of(job.exercise, label, timings.get(label), sizes), right=right, note=note
        )


def time_library(
    exercise: Exercise, operation: Oracle, inputs: Arrays, sizes: Sizes, choice: Choice
) -> list[SweepRow]:
    name = find_array_library()
    if choice.kind != GPU or name is None:
        return []
    label = f"library ({name})"
    try:
        samples = time_on_gpu(
            lambda arrays: operation(dict(arrays), sizes),
            inputs,
            library=name,
            gpu_index=int(choice.id),
        )
    except SpecError:
        raise
    except Exception as error:  # whatever CuPy or PyTorch raise: no memory, no kernel for this GPU
        return [SweepRow(label, None, note=f"{type(error).__name__}: {error}")]
    return [timed_row(exercise, label, median(samples), (min(samples), max(samples)), sizes)]


def _row_of(exercise: Exercise, label: str, timing: Timing | None, sizes: Sizes) -> SweepRow:
    return (
        SweepRow(label, None)
        if timing is None
        else timed_row(exercise, label, timing.median_ms, timing.interval_ms, sizes)
    )
