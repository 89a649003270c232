"""`grade batch` and `grade show`: a class."""

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
    printing,
    tell_notice,
)
from grader.cli.hand_ins import find_hand_ins
from grader.cli.late import find_late_work, tell_unknown
from grader.cli.pending import add_pending, pending_rule, tell_pending
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
Grade a class: every submission once, side by side. Interrupt it at any time: the same command goes
on where it stopped.
"""
BATCH_EPILOG = """\
SUBMISSIONS is a folder of .cu files, a folder with one folder per student, or a zip of either, as
Canvas, Moodle and Gradescope export them. With several exercises a file is for the one whose name
it holds: transpose.cu, jane_gemm_tiled.cu.

results, in DIR:
  scores/STUDENT.json   each score (scores/EXERCISE/STUDENT.json with several exercises)
  gradebook.csv         points and status of every student
  set-aside.csv         members of the zip and files of the folder that are not graded, by name,
                        and why; only where there are some
  summary.json, report.html
  journal.sqlite        what was graded; a result is used again while file, exercise, device and
                        grader are the same. Keep it from students: it holds the secret that
                        hidden cases are drawn with

examples:
  grade batch exercises/transpose submissions/ --out results/
  grade batch transpose gemm_tiled export.zip --out results/ --jobs 8 --device gpu:all
  grade batch transpose submissions/ --out results/ --rerun failed
                        what was inconclusive, once more
  grade batch transpose submissions/ --out results/ --only 'doe, jane' --rerun all
                        one student, graded again; all others stay as they are
  grade batch transpose submissions/ --out results/ --only pending --device gpu
                        on a GPU, what waits for one; the results take the place of the earlier ones
  grade show results/

exit codes:
  0  every submission was graded
  2  bad usage, or a broken exercise
  3  the grader or the machine failed on some, which the same command grades again
  129, 130, 143  interrupted; what was graded is kept
