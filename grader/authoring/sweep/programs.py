"""Runs the programs of a sweep at every size. On the emulated device they are counted and, on
request, their times are modelled. On a GPU they are timed in rounds, and the GPU's library if it is
installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from random import Random
from statistics import median

from grader.authoring.sweep.points import Sizes, sweep_case, timed_row
from grader.devices.base import Arrays, TimingDevice
from grader.devices.choose import GPU
from grader.devices.gpu.library import find_array_library, time_on_gpu
from grader.devices.mapped_arrays import gather_shared
from grader.errors import SpecError
from grader.grading.baselines import check_culprit, make_baselines, run_baseline
from grader.grading.benchmark import draw_inputs, judge_sets
from grader.grading.building import Built
from grader.grading.cases import BENCHMARK, Bench, run_case
from grader.grading.graded_run import execute_submission, judge_run, why_untimed
from grader.grading.measure import measure
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Session
from grader.judging.timing import check_floor, model_timing, modelled_launches
from grader.records import (
    SUBMISSION,
    Counters,
    DeviceChoice,
    Execution,
    Progress,
    Source,
    Timing,
    show_nothing,
)
from grader.report.sweep import SweepRow
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case, Exercise
from grader.spec.oracle import Operation


def sweep_emulated(
    session: Session, built: Mapping[str, Built], points: Sequence[Sizes]
) -> list[list[SweepRow]]:
    """Program by program; a list of rows for each point, with modelled times on request."""
    run_one = _model if session.job.options.model else _count
    rows: list[list[SweepRow]] = [[] for _ in points]
    runs = [(label, each, index) for label, each in built.items() for index in range(len(points))]
    for number, (label, each, index) in enumerate(runs):
        session.job.options.show(Progress("running the programs at all sizes", number, len(runs)))
        bench = replace(session.bench, built=each)
        rows[index].append(run_one(session, bench, label, points[index]))
    return rows


def _count(_: Session, bench: Bench, label: str, sizes: Sizes) -> SweepRow:
    """Runs all blocks of a program."""
    try:
        run = run_case(bench, sweep_case(sizes))
    except SubmissionError as error:
        return SweepRow(label, False, note=error.message)
    note = "" if run.result.passed else run.result.message
    counters = _sum(run.execution)
    return SweepRow(label, run.result.passed, counters=counters, note=note, source=Source.COUNTED)


def _model(session: Session, bench: Bench, label: str, sizes: Sizes) -> SweepRow:
    """Runs a program at the timed size, like a grading; for a long run a sample of the blocks."""
    exercise = session.exercise
    if label == SUBMISSION:
        return _model_own(session, bench, sizes)
    other = run_baseline(
        bench, exercise, label, sizes, modelled=True, cache=session.job.cache, show=show_nothing
    )
    if other is None:
        return SweepRow(label, None, note="this device cannot run it")
    return _describe_run(exercise, label, other.execution, other.timing, sizes)


def _model_own(session: Session, bench: Bench, sizes: Sizes) -> SweepRow:
    exercise, case = session.exercise, Case(BENCHMARK, sizes, hidden=False)
    draw = partial(make_inputs, bench.task, case, bench.seed, gather=gather_shared)
    try:
        ended = execute_submission(
            bench, sizes, modelled=True, show=show_nothing, inspect=False, draw=draw
        )
        run = judge_run(ended)
    except SubmissionError as error:
        return SweepRow(SUBMISSION, False, note=error.message)
    if run.case.unverified:
        return SweepRow(SUBMISSION, None, note=run.case.unverified)
    timing = model_timing(SUBMISSION, run.execution)
    row = _describe_run(exercise, SUBMISSION, run.execution, timing, sizes)
    if not run.case.passed:
        return replace(row, right=False, note=run.case.message)
    if timing is not None and (refused := check_floor([timing], sizes, exercise, session.info)):
        return SweepRow(SUBMISSION, False, note=refused.message)
    return replace(row, right=True)


def _describe_run(
    exercise: Exercise, label: str, execution: Execution, timing: Timing | None, sizes: Sizes
) -> SweepRow:
    """The modelled time and the counters of a run, or the reason for a missing time."""
    row = _row_of(exercise, label, timing, sizes, source=Source.MODELLED)
    if timing is None:
        row = replace(row, source=Source.COUNTED, note=f"no time: {why_untimed(execution)}")
    launches = modelled_launches(execution)
    return replace(
        row,
        counters=_sum(execution),
        blocks_run=sum(launch.blocks_run for launch in launches) or None,
        blocks=sum(launch.blocks for launch in launches) or None,
    )


def _sum(execution: Execution) -> Counters:
    return sum((launch.counters for launch in execution.launches), Counters())


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
    """The submission's row, then the others'; these have no times if it does not run."""
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
    with ThreadPoolExecutor() as pool:
        inputs = [each.result() for each in draw_inputs(bench, case, pool)]
    execution, outputs = device.prepare(programs, inputs, limits=bench.limits)
    check_culprit(execution)
    if execution.failure is not None:
        yield SweepRow(SUBMISSION, False, note=SubmissionError(execution.failure).message)
        return
    expected = [bench.oracle(each, sizes) for each in inputs]
    result = judge_sets(bench, case, expected, outputs, execution)
    labels = [program.label for program in programs]
    found = measure(
        device, labels, input_sets=len(inputs), find_open=lambda _: (), rng=Random(bench.seed)
    )
    timings = {timing.plan: timing for timing in found.timings}
    for label in labels:
        row = _row_of(exercise, label, timings.get(label), sizes, source=Source.MEASURED)
        note = "disturbed" if found.disturbed is not None else ""
        if label != SUBMISSION:
            yield replace(row, note=note)
        elif not result.passed:
            yield replace(row, right=False, note=result.message)
        elif found.wrong is not None:
            yield replace(row, right=False, note="wrong in a timed run")
        else:
            yield replace(row, right=True, note=note)


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


def _row_of(
    exercise: Exercise, label: str, timing: Timing | None, sizes: Sizes, *, source: Source
) -> SweepRow:
    if timing is None:
        return SweepRow(label, None)
    return timed_row(exercise, label, timing.median_ms, timing.interval_ms, sizes, source=source)
