"""The files of an exercise that decide a score."""

from __future__ import annotations

from grader.spec.exercise import Exercise

_BESIDE = frozenset({".md", ".pyc"})
"""Suffixes of other files in an exercise's folder: the handout, and files that Python writes."""


def read_files(exercise: Exercise) -> list[tuple[str, bytes]]:
    """The contents, by name, of the files in its folder (the spec, the oracle and the files that it
    reads), of the starter with the baseline, and of the reference."""
    folder = exercise.folder
    paths = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.suffix not in _BESIDE and path.is_file()
    }
    paths["/baseline"] = exercise.baseline_source
    if exercise.reference_source is not None:
        paths["/reference"] = exercise.reference_source
    return [(name, path.read_bytes()) for name, path in paths.items()]
