"""Baselines, the programs that a submission is compared with: the naive program, the comparisons of
the spec, and the hidden reference."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.devices.mapped_arrays import gather_shared
from grader.errors import GraderError, SpecError, SpecProblem
from grader.grading.building import Built, build, make_program
from grader.grading.cases import BENCHMARK, Bench, judge_outputs, run_program
from grader.grading.kept import graded_key
from grader.grading.mistakes import SubmissionError, value_of
from grader.grading.tools import Toolchain
from grader.judging.timing import NAIVE, REFERENCE, model_timing
from grader.messages.hidden import describe_mistake
from grader.plumbing.cache import recall, remember
from grader.records import (
    COUNTING,
    SUBMISSION,
    DeviceInfo,
    Execution,
    ModelledMode,
    Program,
    Progress,
    Role,
    ShowProgress,
    Status,
    Timing,
)
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case, Exercise
from grader.spec.statements import Plan
from grader.submission.source_file import read_submission

BASELINES_SEED = 0
"""Draws the inputs on which baselines are modelled and counted: the same for every submission, so
that the cached results fit all."""


@dataclass(frozen=True)
class BaselineRun:
    """The counters of a baseline at given sizes, and its time if it was modelled."""

    execution: Execution
    timing: Timing | None = None


def baseline_sources(exercise: Exercise) -> dict[str, tuple[Path, Plan | None]]:
    """The source and plan of each baseline, by label. None: the plan is in the source."""
    source = exercise.baseline_source
    programs: dict[str, tuple[Path, Plan | None]] = {NAIVE: (source, exercise.baseline_plan)}
    programs |= {name: (source, plan) for name, plan in exercise.comparisons.items()}
    if exercise.reference_source:
        programs[REFERENCE] = (exercise.reference_source, None)
    return programs


def build_baselines(exercise: Exercise, tools: Toolchain, *, arch: str) -> dict[str, Built]:
    """Compiles all baselines. Raises SpecError."""
    labels = baseline_sources(exercise)
    with ThreadPoolExecutor() as pool:
        built = pool.map(partial(build_baseline, exercise, tools, arch=arch), labels)
        return dict(zip(labels, built, strict=True))


def build_baseline(exercise: Exercise, tools: Toolchain, label: str, *, arch: str) -> Built:
    """Compiles a baseline. Raises SpecError if it does not compile."""
    path, plan = baseline_sources(exercise)[label]
    try:
        return build(value_of(read_submission(path)), exercise, tools, arch=arch, plan=plan)
    except SubmissionError as error:
        message = f"{error.message}\n{error.failure.detail}".rstrip()
        raise broken(exercise, label, message) from None


def make_baselines(
    exercise: Exercise, built: Mapping[str, Built], sizes: Mapping[str, int], info: DeviceInfo
) -> list[Program]:
    """The baselines that are timed with a submission. A reference that this GPU cannot launch is
    left out; for other baselines this raises SpecError."""
    programs = []
    for label, each in built.items():
        try:
            programs.append(make_program(label, each, exercise, sizes=sizes, limits=info.limits))
        except SubmissionError as error:
            if label != REFERENCE:
                raise broken(exercise, label, error.message) from None
    return programs


def run_baseline(
    bench: Bench,
    exercise: Exercise,
    label: str,
    sizes: Mapping[str, int],
    *,
    modelled: bool,
    cache: Path,
    show: ShowProgress,
) -> BaselineRun | None:
    """Runs the baseline that the bench holds, or takes its result from the cache: it is the same
    for every submission.

    None if it cannot run on this device. Raises SpecError if it fails or its outputs are wrong.
    """
    try:
        program = bench.program(sizes, label)
    except SubmissionError:
        return None
    mode = ModelledMode(BASELINES_SEED) if modelled else COUNTING
    key = graded_key(program, bench.device.info, mode, exercise)
    if known := recall(cache, key, BaselineRun):
        return known
    stage = f"{'modelling' if modelled else 'counting'} the {label} kernel"
    show(Progress(stage))
    case = Case(BENCHMARK, sizes, hidden=False)
    inputs = make_inputs(exercise, case, BASELINES_SEED, gather=gather_shared)
    if modelled:  # its outputs are not compared, so they need not be copied back
        program = _without_outputs(program)
    execution, got = run_program(bench, program, inputs, mode, stage, show)
    if execution.failure is not None:
        if execution.failure.status is Status.UNSUPPORTED:
            return None
        raise broken(exercise, label, describe_mistake(execution.failure).message)
    if not modelled:
        result = judge_outputs(exercise, case, bench.oracle(inputs, sizes), got, execution)
        if not result.passed:
            raise broken(exercise, label, f"wrong at the benchmark's sizes: {result.message}")
    slim = tuple(replace(launch, lines=()) for launch in execution.launches)
    timing = model_timing(label, execution) if modelled else None
    other = BaselineRun(replace(execution, launches=slim, accesses=()), timing)
    remember(cache, key, other)
    return other


def _without_outputs(program: Program) -> Program:
    buffers = tuple(
        replace(buffer, role=Role.SCRATCH) if buffer.role is Role.OUTPUT else buffer
        for buffer in program.buffers
    )
    return replace(program, buffers=buffers)


def check_culprit(execution: Execution) -> None:
    """Raises GraderError if a baseline, not the submission, ended a run."""
    if execution.failure is not None and execution.culprit != SUBMISSION:
        message = f"the exercise's {execution.culprit} program failed: "
        raise GraderError(
            message + describe_mistake(execution.failure).message, "Correct the exercise."
        )


def broken(exercise: Exercise, label: str, message: str) -> SpecError:
    """The error for a baseline that does not compile, does not run or is wrong."""
    path, _ = baseline_sources(exercise)[label]
    problem = f"the {label} program of the exercise '{exercise.id}': {message}"
    return SpecError([SpecProblem(str(path), "", problem)])
