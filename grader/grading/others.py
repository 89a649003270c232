"""The exercise's own programs, which a submission is seen beside: the naive baseline, further
comparisons, the hidden reference."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from grader.errors import SpecError, SpecProblem
from grader.grading.job import Job
from grader.grading.programs import Built, Toolchain, build, make_program
from grader.judging.timing import NAIVE, REFERENCE
from grader.records import Failure, Program
from grader.spec.exercise import Exercise
from grader.spec.launch_lines import Plan
from grader.submission.source_file import read_submission

OTHERS_SEED = 0
"""Of the inputs on which the exercise's own programs are modelled, and counted by Nsight Compute:
the same for every submission, so that what was found once holds for all."""


def own_programs(exercise: Exercise) -> dict[str, tuple[Path, Plan | None]]:
    """By label, the source of each of the exercise's own programs and its plan; None: the one that
    the source gives."""
    programs: dict[str, tuple[Path, Plan | None]] = {
        NAIVE: (exercise.baseline_source, exercise.baseline_plan)
    }
    programs |= {
        name: (exercise.baseline_source, plan) for name, plan in exercise.comparisons.items()
    }
    return programs | (
        {REFERENCE: (exercise.reference_source, None)} if exercise.reference_source else {}
    )


def build_others(job: Job, tools: Toolchain) -> dict[str, Built]:
    """All of the exercise's own programs, compiled. SpecError as for `build_other`."""
    labels = own_programs(job.exercise)
    with ThreadPoolExecutor() as pool:
        return dict(zip(labels, pool.map(partial(build_other, job, tools), labels), strict=True))


def build_other(job: Job, tools: Toolchain, label: str) -> Built:
    """A program of the exercise's own; SpecError where it does not compile."""
    path, plan = own_programs(job.exercise)[label]
    source = read_submission(path)
    built = (
        source
        if isinstance(source, Failure)
        else build(source, job.exercise, tools, arch=job.info.arch, plan=plan)
    )
    if isinstance(built, Failure):
        raise broken(job, label, f"{built.message}\n{built.detail}".rstrip())
    return built


def make_others(job: Job, built: Mapping[str, Built]) -> list[Program]:
    """The programs that are timed beside a submission. A reference that this GPU cannot launch is
    left out; no other may be."""
    programs = []
    for label, each in built.items():
        program = make_program(
            label,
            each,
            job.exercise,
            sizes=job.exercise.benchmark[job.info.kind],
            limits=job.info.limits,
        )
        if isinstance(program, Program):
            programs.append(program)
        elif label != REFERENCE:
            raise broken(job, label, program.message)
    return programs


def broken(job: Job, label: str, message: str) -> SpecError:
    """The error for a program of the exercise's own that does not do what it must."""
    path, _ = own_programs(job.exercise)[label]
    return SpecError(
        [
            SpecProblem(
                str(path), "", f"the {label} program of the exercise '{job.exercise.id}': {message}"
            )
        ]
    )
