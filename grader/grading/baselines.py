"""Baselines, the programs that a submission is compared with: the naive program, the comparisons of
the spec, and the hidden reference."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from grader.errors import GraderError, SpecError, SpecProblem
from grader.grading.building import Built, build, make_program
from grader.grading.mistakes import SubmissionError, value_of
from grader.grading.tools import Toolchain
from grader.judging.timing import NAIVE, REFERENCE
from grader.messages.hidden import describe_mistake
from grader.records import SUBMISSION, DeviceInfo, Execution, Program
from grader.spec.exercise import Exercise
from grader.spec.statements import Plan
from grader.submission.source_file import read_submission

BASELINES_SEED = 0
"""Draws the inputs on which baselines are modelled and counted: the same for every submission, so
that the cached results fit all."""


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
