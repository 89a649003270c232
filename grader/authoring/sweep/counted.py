"""A sweep without a GPU: every program run, counted and, unless that is left out, its time modelled
at every size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.authoring.sweep.rows import timed_row
from grader.authoring.sweep.sizes import Sizes, at_sizes, sweep_case
from grader.devices.base import Arrays, Device
from grader.grading.cases import Oracle, run_case
from grader.grading.graded import run_other, run_submission, why_untimed
from grader.grading.job import Job
from grader.grading.programs import Built
from grader.judging.timing import check_floor, model_timing, modelled_launches
from grader.judging.values import TIMED_ON
from grader.records import SUBMISSION, Counters, Execution, Failure, Progress, Source, Timing
from grader.report.sweep import SweepRow
from grader.spec.oracle import load_oracle

_RunOne = Callable[[Job, str, Built, Sizes], SweepRow]


def sweep_emulated(
    job: Job, built: Mapping[str, Built], device: Device, points: Sequence[Sizes]
) -> list[list[SweepRow]]:
    """Program by program, so that each is translated once; a row list for each point.

    `job.model`: with modelled times.
    """
    run_one = (
        _modelling(device, load_oracle(job.exercise))
        if job.model
        else _counting(device, load_oracle(job.exercise))
    )
    rows: list[list[SweepRow]] = [[] for _ in points]
    for number, (label, each) in enumerate(built.items()):
        for index, sizes in enumerate(points):
            job.show(
                Progress(
                    "running the programs at all sizes",
                    number * len(points) + index,
                    len(built) * len(points),
                )
            )
            rows[index].append(run_one(at_sizes(job, sizes), label, each, sizes))
    return rows


# --- with times -----------------------------------------------------------------------------------


def _modelling(device: Device, oracle: Oracle) -> _RunOne:
    """Runs one program as a grading does at the timed size; of a long run a sample of the
    blocks."""

    def run_one(job: Job, label: str, built: Built, sizes: Sizes) -> SweepRow:
        quiet = replace(job, show=lambda _: None)
        if label == SUBMISSION:
            return _model_own(quiet, built, device, oracle, sizes)
        other = run_other(quiet, label, built, device, oracle, TIMED_ON)
        if other is None:
            return SweepRow(label, None, note="this device cannot run it")
        return _describe_run(job, label, other.execution, other.timing, sizes)

    return run_one


def _model_own(job: Job, built: Built, device: Device, oracle: Oracle, sizes: Sizes) -> SweepRow:
    run = run_submission(job, built, device, oracle, TIMED_ON, inspect=False)
    if isinstance(run, Failure):
        return SweepRow(SUBMISSION, False, note=run.message)
    if run.case is None:
        return SweepRow(SUBMISSION, None, note=run.unverified)
    timing = model_timing(SUBMISSION, run.execution)
    row = _describe_run(job, SUBMISSION, run.execution, timing, sizes)
    if not run.case.passed:
        return replace(row, right=False, note=run.case.message)
    if timing is not None and (refused := check_floor([timing], sizes, job.exercise, job.info)):
        return SweepRow(SUBMISSION, False, note=refused.message)
    return replace(row, right=True)


def _describe_run(
    job: Job, label: str, execution: Execution, timing: Timing | None, sizes: Sizes
) -> SweepRow:
    """The modelled time and the counters of a run, or why there is no time."""
    if timing is None:
        row = SweepRow(
            label, None, source=Source.COUNTED, note=f"no time: {why_untimed(execution)}"
        )
    else:
        row = timed_row(
            job.exercise, label, timing.median_ms, timing.interval_ms, sizes, source=Source.MODELLED
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
    """The exercise's oracle, which computes each size once for all programs, for all have the same
    inputs."""

    oracle: Oracle
    outputs: dict[tuple[tuple[str, int], ...], Arrays] = field(default_factory=dict)

    def __call__(self, inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
        key = tuple(sizes.items())
        if key not in self.outputs:
            self.outputs[key] = self.oracle(inputs, sizes)
        return self.outputs[key]


def _counting(device: Device, oracle: Oracle) -> _RunOne:
    """Runs all blocks of one program."""
    known = KnownOutputs(oracle)

    def run_one(job: Job, label: str, built: Built, sizes: Sizes) -> SweepRow:
        run = run_case(job, built, device, known, sweep_case(sizes))
        if isinstance(run, Failure):
            return SweepRow(label, False, note=run.message)
        note = "" if run.result.passed else run.result.message
        return SweepRow(
            label, run.result.passed, counters=_sum(run.execution), note=note, source=Source.COUNTED
        )

    return run_one


def _sum(execution: Execution) -> Counters:
    return sum((launch.counters for launch in execution.launches), Counters())
