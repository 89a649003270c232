"""`grade … --what-if`: after the verdict, the effects of fixes on the score."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from grader.cli.common import printing, read_options
from grader.errors import UsageError
from grader.records import WHAT_IF_SECONDS, Score, Submission, WhatIfMode


def add_what_if(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--what-if",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="after the verdict, try fixes for checks that lost points and show their effects, if"
        " the exercise allows it (the default on a terminal; Ctrl-C ends it)",
    )
    parser.add_argument(
        "--what-if-seconds",
        type=float,
        default=WHAT_IF_SECONDS,
        metavar="S",
        help=f"start no fix after this time (default: {WHAT_IF_SECONDS:g})",
    )


def check_what_if(options: argparse.Namespace) -> None:
    """Raises UsageError for a time that is not positive."""
    if not options.what_if_seconds > 0:
        raise UsageError(
            "--what-if-seconds must be more than 0", "To try no fixes, use --no-what-if."
        )


def add_fixes(score: Score, options: argparse.Namespace, exercise: Path, submission: Path) -> Score:
    """Adds the effects of fixes to the score, if wanted and allowed, and prints them below the
    verdict. If `--what-if` has no result, prints the reason."""
    alone = options.json == "-" or (options.format is not None and options.output is None)
    shown = not (alone or options.quiet)
    if not is_wanted(options, shown=shown, on_terminal=sys.stdout.isatty()):
        return score
    from grader.grading.what_if import lost_checks
    from grader.report.what_if import NO_MEND, NOT_SHOWN, NOTHING_LOST
    from grader.spec.reader import read_exercise

    read = read_exercise(exercise)
    if read.what_if is WhatIfMode.OFF or not lost_checks(score):
        why = NOT_SHOWN if read.what_if is WhatIfMode.OFF else NOTHING_LOST
        return _explain_none(why, score, asked=bool(options.what_if))
    tried = _try(score, options, exercise, submission)
    if tried.what_if is None:
        return _explain_none(NO_MEND, score, asked=bool(options.what_if))
    if shown:
        _print(tried)
    return tried


def is_wanted(options: argparse.Namespace, *, shown: bool, on_terminal: bool) -> bool:
    """Whether to try fixes: by the option, else only on a terminal, because a script, a pipe or a
    `--watch` would wait for it."""
    if options.what_if is not None:
        return bool(options.what_if)
    return shown and on_terminal and not options.watch


def _try(score: Score, options: argparse.Namespace, exercise: Path, submission: Path) -> Score:
    from grader.grading.what_if import Trial, try_fixes
    from grader.report.terminal import make_console, progress_display
    from grader.spec.reader import read_exercise
    from grader.submission.source_file import read_submission

    text = read_submission(submission)
    if not isinstance(text, Submission) or text.sha256 != score.submission_sha256:
        return score  # the file has changed since
    with progress_display(make_console(sys.stderr), quiet=options.quiet) as show:
        trial = Trial(replace(read_options(options), show=show), seconds=options.what_if_seconds)
        return replace(score, what_if=try_fixes(read_exercise(exercise), text, score, trial))


def _print(score: Score) -> None:
    from grader.report.terminal import make_console
    from grader.report.what_if import print_what_if

    with printing():
        print_what_if(score, console=make_console(sys.stdout))


def _explain_none(why: str, score: Score, *, asked: bool) -> Score:
    if asked and sys.stderr is not None:
        print(f"--what-if: {why}", file=sys.stderr)
    return score
