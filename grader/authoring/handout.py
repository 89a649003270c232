"""Makes the students' copy of an exercise without secrets: the bundle, in whose folder they grade
with the public cases only, or the files to start from."""

from __future__ import annotations

from grader.authoring.autograder import make_wheel
from grader.authoring.bundles import fill_template, make_zip
from grader.errors import GraderError, UsageError
from grader.spec.exercise import Exercise
from grader.spec.public import (
    FILES_FOLDER,
    HANDOUT_FILE,
    REPORT_PAGE,
    is_picture,
    public_files,
    starter_files,
)
from grader.spec.reader import root_of


def make_bundle(exercise: Exercise, *, install: str | None = None) -> bytes:
    """The ZIP archive, with a wheel of this grader unless `install` is a command that installs it.
    GraderError if a file cannot be read, or the bundle would hold the reference."""
    files = _collect(exercise)
    if install is None:
        wheel, files_wheel = make_wheel()
        files[wheel] = files_wheel
        install = f"python -m pip install ./{wheel}"
    files["HOW_TO_RUN.md"] = _fill("HOW_TO_RUN.md", exercise, install=_one_line(install))
    reference = exercise.reference_source.read_bytes() if exercise.reference_source else None
    if leaking := [name for name, content in files.items() if content == reference]:
        message = f"the bundle would hold the hidden reference: {leaking[0]} is the same file"
        raise GraderError(message, "Give the students another starter.")
    named = {f"{exercise.id}/{name}": content for name, content in sorted(files.items())}
    return make_zip(named, compress=False)


def starting_files(exercise: Exercise) -> dict[str, bytes]:
    """The files to start from in a folder: the handout with its pictures, the files to edit with a
    program's supplied files, and the starter at the path in the handout's commands."""
    shown = {
        f"{exercise.id}.md" if name == HANDOUT_FILE else name: content
        for name, content in _shown(exercise).items()
    }
    return {**_sources(exercise), **shown}


def _sources(exercise: Exercise) -> dict[str, bytes]:
    """The starter, a copy to edit, and a program's supplied files beside it."""
    starter = starter_files(root_of(exercise.folder), exercise.id)
    supplied = exercise.program.supplied if exercise.program else ()
    copies = {
        name.removeprefix("starter/").removeprefix(f"{exercise.id}/"): content
        for name, content in starter.items()
    }
    files = {name: (exercise.folder / FILES_FOLDER / name).read_bytes() for name in supplied}
    return {**copies, **files, **starter}


def _one_line(install: str) -> str:
    if not install.strip() or not install.isprintable():
        raise UsageError(
            f"--install {install!r} is no command",
            "Give the line that students type: --install 'python -m pip install …'.",
        )
    return install


def _shown(exercise: Exercise) -> dict[str, bytes]:
    """The handout, its pictures, and beside it the common page if the handout links to it."""
    shown = {
        name: content
        for name, content in public_files(exercise.folder).items()
        if name == HANDOUT_FILE or is_picture(name)
    }
    link, page = f"../../{REPORT_PAGE}".encode(), exercise.folder.parents[1] / REPORT_PAGE
    if link in shown.get(HANDOUT_FILE, b"") and page.is_file():
        shown[HANDOUT_FILE] = shown[HANDOUT_FILE].replace(link, page.name.encode())
        shown[page.name] = page.read_bytes()
    return shown


def _collect(exercise: Exercise) -> dict[str, bytes]:
    """The contents of its files by their names in the bundle, without the grader."""
    shown = _shown(exercise)
    inner = {
        f"exercises/{exercise.id}/{name}": content
        for name, content in public_files(exercise.folder).items()
        if name not in shown
    }
    return {"test.py": _fill("test.py", exercise), **_sources(exercise), **inner, **shown}


def _fill(name: str, exercise: Exercise, **fields: str) -> bytes:
    hidden = ", ".join(case.name for case in exercise.hidden_cases) or "none"
    own = {"id": exercise.id, "title": exercise.title, "hidden": hidden}
    return fill_template(name, **own, **fields).encode()
