"""`grade batch` grades a class; `grade show` prints its results."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import (
    Command,
    add_device,
    add_no_isolation,
    add_no_model,
    complete_exercise,
    complete_with,
    find_exercise,
    interrupted_code,
    make_parser,
    print_notice,
    printing,
    read_options,
)
from grader.cli.formats import add_pending, pending_rule, print_pending
from grader.cli.hand_ins import find_hand_ins
from grader.cli.workers import Workers, find_workers
from grader.errors import GraderError, UsageError

if TYPE_CHECKING:
    from grader.batch.journal import Journal
    from grader.batch.run import Settings
    from grader.batch.schedule import Ungraded
    from grader.batch.tasks import Task
    from grader.records import BatchSummary
    from grader.spec.exercise import Exercise

BATCH_DESCRIPTION = """\
Grade the submissions of a class in parallel. You can interrupt it at any time: the same command
continues.
"""
BATCH_EPILOG = """\
SUBMISSIONS is a folder of .cu files, a folder with one folder per student, or a zip of either, as
Canvas, Moodle and Gradescope export them. With several exercises, the file name contains the name
of the exercise: transpose.cu, jane_gemm_tiled.cu.

results, in DIR:
  scores/STUDENT.json   each score (scores/EXERCISE/STUDENT.json with several exercises)
  gradebook.csv         points and status of every student
  set-aside.csv         files that are not graded, with reasons; only if there are any
  summary.json, report.html
  journal.sqlite        all results; a result is reused while file, exercise, device and grader are
                        the same. Do not show it to students: it contains the secret from which
                        hidden cases are drawn

examples:
  grade batch exercises/transpose submissions/ --out results/
  grade batch transpose gemm_tiled export.zip --out results/ --jobs 8 --device gpu:all
  grade batch transpose submissions/ --out results/ --rerun failed
                        grade inconclusive submissions again
  grade batch transpose submissions/ --out results/ --only 'doe, jane' --rerun all
                        grade one student again; all other results stay
  grade batch transpose submissions/ --out results/ --only pending --device gpu
                        grade submissions with pending points on a GPU; replace their results
  grade show results/

exit codes:
  0  every submission was graded
  2  bad usage, or a broken exercise
  3  the grader or the machine failed on some; the same command grades them again
  129, 130, 143  interrupted; all results are kept
