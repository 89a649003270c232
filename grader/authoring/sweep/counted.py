"""A sweep without a GPU: every program is run, counted and, on request, its time modelled at every
size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.authoring.sweep.points import Sizes, sweep_case, timed_row
from grader.devices.base import Arrays
from grader.grading.baselines import run_baseline
from grader.grading.building import Built
from grader.grading.cases import Bench, Oracle, run_case
from grader.grading.graded_run import execute_submission, judge_run, why_untimed
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Session
from grader.judging.timing import check_floor, model_timing, modelled_launches
from grader.records import SUBMISSION, Counters, Execution, Progress, Source, Timing, show_nothing
from grader.report.sweep import SweepRow
from grader.spec.exercise import Exercise
from grader.spec.oracle import Places

_RunOne = Callable[[Session, Bench, str, Sizes], SweepRow]


def sweep_emulated(
    session: Session, built: Mapping[str, Built], points: Sequence[Sizes]
) -> list[list[SweepRow]]:
    """Program by program; a list of rows for each point, with modelled times on request."""
    run_one = _model if session.job.options.model else _counting(session.bench.oracle)
    rows: list[list[SweepRow]] = [[] for _ in points]
    runs = [(label, each, index) for label, each in built.items() for index in range(len(points))]
    for number, (label, each, index) in enumerate(runs):
        session.job.options.show(Progress("running the programs at all sizes", number, len(runs)))
        bench = replace(session.bench, built=each)
        rows[index].append(run_one(session, bench, label, points[index]))
    return rows


# --- with times -----------------------------------------------------------------------------------


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
    exercise = session.exercise
    try:
        ended = execute_submission(bench, sizes, modelled=True, show=show_nothing, inspect=False)
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
    if timing is None:
        row = SweepRow(
            label, None, source=Source.COUNTED, note=f"no time: {why_untimed(execution)}"
        )
    else:
        row = timed_row(
            exercise, label, timing.median_ms, timing.interval_ms, sizes, source=Source.MODELLED
        )
    launches = modelled_launches(execution)
    return replace(
        row,
        counters=_sum(execution),
        blocks_run=sum(launch.blocks_run for launch in launches) or None,
        blocks=sum(launch.blocks for launch in launches) or None,
    )


# --- without --------------------------------------------------------------------------------------


@dataclass
class KnownOutputs:
    """The exercise's oracle, which computes each size once for all programs, since all have the
    same inputs."""

    oracle: Oracle
    outputs: dict[tuple[tuple[str, int], ...], Arrays] = field(default_factory=dict)

    def __call__(self, inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
        key = tuple(sizes.items())
        if key not in self.outputs:
            self.outputs[key] = self.oracle(inputs, sizes)
        return self.outputs[key]

    def at(self, inputs: Arrays, sizes: Mapping[str, int], places: Places) -> Arrays:
        return self.oracle.at(inputs, sizes, places)


def _counting(oracle: Oracle) -> _RunOne:
    """Runs all blocks of one program."""
    known = KnownOutputs(oracle)

    def run_one(_: Session, bench: Bench, label: str, sizes: Sizes) -> SweepRow:
        try:
            run = run_case(replace(bench, oracle=known), sweep_case(sizes))
        except SubmissionError as error:
            return SweepRow(label, False, note=error.message)
        note = "" if run.result.passed else run.result.message
        return SweepRow(
            label, run.result.passed, counters=_sum(run.execution), note=note, source=Source.COUNTED
        )

    return run_one


def _sum(execution: Execution) -> Counters:
    return sum((launch.counters for launch in execution.launches), Counters())
