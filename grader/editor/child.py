"""A grading for an editor, in a child process: the steps of `grade`, with the file's text in
memory."""

from __future__ import annotations

import contextlib
from multiprocessing.connection import Connection
from pathlib import Path

from grader.cli.signals import ending_on_signals
from grader.editor.jobs import Graded, GradeJob, NotGraded
from grader.errors import GraderError
from grader.grading.grade import choose_device, grade_text, grade_with
from grader.grading.other_exercise import find_fitting_exercises, read_named_exercise
from grader.grading.what_if import Trial, try_fixes
from grader.records import NoSource, Options
from grader.spec.exercise import Exercise
from grader.spec.reader import SPEC_FILE, read_exercise
from grader.submission.source_file import parse_submission


def answer_job(connection: Connection) -> None:
    """Answer one job, then end. SIGTERM ends the work, and removes its files and processes."""
    job: GradeJob = connection.recv()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError), ending_on_signals():
        try:
            _grade(job, connection)
        except GraderError as error:
            message = " ".join(part for part in (f"{error}.", error.advice) if part)
            connection.send(NotGraded(message, is_error=True))


def _grade(job: GradeJob, connection: Connection) -> None:
    found = find_exercise(job)
    if isinstance(found, NotGraded):
        connection.send(found)
        return
    settings = job.settings
    options = Options(
        choose_device(settings.device),
        settings.seed,
        model=settings.model,
        reuse=True,
        show=connection.send,
    )
    text = parse_submission(job.text.encode(), job.path.name)
    if isinstance(text, NoSource) or (found.program and len(found.program.submit) > 1):
        where = job.path if isinstance(text, NoSource) else job.path.parent
        connection.send(Graded(found.id, grade_with(options, found.folder, where)))
        return
    score = grade_text(options, found, text)
    connection.send(Graded(found.id, score))
    effects = try_fixes(found, text, score, Trial(options, seconds=settings.fix_seconds))
    if effects is not None:
        connection.send(effects)


# --- the exercise of a file -----------------------------------------------------------------------


def find_exercise(job: GradeJob) -> Exercise | NotGraded:
    """The exercise of the setting; else of a line `// exercise: NAME`; else the only exercise that
    has the file's name or launches its kernels. UsageError for an unknown name."""
    near = _folders_near(job.path)
    name = job.settings.exercise or _named_in(job.text)
    if name is not None:
        return read_named_exercise(name, near)
    text = parse_submission(job.text.encode(), job.path.name)
    if isinstance(text, NoSource):
        return NotGraded(f"{job.path.name} is empty or no source text")
    fitting = find_fitting_exercises(text, near)
    if len(fitting) == 1:
        return read_exercise(fitting[0])
    names = ", ".join(folder.name for folder in fitting)
    why = f"may be for any of {names}" if fitting else "belongs to no exercise"
    return NotGraded(
        f"{job.path.name} {why}: name it in a line `// exercise: NAME`, or in the setting"
        " `exercise`"
    )


def _named_in(text: str) -> str | None:
    for line in text.splitlines():
        words = line.strip().removeprefix("//").split()
        if line.strip().startswith("//") and words[:1] == ["exercise:"] and len(words) == 2:
            return words[1]
    return None


def _folders_near(path: Path) -> dict[str, Path]:
    """The exercises' folders by name: of the nearest folder `exercises` beside the file or above
    it, and the exercise whose folder contains the file."""
    found: dict[str, Path] = {}
    for folder in path.absolute().parents:
        if (folder / SPEC_FILE).is_file():
            found[folder.name] = folder
        if listed := sorted(folder.glob(f"exercises/*/{SPEC_FILE}")):
            return found | {spec.parent.name: spec.parent for spec in listed}
    return found
