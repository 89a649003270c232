"""Entry point of a grading: `grade` and its variants.

`on_emulated` and `on_gpu` list the steps of a grading from top to bottom. Data flows one way:
exercise, submission, plan, preprocessor, compiler; then each case on the worker's device and the
comparison; then the benchmark and the judgement. The submission's code runs only in the worker; the
seed and the expected outputs stay in this process. A student's mistake is caught only here; the
score then contains all results up to that point.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grader.devices.choose import EMULATED, GPU, gpu_works, has_pycuda, parse_device
from grader.devices.gpus import read_gpus
from grader.errors import GraderError, SpecError, UsageError
from grader.grading.cases import Oracle
from grader.grading.early import NOTHING, Begun
from grader.grading.kept import Keeper, find_keeper
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Job
from grader.grading.shared_work import SharedWork
from grader.judging.evidence import Subject
from grader.judging.score import failed_score, make_score
from grader.metrics import MODELLED
from grader.plumbing.shortages import machine_fault
from grader.records import (
    DeviceChoice,
    Failure,
    GivenPeak,
    NoSource,
    Options,
    Progress,
    Score,
    ShowProgress,
    Status,
    Submission,
    show_nothing,
)
from grader.sandbox.process import run_tool
from grader.spec.draws import draw_scalars
from grader.spec.exercise import Exercise
from grader.spec.reader import read_exercise
from grader.submission.predictions import read_predictions
from grader.submission.source_file import read_program, read_submission

SEED_BITS = 53  # a JSON number represents these exactly
LIBRARIES = ("numpy", "llvmlite")


def grade(
    exercise: Path | str,
    submission: Path | str,
    *,
    device: str | DeviceChoice = "auto",
    seed: int | None = None,
    progress: ShowProgress | None = None,
    cache: Path | None = None,
    isolated: bool = True,
    model: bool = True,
) -> Score:
    """Grade one submission of an exercise.

    `device` is `auto`, `emulated`, `emulated:ID`, `gpu`, `gpu:N` or a result of `choose_device`.
    `seed` draws the hidden cases and all inputs (default: a new secret seed); the score contains
    it. `cache` is the folder of compiled submissions (default: the user's cache folder).
    `isolated`: the compiler and the emulated device see only the files that they need; without
    bubblewrap and Landlock the status is `grader_error`. `model`: the emulated device models times
    at a GPU's benchmark sizes; without it, the checks of times are excluded. Raises UsageError (no
    such file or device) and SpecError (a broken exercise); every other fault of the grader or the
    machine gives a score with status `grader_error`.
    """
    show = progress or show_nothing
    options = Options(device, seed, isolated=isolated, model=model, cache=cache, show=show)
    return grade_with(options, Path(exercise), Path(submission))


def grade_with(
    options: Options,
    exercise: Path,
    submission: Path,
    *,
    name: str | None = None,
    begun: Begun = NOTHING,
    oracle: Oracle | None = None,
    shared: SharedWork | None = None,
) -> Score:
    """`grade` with all options. `name` replaces the submission's name in the score; `begun`,
    `oracle` and `shared` as in `Job`."""
    if not isinstance(options.device, DeviceChoice):
        options = replace(options, device=choose_device(options.device))
    read = read_exercise(exercise) if shared is None else shared.read_exercise(exercise)
    text = _read(read, submission)
    text = replace(text, name=name or text.name)
    if isinstance(text, Submission):
        job = _open_job(options, read, text)
        return _grade_job(replace(job, begun=begun, oracle=oracle, shared=shared))
    job = _open_job(options, read, _unread_submission(submission, text.name))
    return failed_score(job.subject, text)


def _read(exercise: Exercise, submission: Path) -> Submission | NoSource:
    """The submission: a file, or a folder for programs of several files."""
    names = exercise.program.submit if exercise.program else ()
    return read_program(submission, names) if len(names) > 1 else read_submission(submission)


def grade_text(options: Options, exercise: Exercise, text: Submission) -> Score:
    """`grade_with` for an exercise and a submission in memory."""
    return _grade_job(_open_job(options, exercise, text))


def _grade_job(job: Job) -> Score:
    """The score. A fault of the submission, the grader or the machine gives a score too."""
    options = job.options
    reuse = options.reuse and options.seed is not None and job.choice.kind == EMULATED
    reuse = reuse and not options.detail.spans  # too many to keep in the cache
    try:
        keeper = find_keeper(job) if reuse else None
        if keeper is not None and (kept := keeper.recall()) is not None:
            options.show(Progress("taking the score of an equal grading (--fresh grades again)"))
            return kept
        return _grade(job, keeper)
    except SubmissionError as error:
        from grader.grading.other_exercise import name_other_exercise

        failure = name_other_exercise(error.failure, job.exercise, job.submission)
        return failed_score(job.subject, failure, job.evidence)
    except (UsageError, SpecError):
        raise
    except (GraderError, OSError, MemoryError, RuntimeError) as error:
        fault = error if isinstance(error, GraderError) else machine_fault(error)
        if fault is None:
            raise
        failure = Failure(Status.GRADER_ERROR, str(fault), fault.detail, fault.advice)
        return failed_score(job.subject, failure, job.evidence)


def _open_job(options: Options, exercise: Exercise, text: Submission) -> Job:
    """A grading before its first step. Raises UsageError."""
    device = options.device
    choice = device if isinstance(device, DeviceChoice) else choose_device(device)
    seed = secrets.randbits(SEED_BITS) if options.seed is None else check_seed(options.seed)
    subject = Subject(
        exercise=draw_scalars(exercise, seed),
        submission=text,
        device=read_gpus()[choice.id].emulated_info if choice.kind == EMULATED else None,
        environment=_describe_environment(),
        seed=seed,
        excluded=excluded_metrics(options, choice.kind),
        predictions=read_predictions(text.text),
    )
    return Job(subject, choice, options)


def excluded_metrics(options: Options, kind: str) -> frozenset[str]:
    """The metrics whose checks leave the total: without the timing model, all that it gives."""
    return frozenset() if options.model or kind != EMULATED else MODELLED


def _grade(job: Job, keeper: Keeper | None) -> Score:
    """Grades without the cache of scores. Raises SubmissionError."""
    repeatable = _page_of(job)(job)
    job.options.show(Progress("judging"))
    score = make_score(job.subject, job.evidence)
    if keeper is not None and repeatable:
        keeper.keep(score)
    return score


def _page_of(job: Job) -> Callable[[Job], bool]:
    """The steps of a grading on this kind of device; they return whether a repetition gives the
    same score. Loaded on use: a score from the cache does not need them."""
    if job.exercise.program is not None and job.choice.kind == GPU:
        from grader.grading.on_gpu_program import grade_program_on_gpu

        return grade_program_on_gpu
    if job.exercise.program is not None:
        from grader.grading.on_program import grade_on_program

        return grade_on_program
    if job.choice.kind == GPU:
        from grader.grading.on_gpu import grade_on_gpu

        return grade_on_gpu
    from grader.grading.on_emulated import grade_on_emulated

    return grade_on_emulated


def choose_device(name: str, peak: GivenPeak | None = None) -> DeviceChoice:
    """The device of a name. `peak` replaces the peaks of a GPU. Raises UsageError."""
    choice = parse_device(
        name, gpu_works=lambda: gpu_works(run_tool, os.environ), has_pycuda=has_pycuda
    )
    if peak is None:
        return choice
    if choice.kind == EMULATED:
        raise UsageError(
            "--peak is for a GPU, and this would be graded on the emulated device",
            "Leave it out, or use --device gpu.",
        )
    return replace(choice, peak=peak)


def check_seed(seed: int) -> int:
    """The seed, if a JSON number holds it exactly; UsageError otherwise."""
    if not 0 <= seed < 1 << SEED_BITS:
        raise UsageError(
            f"the seed {seed} is out of range", f"Give an integer from 0 to {(1 << SEED_BITS) - 1}."
        )
    return seed


def _unread_submission(path: Path, name: str) -> Submission:
    """Name and hash of a file that is not a source text."""
    with path.open("rb") as file:
        return Submission(name, hashlib.file_digest(file, "sha256").hexdigest(), "")


def _describe_environment() -> dict[str, str]:
    """Versions of the grader, Python, the libraries and the platform. The compiler's versions
    follow when it is found."""
    versions = {library: importlib.metadata.version(library) for library in LIBRARIES}
    return {
        "grader": importlib.metadata.version("cuda-exercise-grader"),
        "python": platform.python_version(),
        **versions,
        "platform": platform.platform(),
    }
