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
    add_flag,
    add_no_isolation,
    add_no_model,
    add_results,
    add_value,
    add_values,
    complete_exercise,
    find_exercise,
    print_notice,
    print_report,
    read_options,
)
from grader.cli.formats import add_pending, pending_rule, print_pending
from grader.cli.signals import interrupted_code
from grader.cli.workers import Workers, find_workers
from grader.errors import GraderError, UsageError
from grader.report.text import clean_line

if TYPE_CHECKING:
    from grader.batch.archives import SetAside
    from grader.batch.collect import HandIn
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
MOST_SET_ASIDE = 20
PENDING = "pending"
"""The word by which `--only` selects submissions with pending points."""


def run_batch(options: argparse.Namespace) -> int:
    """`grade batch`: 0 if all were graded, 3 if the grader failed on some."""
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
        hand_ins = _find_hand_ins(Path(options.submissions), work, out)
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
    _print(summary, out, quiet=options.quiet)
    statuses = [entry.status for entry in summary.entries if entry.status is not None]
    return 3 if any(status.is_worth_a_retry for status in statuses) else 0


def run_show(options: argparse.Namespace) -> int:
    """`grade show DIR`: prints the results of a batch."""
    from grader.batch.results import read_summary

    folder = Path(options.folder)
    _print(read_summary(folder), folder, quiet=False)
    return 0


def _add_batch(parser: argparse.ArgumentParser) -> None:
    text = "an exercise's folder, or its name in ./exercises"
    add_value(parser, "exercises", "EXERCISE", text, complete=complete_exercise, nargs="+")
    add_value(parser, "submissions", "SUBMISSIONS", "a folder or a zip; see below")
    text = "the folder of the results; created if missing"
    add_value(parser, "--out", "DIR", text, required=True)
    text = "gradings at the same time (default: one per core; six per GPU)"
    add_value(parser, "--jobs", "N", text, type=_positive(int))
    add_device(parser, "as in `grade`; also gpu:0,1 and gpu:all")
    text = "grade on the Dask cluster of this scheduler's address"
    add_value(parser, "--cluster", "ADDRESS|local:N", text)
    text = "end a grading after this time with the status `timeout`"
    add_value(parser, "--timeout", "SECONDS", text, type=_positive(float))
    text = (
        "grade only this student, by name, id or pattern (doe*); repeatable;"
        f" {PENDING}: grade only submissions with pending points, again"
    )
    add_values(parser, "--only", "NAME", text)
    text = "the class: adds students without submissions to the results"
    add_value(parser, "--roster", "FILE.csv", text)
    text = (
        "changed (the default): grade submissions without a result, and those on which the"
        " grader or the machine failed; failed: also inconclusive submissions; all: all"
    )
    choices = ("changed", "failed", "all")
    parser.add_argument("--rerun", choices=choices, default="changed", help=text)
    add_flag(parser, "--anonymous", "numbers instead of names; DIR/names.csv lists both")
    text = "draw all hidden cases from this seed (default: a secret seed per file)"
    add_value(parser, "--seed", "N", text, type=int)
    add_pending(parser)
    add_no_isolation(parser)
    add_no_model(parser)
    add_flag(parser, "--quiet", "no progress; print only the last lines of the results")


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


def _find_hand_ins(submissions: Path, work: Path, out: Path) -> list[HandIn]:
    """The hand-ins of a folder or a zip. Prints the first files that are not graded, with reasons;
    writes all of them to a file of the results."""
    from grader.batch.collect import collect
    from grader.batch.results import SET_ASIDE, write_set_aside

    folder, packed = _unpacked(submissions, work)
    hand_ins = collect(folder, {each.place: each.reason for each in packed if each.place})
    refused = [(each.name, each.reason) for each in packed] or [
        (f"{each.student}: {name}", reason)
        for each in hand_ins
        for name, reason in each.set_aside.items()
    ]
    write_set_aside(out, refused)
    for name, reason in refused[:MOST_SET_ASIDE]:
        print_notice(f"set aside {clean_line(repr(name))[:200]}: {clean_line(reason)}")
    if len(refused) > MOST_SET_ASIDE:
        print_notice(f"... and {len(refused) - MOST_SET_ASIDE:,} more, see {out / SET_ASIDE}")
    return hand_ins


def _unpacked(submissions: Path, work: Path) -> tuple[Path, Sequence[SetAside]]:
    """The folder of the submissions, and the members of a zip that cannot be unpacked."""
    if submissions.is_dir():
        return submissions, ()
    if not submissions.exists():
        raise UsageError(
            f"{submissions} does not exist",
            "Name the folder or the zip of the submissions as the last argument.",
        )
    if submissions.suffix.lower() != ".zip":
        raise UsageError(
            f"{submissions} is neither a folder nor a zip",
            "To grade a single file: grade EXERCISE SUBMISSION.cu",
        )
    from grader.batch.archives import extract_zip

    target = work / "submissions"
    target.mkdir()
    return target, extract_zip(submissions, target)


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


def _print(summary: BatchSummary, folder: Path, *, quiet: bool) -> None:
    from grader.report.class_table import print_class_ending, print_summary

    print_report(print_summary, summary, quiet=quiet)
    print_pending(summary)
    if not quiet:
        print_report(print_class_ending, summary, folder)


BATCH = Command("batch", run_batch, BATCH_DESCRIPTION, BATCH_EPILOG, _add_batch)
SHOW = Command("show", run_show, SHOW_DESCRIPTION, add_arguments=add_results)
