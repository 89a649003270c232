"""Recognises a file that is written for another exercise: its launch lines use that exercise's
buffers and sizes, or it has that exercise's kernels. And an exercise that is not for a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.cpp.cursor import did_you_mean
from grader.errors import GraderError, UsageError
from grader.folders import shipped_exercises
from grader.grading.building import names_of
from grader.messages.plans import describe_misplaced, describe_other_exercise
from grader.records import Failure, Status, Submission
from grader.spec.exercise import Exercise
from grader.spec.reader import read_exercise
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission


def name_other_exercise(failure: Failure, exercise: Exercise, submission: Submission) -> Failure:
    """The failure, with the exercise for which the file is written where the launch failed for that
    reason."""
    if failure.status is not Status.LAUNCH_ERROR or _fits(exercise, submission):
        return failure
    fitting = [other for other in _others(exercise) if _fits(other, submission)]
    named = [other for other in fitting if _has_kernels(other, submission)] or fitting
    if not named:
        return failure
    return describe_other_exercise(
        failure, exercise.id, [other.id for other in named], submission.name
    )


def suggest_other_exercise(exercise: Path, submission: Path) -> str:
    """The next step for a file that runs and is written for another exercise, else nothing: two
    exercises can have the same buffers and sizes."""
    read = read_submission(submission)
    found = (
        find_other_exercise(read_exercise(exercise), read) if isinstance(read, Submission) else None
    )
    return describe_misplaced(found, str(submission)) if found else ""


def find_other_exercise(exercise: Exercise, submission: Submission) -> str | None:
    """The only exercise whose kernels the file launches, where it launches none of this
    exercise's."""
    plan = read_plan(submission, parts=[part.name for part in exercise.parts])
    launches = plan.launches if isinstance(plan, Plan) else ()
    launched = {launch.kernel.name for launch in launches}
    if not launched or launched & _kernels_of(exercise):
        return None
    fitting = [other.id for other in _others(exercise) if _kernels_of(other) <= launched]
    return fitting[0] if len(fitting) == 1 else None


def find_fitting_exercises(submission: Submission, near: Mapping[str, Path]) -> list[Path]:
    """The folders of the exercises for which a file may be written: those after which it is named,
    else those whose kernels it has and whose names its launch lines use. `near`: folders by name,
    which hide exercises of the package."""
    folders = _all_folders(near)
    if (named := folders.get(Path(submission.name).stem)) is not None:
        return [named]
    read = ((folder, _read_sound(folder)) for folder in folders.values())
    return [
        folder
        for folder, each in read
        if each is not None and _has_kernels(each, submission) and _fits(each, submission)
    ]


def read_named_exercise(name: str, near: Mapping[str, Path]) -> Exercise:
    """The exercise of a folder or a name. UsageError for an unknown name, and SpecError."""
    folders = _all_folders(near)
    if name in folders or Path(name).name == name:
        if name not in folders:
            raise UsageError(
                f"there is no exercise {name!r}{did_you_mean(name, folders)}",
                f"Exercises: {', '.join(folders)}.",
            )
        return read_exercise(folders[name])
    return read_exercise(Path(name).expanduser())


def _all_folders(near: Mapping[str, Path]) -> dict[str, Path]:
    return {folder.name: folder for folder in shipped_exercises()} | dict(near)


def _read_sound(folder: Path) -> Exercise | None:
    """The exercise; None if it is broken or grades programs."""
    try:
        read = read_exercise(folder)
    except GraderError:
        return None
    return None if read.program is not None else read


def _others(exercise: Exercise) -> Iterator[Exercise]:
    """The exercises of kernels in the same folder, then those of the package; broken ones are left
    out."""
    beside = sorted(path.parent for path in exercise.folder.parent.glob("*/spec.json"))
    for name, folder in _all_folders({each.name: each for each in beside}).items():
        if name != exercise.id and (other := _read_sound(folder)) is not None:
            yield other


def _fits(exercise: Exercise, submission: Submission) -> bool:
    """Whether the exercise has all names that the launch lines take from it; of a file without
    launch lines, whether it has the kernels of the default plan."""
    plan = read_plan(submission, parts=[part.name for part in exercise.parts])
    if plan is None:
        return _has_kernels(exercise, submission)
    if not isinstance(plan, Plan):
        return True  # the line itself is wrong
    own = {buffer.name for buffer in plan.scratch} | plan.variables | names_of(exercise)
    return not any(_is_free(name, submission) for name in plan.names - own)


def _is_free(name: str, submission: Submission) -> bool:
    """Whether the file gives the name no value, as a macro, a constant or an enumerator."""
    given = rf"#[ \t]*define[ \t]+{name}\b|\b{name}\s*=(?!=)|\benum\b[^;{{]*{{[^}}]*\b{name}\b"
    return name.isidentifier() and re.search(given, _code(submission)) is None


def _has_kernels(exercise: Exercise, submission: Submission) -> bool:
    """Whether the file defines all kernels of the exercise's default plan."""
    code = _code(submission)
    names = _kernels_of(exercise)
    return all(re.search(rf"\b{re.escape(name)}\s*\(", code) for name in names)


def _kernels_of(exercise: Exercise) -> set[str]:
    return {launch.kernel.name for launch in exercise.default_plan.launches}


def _code(submission: Submission) -> str:
    """The text without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", submission.text, flags=re.S)


def read_kernel_exercise(folder: Path, command: str) -> Exercise:
    """The exercise. Raises UsageError if it grades whole programs, and SpecError."""
    exercise = read_exercise(folder)
    if exercise.program is not None:
        raise UsageError(
            f"{command} is for exercises that grade kernels, and {exercise.id} grades programs",
            "Run the program: `grade exec FILE.cu -- ARGS` shows its kernels, times and findings.",
        )
    return exercise