"""
SHOW_DESCRIPTION = "Print what `grade batch` found: a row per submission, then a line per exercise."
WORK_NOTE = "temporary folder"
PENDING = "pending"
"""What `--only` means by this word."""


def run_batch(options: argparse.Namespace) -> int:
    """`grade batch EXERCISE... SUBMISSIONS --out DIR`: 0 when all were graded, 3 when the grader
    failed on some."""
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
        folder, hand_ins = find_hand_ins(Path(options.submissions), work, out)
        roster = read_roster(Path(options.roster)) if options.roster is not None else Roster(())
        hand_ins = with_absent(hand_ins, roster)
        late = find_late_work(options, [exercise.id for exercise in exercises], hand_ins)
        console = make_console(sys.stderr)
        try:
            workers = find_workers(options, exercises, stack)
            settings = replace(
                _make_settings(options, exercises, workers),
                late=late,
                file_times=folder == Path(options.submissions),
            )
            with batch_display(console, quiet=options.quiet) as progress:
                summary = grade_class(
                    settings,
                    hand_ins,
                    journal,
                    workers.start,
                    make_failed=_make_failed(settings),
                    reports=Reports(
                        progress, lambda summary: _write_report(out, summary, options), tell_notice
                    ),
                )
        except KeyboardInterrupt as interrupt:
            tell_notice(
                f"interrupted. What was graded is in {out}; the same command goes on from there:\n"
                f"{options.command}"
            )
            return interrupted_code(interrupt)
        except GraderError as error:
            if not isinstance(error, UsageError):
                error.advice += f"\nTo go on: {options.command}"
            raise
    _print(summary, quiet=options.quiet)
    with printing():
        tell_unknown(summary)
        tell_pending(summary)
    if not options.quiet:
        _print_ending(summary, out)
    statuses = [entry.status for entry in summary.entries if entry.status is not None]
    return 3 if any(status.is_worth_a_retry for status in statuses) else 0


def _show_parser() -> argparse.ArgumentParser:
    parser = make_parser("show", SHOW_DESCRIPTION, "")
    parser.add_argument("folder", metavar="DIR", help="what `grade batch --out` wrote")
    return parser


def run_show(options: argparse.Namespace) -> int:
    """`grade show DIR`: prints the results of a batch."""
    from grader.batch.results import read_summary

    summary = read_summary(Path(options.folder))
    _print(summary, quiet=False)
    with printing():
        tell_pending(summary)
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
        "--out", required=True, metavar="DIR", help="where the results go; made if it is not there"
    )
    parser.add_argument(
        "--jobs",
        type=_positive(int),
        metavar="N",
        help="gradings side by side (default: one per core; six per GPU)",
    )
    add_device(parser, "as for `grade`; also gpu:0,1 and gpu:all")
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS|local:N",
        help="grade on a Dask cluster, by its scheduler's address",
    )
    parser.add_argument(
        "--timeout",
        type=_positive(float),
        metavar="SECONDS",
        help="end a grading after so long: `timeout`",
    )
    _add_choice(parser)
    parser.add_argument(
        "--late",
        metavar="POLICY",
        help="what late work costs, by a TOML or JSON file; see `grade late --help`",
    )
    parser.add_argument("--times", metavar="FILE.csv", help="who handed in when, for --late")
    parser.add_argument(
        "--anonymous",
        action="store_true",
        help="numbers in place of names; DIR/names.csv tells who is who",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw all hidden cases from this seed (default: a secret one per file)",
    )
    add_pending(parser)
    add_no_isolation(parser)
    add_no_model(parser)
    parser.add_argument(
        "--quiet", action="store_true", help="no progress, and of the results the last lines"
    )
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """The options that say which submissions are graded."""
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="grade only this student, by name or id, or those of a pattern (doe*); repeatable;"
        f" {PENDING}: grade again only submissions with pending points",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE.csv",
        help="who is in the class: who handed nothing in is in the results, too",
    )
    parser.add_argument(
        "--rerun",
        choices=("changed", "failed", "all"),
        default="changed",
        help="changed (the default): what has no result yet, and what the grader or the machine"
        " failed on; failed: also what was inconclusive; all: everything",
    )


def _positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    def parse(text: str) -> float:
        with contextlib.suppress(ValueError):
            if 0 < (value := kind(text)) < 1e9:
                return value
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")

    return parse


def _read_exercises(names: Sequence[str]) -> tuple[Exercise, ...]:
    from grader.spec.reader import read_exercise

    exercises = tuple(read_exercise(find_exercise(name)) for name in dict.fromkeys(names))
    if len({exercise.id for exercise in exercises}) < len(exercises):
        raise UsageError("two exercises have the same name", "Name each exercise once.")
    return exercises


def _make_settings(
    options: argparse.Namespace, exercises: tuple[Exercise, ...], workers: Workers
) -> Settings:
    """What the options ask for, checked."""
    from grader.batch.run import Rerun, Settings
    from grader.grading.grade import check_seed
    from grader.plumbing.identity import grader_identity

    seed = None if options.seed is None else check_seed(options.seed)
    device_name = workers.device_name + (" without times" if options.no_model else "")
    return Settings(
        Path(options.out),
        exercises,
        device=workers.device,
        device_name=device_name,
        grader=grader_identity(),
        only=tuple(each for each in options.only if each != PENDING),
        only_pending=PENDING in options.only,
        pending=pending_rule(options),
        rerun=Rerun(options.rerun),
        anonymous=options.anonymous,
        seed=seed,
        isolated=not options.no_isolation,
        model=not options.no_model,
        limit_is_verdict=options.timeout is not None,
    )


def _make_failed(settings: Settings) -> Callable[[Task, Ungraded], str]:
    """Makes the scores of what could not be graded."""
    from grader.devices.choose import EMULATED
    from grader.judging.evidence import Subject
    from grader.judging.score import failed_score
    from grader.metrics import MODELLED
    from grader.records import Submission
    from grader.report.json import format_score
    from grader.submission.source_file import read_submission

    exercises = {exercise.id: exercise for exercise in settings.exercises}

    def make(task: Task, ungraded: Ungraded) -> str:
        read = read_submission(task.source)
        text = read.text if isinstance(read, Submission) else ""
        submission = Submission(f"{task.exercise}.cu", task.sha256, text)
        facts = {"grader": settings.grader}
        emulated = settings.device_name.startswith(EMULATED)
        excluded = MODELLED if emulated and not settings.model else frozenset()
        subject = Subject(exercises[task.exercise], submission, None, facts, task.seed, excluded)
        return format_score(failed_score(subject, ungraded))

    return make


@contextlib.contextmanager
def _work_folder(journal: Journal) -> Iterator[Path]:
    """A folder for all temporary files of this run. One that a killed run left is removed: nobody
    else has the journal."""
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
            with hold_lock(Path(name), lambda: None):  # systemd-tmpfiles leaves it alone
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
