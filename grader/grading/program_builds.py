"""Compiles the programs of a grading: the submission, and those of the exercise's author."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.cuda.confined import Builder
from grader.errors import GraderError
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Job
from grader.messages.programs import advise_on_compilation
from grader.records import Failure, Status, ToolLimits
from grader.spec.exercise import Exercise
from grader.spec.whole_program import FILES_FOLDER, WholeProgram


def build_submission(job: Job, spec: WholeProgram, builder: Builder, folder: Path) -> Path:
    submitted = {spec.submit[0]: job.submission.text, **dict(job.submission.others)}
    done = _build(job.exercise, builder, submitted, folder)
    if done is None:
        return folder / "build" / "program"
    raise SubmissionError(
        Failure(
            Status.COMPILE_ERROR,
            "nvcc does not compile the program.",
            done,
            advise_on_compilation(done),
        )
    )


def build_own(job: Job, builder: Builder, texts: Mapping[str, str], folder: Path) -> Path:
    """Compiles a program of the exercise's author."""
    if problem := _build(job.exercise, builder, texts, folder):
        raise GraderError("a program of the exercise does not compile", problem)
    return folder / "build" / "program"


def _build(
    exercise: Exercise, builder: Builder, submitted: Mapping[str, str], folder: Path
) -> str | None:
    """nvcc's messages where it fails, else None."""
    spec = exercise.program
    assert spec is not None
    build = folder / "build"
    build.mkdir(parents=True)
    given = exercise.folder / FILES_FOLDER
    files = {name: (given / name).read_text(encoding="utf-8") for name in spec.supplied}
    limits = ToolLimits(exercise.limits.compile_seconds)
    done = builder.build({**files, **submitted}, spec.compiled, spec.options, build, limits)
    if done.returncode == 0 and done.limit is None:
        return None
    if done.limit == "time":
        return f"nvcc did not end within {exercise.limits.compile_seconds:g} s."
    return (done.stdout + done.stderr).replace(f"{build}/", "") or "nvcc failed without a message."


def read_sources(first: Path, spec: WholeProgram) -> dict[str, str]:
    """The texts of a program of the author: its first file, and the others beside it."""
    paths = {name: first.parent / name for name in spec.submit[1:]}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in {spec.submit[0]: first, **paths}.items()
    }
