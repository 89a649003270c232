"""Grades one submission: the front door.

A grading is read from top to bottom in `on_emulated` and `on_gpu`. Data flows one way: exercise,
submission, plan, preprocessor, compiler, then each case through the worker's device and the
comparison, then the benchmark, and at last the judgement. The submission's code runs in the worker
only; inputs, seed and expected outputs stay here. A student's mistake ends it once, here; whatever
was known by then is in the score.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.choose import EMULATED, GPU, Choice, gpu_works, has_pycuda, parse_device
from grader.devices.gpu.peak import GivenPeak
from grader.devices.gpus import read_gpus
from grader.errors import GraderError, SpecError, UsageError
from grader.grading.cases import Oracle
from grader.grading.kept import Keeper, find_keeper
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Job, show_nothing
from grader.judging.evidence import Subject
from grader.judging.score import failed_score, make_score
from grader.metrics import MODELLED
from grader.plumbing.cache import default_cache
from grader.plumbing.shortages import machine_fault
from grader.records import (
    PLAIN,
    Detail,
    Failure,
    Progress,
    Score,
    ShowChecks,
    ShowProgress,
    Status,
    Submission,
)
from grader.sandbox.process import run_tool
from grader.spec.draws import draw_scalars
from grader.spec.exercise import Exercise, Limits
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission
from grader.toolchain.compilation import Compilation

SEED_BITS = 53  # what a JSON number holds exactly
LIBRARIES = ("numpy", "llvmlite")


@dataclass(frozen=True)
class Options:
    """How a submission is graded: see `grade`.

    `reuse`: with a `seed`, the score of an equal grading on the emulated device is taken from the
    cache, and kept there. `interim`: is shown the checks as they stand, before the grading ends.
    `begun`: the submission's compilation, if it is under way. `oracle`: one that gradings of the
    exercise share. `limits` take the place of the exercise's,
    for the submission alone. `detail`: what the score's `machine` is to hold.
    """

    device: str | Choice = "auto"
    seed: int | None = None
    progress: ShowProgress | None = None
    cache: Path | None = None
    isolated: bool = True
    model: bool = True
    reuse: bool = False
    interim: ShowChecks | None = None
    begun: Compilation | None = None
    oracle: Oracle | None = None
    limits: Limits | None = None
    detail: Detail = PLAIN


def grade(
    exercise: Path | str,
    submission: Path | str,
    *,
    device: str | Choice = "auto",
    seed: int | None = None,
    progress: ShowProgress | None = None,
    cache: Path | None = None,
    isolated: bool = True,
    model: bool = True,
) -> Score:
    """Grade one submission of an exercise.

    `device` is `auto`, `emulated`, `emulated:ID`, `gpu` or `gpu:N`, or what `choose_device` gave.
    `seed` draws the hidden cases and all inputs; a secret one is made without it, and the score
    holds it. `cache` is the folder of compiled submissions (default: the user's cache
    folder). `isolated`: the compiler and the emulated device see of the machine's files only what
    they need; where neither bubblewrap nor Landlock works, ToolMissing says so. `model`: the
    emulated device models the times, at a GPU's benchmark sizes; without, the checks of them are
    excluded. Raises UsageError (no such file or device) and SpecError (a broken exercise); any
    other fault of the grader or of the machine is a score of status `grader_error`.
    """
    return grade_with(
        Options(device, seed, progress, cache, isolated, model), Path(exercise), Path(submission)
    )


def grade_with(
    options: Options, exercise: Path, submission: Path, *, name: str | None = None
) -> Score:
    """`grade`, with all of its options. `name`: the submission's in the score."""
    if not isinstance(options.device, Choice):
        options = replace(options, device=choose_device(options.device))
    read = read_exercise(exercise)
    text = read_submission(submission)
    text = replace(text, name=name or text.name)
    if isinstance(text, Submission):
        return grade_text(options, read, text)
    job = _open_job(options, read, _unread_submission(submission, text.name))
    return failed_score(job.subject, text)


def grade_text(options: Options, exercise: Exercise, text: Submission) -> Score:
    """`grade_with` of an exercise and a submission that were read."""
    job = _open_job(options, exercise, text)
    reuse = options.reuse and options.seed is not None and job.choice.kind == EMULATED
    reuse = reuse and not options.detail.spans  # they are too many to keep
    try:
        keeper = find_keeper(job) if reuse else None
        if keeper is not None and (kept := keeper.recall()) is not None:
            job.show(Progress("taking the result of an equal grading (--fresh grades anew)"))
            return kept
        return _grade(job, keeper)
    except SubmissionError as error:
        return failed_score(job.subject, error.failure, job.evidence)
    except (UsageError, SpecError):
        raise
    except (GraderError, OSError, MemoryError, RuntimeError) as error:
        fault = error if isinstance(error, GraderError) else machine_fault(error)
        if fault is None:
            raise
        failure = Failure(Status.GRADER_ERROR, str(fault), fault.detail, fault.advice)
        return failed_score(job.subject, failure, job.evidence)


def _open_job(options: Options, exercise: Exercise, text: Submission) -> Job:
    device = options.device
    choice = device if isinstance(device, Choice) else choose_device(device)
    seed = secrets.randbits(SEED_BITS) if options.seed is None else check_seed(options.seed)
    subject = Subject(
        exercise=draw_scalars(exercise, seed),
        submission=text,
        device=read_gpus()[choice.id].emulated_info if choice.kind == EMULATED else None,
        environment=_describe_environment(),
        seed=seed,
        excluded=frozenset() if options.model or choice.kind != EMULATED else MODELLED,
    )
    return Job(
        subject,
        choice,
        cache=default_cache(os.environ) if options.cache is None else options.cache,
        show=options.progress or show_nothing,
        isolated=options.isolated,
        model=options.model,
        interim=options.interim,
        begun=options.begun,
        oracle=options.oracle,
        own_limits=options.limits,
        detail=options.detail,
    )


def _grade(job: Job, keeper: Keeper | None) -> Score:
    """Grades anew. Raises SubmissionError."""
    repeatable = _page_of(job.choice.kind)(job)
    job.show(Progress("judging"))
    score = make_score(job.subject, job.evidence)
    if keeper is not None and repeatable:
        keeper.keep(score)
    return score


def _page_of(kind: str) -> Callable[[Job], bool]:
    """What grades on a device of this kind, and returns whether it would end alike again. Loaded
    on use: a score that is recalled needs none of it."""
    if kind == GPU:
        from grader.grading.on_gpu import grade_on_gpu

        return grade_on_gpu
    from grader.grading.on_emulated import grade_on_emulated

    return grade_on_emulated


def choose_device(name: str, peak: GivenPeak | None = None) -> Choice:
    """The device of a name; `peak` replaces the peaks of a GPU. Raises UsageError."""
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
    """What a score says of a file that is no source text: its name and hash."""
    with path.open("rb") as file:
        return Submission(name, hashlib.file_digest(file, "sha256").hexdigest(), "")


def _describe_environment() -> dict[str, str]:
    """Versions of what had a part in a score, the compiler's tools left out: those are known once
    they are found."""
    versions = {library: importlib.metadata.version(library) for library in LIBRARIES}
    return {
        "grader": importlib.metadata.version("cuda-exercise-grader"),
        "python": platform.python_version(),
        **versions,
        "platform": platform.platform(),
    }