"""
SHOW_DESCRIPTION = (
    "Print the results of `grade batch`: a row per submission, then a line per exercise."
)
WORK_NOTE = "temporary folder"
PENDING = "pending"
"""The word by which `--only` selects submissions with pending points."""


def run_batch(options: argparse.Namespace) -> int:
    """`grade batch EXERCISE... SUBMISSIONS --out DIR`: 0 if all were graded, 3 if the grader failed
    on some."""
    out = Path(options.out)
    from grader.batch.journal import open_journal
    from grader.batch.roster import Roster, read_roster, with_absent
    from grader.batch.run import Reports
    from grader.batch.run import run_batch as grade_class
    from grader.report.class_table import batch_display
    from grader.report.terminal import make_console

    exercises = _read_exercises(options.exercises)
    with (
        open_journal(out) as journal,
        _work_folder(journal) as work,
        contextlib.ExitStack() as stack,
    ):
        hand_ins = find_hand_ins(Path(options.submissions), work, out)
        roster = read_roster(Path(options.roster)) if options.roster is not None else Roster(())
        hand_ins = with_absent(hand_ins, roster)
        console = make_console(sys.stderr)
        try:
            workers = find_workers(options, exercises, stack)
            settings = _make_settings(options, exercises, workers)
            with batch_display(console, quiet=options.quiet) as progress:
                summary = grade_class(
                    settings,
                    hand_ins,
                    journal,
                    workers.start,
                    make_failed=_make_failed(settings),
                    reports=Reports(
                        progress, lambda summary: _write_report(out, summary, options), print_notice
                    ),
                )
        except KeyboardInterrupt as interrupt:
            print_notice(
                f"interrupted. All results are in {out}; the same command continues:\n"
                f"{options.command}"
            )
            return interrupted_code(interrupt)
        except GraderError as error:
            if not isinstance(error, UsageError):
                error.advice += f"\nTo continue: {options.command}"
            raise
    _print(summary, quiet=options.quiet)
    with printing():
        print_pending(summary)
    if not options.quiet:
        _print_ending(summary, out)
    statuses = [entry.status for entry in summary.entries if entry.status is not None]
    return 3 if any(status.is_worth_a_retry for status in statuses) else 0


def _show_parser() -> argparse.ArgumentParser:
    parser = make_parser("show", SHOW_DESCRIPTION, "")
    parser.add_argument("folder", metavar="DIR", help="the results of `grade batch --out`")
    return parser


def run_show(options: argparse.Namespace) -> int:
    """`grade show DIR`: prints the results of a batch."""
    from grader.batch.results import read_summary

    summary = read_summary(Path(options.folder))
    _print(summary, quiet=False)
    with printing():
        print_pending(summary)
    _print_ending(summary, Path(options.folder))
    return 0


def _batch_parser() -> argparse.ArgumentParser:
    parser = make_parser("batch", BATCH_DESCRIPTION, BATCH_EPILOG)
    exercises = parser.add_argument(
        "exercises",
        nargs="+",
        metavar="EXERCISE",
        help="an exercise's folder, or its name in ./exercises",
    )
    complete_with(exercises, complete_exercise)
    parser.add_argument("submissions", metavar="SUBMISSIONS", help="a folder or a zip; see below")
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="the folder of the results; created if missing"
    )
    parser.add_argument(
        "--jobs",
        type=_positive(int),
        metavar="N",
        help="gradings at the same time (default: one per core; six per GPU)",
    )
    add_device(parser, "as in `grade`; also gpu:0,1 and gpu:all")
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS|local:N",
        help="grade on the Dask cluster of this scheduler's address",
    )
    parser.add_argument(
        "--timeout",
        type=_positive(float),
        metavar="SECONDS",
        help="end a grading after this time with the status `timeout`",
    )
    _add_choice(parser)
    parser.add_argument(
        "--anonymous",
        action="store_true",
        help="numbers instead of names; DIR/names.csv lists both",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw all hidden cases from this seed (default: a secret seed per file)",
    )
    add_pending(parser)
    add_no_isolation(parser)
    add_no_model(parser)
    parser.add_argument(
        "--quiet", action="store_true", help="no progress; print only the last lines of the results"
    )
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """The options that select submissions."""
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="grade only this student, by name, id or pattern (doe*); repeatable;"
        f" {PENDING}: grade only submissions with pending points, again",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE.csv",
        help="the class: adds students without submissions to the results",
    )
    parser.add_argument(
        "--rerun",
        choices=("changed", "failed", "all"),
        default="changed",
        help="changed (the default): grade submissions without a result, and those on which the"
        " grader or the machine failed; failed: also inconclusive submissions; all: all",
    )


def _positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    def parse(text: str) -> float:
        with contextlib.suppress(ValueError):
            if 0 < (value := kind(text)) < 1e9:
                return value
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")

    return parse


def _read_exercises(names: Sequence[str]) -> tuple[Exercise, ...]:
    from grader.spec.reader import read_exercise

    exercises = tuple(read_exercise(find_exercise(name)) for name in dict.fromkeys(names))
    if len({exercise.id for exercise in exercises}) < len(exercises):
        raise UsageError("two exercises have the same name", "Name each exercise once.")
    for exercise in exercises:
        if exercise.program is not None and len(exercise.program.submit) > 1:
            raise UsageError(
                f"a submission for {exercise.id} is a folder of several files, and a batch grades"
                " one file per student and exercise",
                f"Grade each folder: for each in SUBMISSIONS/*/; do grade {exercise.id} $each"
                " --json $each/score.json; done",
            )
    return exercises


def _make_settings(
    options: argparse.Namespace, exercises: tuple[Exercise, ...], workers: Workers
) -> Settings:
    """The checked settings."""
    from grader.batch.run import Rerun, Settings
    from grader.grading.grade import check_seed
    from grader.plumbing.identity import grader_identity

    if options.seed is not None:
        check_seed(options.seed)
    device_name = workers.device_name + (" without times" if options.no_model else "")
    return Settings(
        Path(options.out),
        exercises,
        replace(read_options(options), device=workers.device),
        device_name=device_name,
        grader=grader_identity(),
        only=tuple(each for each in options.only if each != PENDING),
        only_pending=PENDING in options.only,
        pending=pending_rule(options),
        rerun=Rerun(options.rerun),
        anonymous=options.anonymous,
        limit_is_verdict=options.timeout is not None,
    )


def _make_failed(settings: Settings) -> Callable[[Task, Ungraded], str]:
    """Makes the scores of submissions that could not be graded."""
    from grader.grading.grade import excluded_metrics
    from grader.judging.evidence import Subject
    from grader.judging.score import failed_score
    from grader.records import Submission
    from grader.report.json import format_score
    from grader.submission.source_file import read_submission

    exercises = {exercise.id: exercise for exercise in settings.exercises}

    def make(task: Task, ungraded: Ungraded) -> str:
        read = read_submission(task.source)
        text = read.text if isinstance(read, Submission) else ""
        submission = Submission(f"{task.exercise}.cu", task.sha256, text)
        facts, seed = {"grader": settings.grader}, task.options.fixed_seed
        excluded = excluded_metrics(settings.options, settings.device_name.split(":")[0])
        subject = Subject(exercises[task.exercise], submission, None, facts, seed, excluded)
        return format_score(failed_score(subject, ungraded))

    return make


@contextlib.contextmanager
def _work_folder(journal: Journal) -> Iterator[Path]:
    """A folder for all temporary files of this run. Removes the folder of a killed run, which is
    not in use because this run holds the journal."""
    from grader.devices.gpu.gpu_lock import LOCKS_VARIABLE, lock_folder
    from grader.plumbing.locks import hold_lock

    left = journal.noted(WORK_NOTE)
    if left and Path(left).name.startswith("grader-batch-"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=f"grader-batch-{secrets.token_hex(4)}-", ignore_cleanup_errors=True
    ) as name:
        journal.note(WORK_NOTE, name)
        before, environ = tempfile.tempdir, dict(os.environ)
        os.environ |= {"TMPDIR": name, LOCKS_VARIABLE: str(lock_folder())}  # for the workers
        tempfile.tempdir = name
        try:
            with hold_lock(Path(name), lambda: None):  # systemd-tmpfiles keeps a locked folder
                yield Path(name)
        finally:
            tempfile.tempdir = before
            os.environ.clear()
            os.environ.update(environ)


def _write_report(out: Path, summary: BatchSummary, options: argparse.Namespace) -> None:
    from grader.batch.roster import find_names
    from grader.report.html import write_report
    from grader.report.platforms.gradebooks import write_gradebooks

    roster, titles = find_names(out, Path(options.roster) if options.roster else None)
    write_gradebooks(
        out, summary, roster.find, assignments=titles, moodle_columns=roster.moodle_columns
    )
    write_report(out, summary)


def _print(summary: BatchSummary, *, quiet: bool) -> None:
    from grader.report.class_table import print_summary
    from grader.report.terminal import make_console

    with printing():
        print_summary(summary, console=make_console(sys.stdout), quiet=quiet)


def _print_ending(summary: BatchSummary, folder: Path) -> None:
    from grader.report.class_table import print_class_ending
    from grader.report.terminal import make_console

    with printing():
        print_class_ending(summary, folder, console=make_console(sys.stdout))


BATCH = Command(_batch_parser, run_batch)
SHOW = Command(_show_parser, run_show)
