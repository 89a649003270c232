"""A sweep on a GPU: all programs timed in rounds at every size, and the GPU's library if it is
installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from statistics import median

from grader.authoring.sweep.points import Sizes, timed_row
from grader.devices.base import Arrays, TimingDevice
from grader.devices.choose import GPU
from grader.devices.gpu.library import find_array_library, time_on_gpu
from grader.errors import SpecError
from grader.grading.baselines import check_culprit, make_baselines
from grader.grading.benchmark import count_input_sets, draw_input_set, judge_sets
from grader.grading.building import Built
from grader.grading.cases import BENCHMARK
from grader.grading.measure import measure
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Session
from grader.records import SUBMISSION, DeviceChoice, Progress, Timing
from grader.report.sweep import SweepRow
from grader.spec.exercise import Case, Exercise
from grader.spec.oracle import Operation


def sweep_gpu(
    session: Session, built: Mapping[str, Built], points: Sequence[Sizes]
) -> list[list[SweepRow]]:
    """A list of rows for each point."""
    rows = []
    for index, sizes in enumerate(points):
        session.job.options.show(Progress("timing the programs at all sizes", index, len(points)))
        rows.append(list(time_programs(session, built, sizes)))
    return rows


def time_programs(session: Session, built: Mapping[str, Built], sizes: Sizes) -> Iterator[SweepRow]:
    """The submission's row, then the others'; these have no times where the submission does not
    run."""
    bench, exercise, device = session.bench, session.exercise, session.bench.device
    assert isinstance(device, TimingDevice)
    case = Case(BENCHMARK, sizes, hidden=False)
    try:
        own = bench.program(sizes)
    except SubmissionError as error:
        yield SweepRow(SUBMISSION, False, note=error.message)
        return
    others = {label: each for label, each in built.items() if label != SUBMISSION}
    programs = [own, *make_baselines(exercise, others, sizes, session.info)]
    sets = [draw_input_set(bench, case, number) for number in range(count_input_sets(bench, case))]
    inputs = [each.inputs for each in sets]
    execution, outputs = device.prepare(programs, inputs, limits=bench.limits)
    check_culprit(execution)
    if execution.failure is not None:
        yield SweepRow(SUBMISSION, False, note=SubmissionError(execution.failure).message)
        return
    result = judge_sets(bench, case, sets, outputs, execution)
    labels = [program.label for program in programs]
    found = measure(
        device, labels, input_sets=len(sets), find_open=lambda _: (), rng=Random(bench.seed)
    )
    timings = {timing.plan: timing for timing in found.timings}
    for label in labels:
        row = _row_of(exercise, label, timings.get(label), sizes)
        if label == SUBMISSION and not result.passed:
            yield replace(row, right=False, note=result.message)
        elif label == SUBMISSION and found.wrong is not None:
            yield replace(row, right=False, note="wrong in a timed run")
        else:
            right = True if label == SUBMISSION else None
            note = "disturbed" if found.disturbed is not None else ""
            yield replace(row, right=right, note=note)


def time_library(
    exercise: Exercise, operation: Operation, inputs: Arrays, sizes: Sizes, choice: DeviceChoice
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
