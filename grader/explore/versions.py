"""Grades two versions of a submission alike, and finds their common exercise."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

from grader.cpp.declarations import find_kernels
from grader.errors import SpecError, UsageError
from grader.grading.grade import SEED_BITS, grade_with
from grader.records import Options, ShowProgress
from grader.report.version_table import Versions
from grader.spec.reader import SPEC_FILE, read_exercise

ADVICE = "Name the exercise: grade compare EXERCISE OLD.cu NEW.cu"


def compare_versions(folder: Path, old: Path, new: Path, options: Options) -> Versions:
    """Both scores, from the same seed. Errors as of `grade`."""
    seed = secrets.randbits(SEED_BITS) if options.seed is None else options.seed
    before, after = (
        grade_with(replace(options, seed=seed, show=_named(path, options.show)), folder, path)
        for path in (old, new)
    )
    return Versions(before, after)


def find_common_exercise(root: Path, old: Path, new: Path) -> Path:
    """The exercise below `root` after which both files are named; else the only exercise for which
    each file has the name or defines the default kernel. UsageError if there is none or several."""
    folders = sorted(path.parent for path in root.glob(f"*/{SPEC_FILE}"))
    for folder in folders:
        if folder.name == old.stem == new.stem:
            return folder
    kernels = {path: _kernels_of(path) for path in (old, new)}
    found = [
        folder
        for folder in folders
        if all(
            path.stem == folder.name or _default_kernels(folder) & own
            for path, own in kernels.items()
        )
    ]
    if len(found) == 1:
        return found[0]
    which = f"have no kernel in common that an exercise in {root} launches"
    if found:
        which = f"may be for any of {', '.join(folder.name for folder in found)}"
    raise UsageError(f"{old} and {new} {which}", ADVICE)


def _named(path: Path, show: ShowProgress) -> ShowProgress:
    """Progress with the name of the file."""
    return lambda progress: show(replace(progress, stage=f"{path.name}: {progress.stage}"))


def _kernels_of(path: Path) -> frozenset[str]:
    try:
        return frozenset(find_kernels(path.read_text(encoding="utf-8", errors="replace")))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise UsageError(message, "Name two .cu files.") from error


def _default_kernels(folder: Path) -> frozenset[str]:
    """The last names of the kernels that the exercise launches; none for a wrong spec."""
    try:
        plan = read_exercise(folder).default_plan
    except SpecError:
        return frozenset()
    return frozenset(launch.kernel.name.split("::")[-1] for launch in plan.launches)
