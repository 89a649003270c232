"""The exercise's own programs, which a submission is seen beside: the naive baseline, further
comparisons, the hidden reference."""

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
from grader.messages.hidden import tell
from grader.records import SUBMISSION, DeviceInfo, Execution, Program
from grader.spec.exercise import Exercise
from grader.spec.statements import Plan
from grader.submission.source_file import read_submission

OTHERS_SEED = 0
"""Of the inputs on which the exercise's own programs are modelled, and counted by Nsight Compute:
the same for every submission, so that what was found once holds for all."""


def own_programs(exercise: Exercise) -> dict[str, tuple[Path, Plan | None]]:
    """By label, the source of each of the exercise's own programs and its plan; None: the one that
    the source gives."""
    source = exercise.baseline_source
    programs: dict[str, tuple[Path, Plan | None]] = {NAIVE: (source, exercise.baseline_plan)}
    programs |= {name: (source, plan) for name, plan in exercise.comparisons.items()}
    if exercise.reference_source:
        programs[REFERENCE] = (exercise.reference_source, None)
    return programs


def build_others(exercise: Exercise, tools: Toolchain, *, arch: str) -> dict[str, Built]:
    """All of the exercise's own programs, compiled. SpecError as for `build_other`."""
    labels = own_programs(exercise)
    with ThreadPoolExecutor() as pool:
        built = pool.map(partial(build_other, exercise, tools, arch=arch), labels)
        return dict(zip(labels, built, strict=True))


def build_other(exercise: Exercise, tools: Toolchain, label: str, *, arch: str) -> Built:
    """A program of the exercise's own. Raises SpecError where it does not compile."""
    path, plan = own_programs(exercise)[label]
    try:
        return build(value_of(read_submission(path)), exercise, tools, arch=arch, plan=plan)
    except SubmissionError as error:
        message = f"{error.message}\n{error.failure.detail}".rstrip()
        raise broken(exercise, label, message) from None


def make_others(
    exercise: Exercise, built: Mapping[str, Built], sizes: Mapping[str, int], info: DeviceInfo
) -> list[Program]:
    """The programs that are timed beside a submission. A reference that this GPU cannot launch is
    left out; no other may be."""
    programs = []
    for label, each in built.items():
        try:
            programs.append(make_program(label, each, exercise, sizes=sizes, limits=info.limits))
        except SubmissionError as error:
            if label != REFERENCE:
                raise broken(exercise, label, error.message) from None
    return programs


def check_culprit(execution: Execution) -> None:
    """Raises GraderError where a program of the exercise's own ended a run beside the
    submission."""
    if execution.failure is not None and execution.culprit != SUBMISSION:
        message = f"the exercise's {execution.culprit} program failed: "
        raise GraderError(message + tell(execution.failure).message, "Correct the exercise.")


def broken(exercise: Exercise, label: str, message: str) -> SpecError:
    """The error for a program of the exercise's own that does not do what it must."""
    path, _ = own_programs(exercise)[label]
    problem = f"the {label} program of the exercise '{exercise.id}': {message}"
    return SpecError([SpecProblem(str(path), "", problem)])
