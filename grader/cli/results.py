"""The output of `grade`: report, source page, machine code, and the files of its options."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

from grader.cli.common import printing
from grader.cli.formats import write_for_platform
from grader.cli.machine_code import print_listings, write_trace_of
from grader.cli.pending import pending_rule
from grader.errors import GraderError, UsageError
from grader.records import Score, Status
from grader.report.platforms import format_for_platform
from grader.report.text import clean_line, fold_to_ascii


def show_score(score: Score, options: argparse.Namespace, go_on: Callable[[Score], Score]) -> Score:
    """Prints the score, adds to it by `go_on`, and writes the files. If a file fails, the others
    are still written."""
    from grader.report.json import format_score

    form, rule = options.format, pending_rule(options)
    if options.json == "-" or (form and options.output is None):
        score = go_on(score)
        alone = options.json == "-"
        text = format_score(score) if alone else format_for_platform(score, form, rule)
        with printing():
            sys.stdout.write(text)
    else:
        with contextlib.ExitStack() as files:
            if form:
                files.callback(lambda: write_for_platform(score, form, options.output, rule))
            if options.json is not None:
                files.callback(lambda: _write_json(score, Path(options.json)))
            _print_score(score, quiet=options.quiet)
            score = go_on(score)
        return score
    if options.json not in (None, "-"):
        _write_json(score, Path(options.json))
    if form and options.output is not None:
        write_for_platform(score, form, options.output, rule)
    return score


def _print_score(score: Score, *, quiet: bool) -> None:
    from grader.report.score_page import print_body
    from grader.report.terminal import make_console

    with printing():
        if quiet:
            print(fold_to_ascii(clean_line(f"{score.status.value}: {score.message}")))
        else:
            print_body(score, console=make_console(sys.stdout))


def print_score_ending(score: Score, options: argparse.Namespace) -> None:
    """Print the report's last three lines, unless the options print something else."""
    from grader.report.ending import print_ending
    from grader.report.terminal import make_console

    if options.quiet or options.json == "-" or (options.format and options.output is None):
        return
    files = [options.html, options.json, options.output if options.format else None]
    details = ", ".join(str(name) for name in files if name is not None)
    with printing():
        print_ending(score, console=make_console(sys.stdout), details=details)


def print_source(score: Score, path: Path, *, alone: bool) -> None:
    """Prints the source page; below it the pictures that the report has not shown (all if printed
    `alone`), and the modelled cycles. Prints nothing if the file is no source text."""
    from grader.report.annotation import TERMINAL_COLUMNS, annotate, number_lines
    from grader.report.source_page import print_annotation
    from grader.report.terminal import make_console
    from grader.report.warp_time import print_warp_time
    from grader.report.worst_accesses import accesses_of_checks

    text = _read_unchanged(score, path)
    if text is None:
        return
    annotation = annotate(score, text, TERMINAL_COLUMNS)
    with printing():
        console = make_console(sys.stdout)
        drawn = () if alone else accesses_of_checks(score)
        print_annotation(annotation, console=console, drawn=drawn)
        if score.machine is not None:
            print_warp_time(score.machine, number_lines(text), console=console)


def print_machine_code(score: Score, path: Path) -> None:
    """Prints the machine code of the launched kernels by source line."""
    text = _read_unchanged(score, path)
    if text is None:
        return
    with printing():
        if score.machine is None:
            print("\nNo machine code is shown: no counted run has finished.")
            if score.status is not Status.COMPILE_ERROR:
                name = clean_line(score.submission_name)
                print(f"To list the compiled code: grade inspect {name} --sass")
            return
    print_listings(score.machine.listings, text, score.machine.sizes)


def write_trace_file(score: Score, path: Path, target: Path) -> None:
    """Writes the trace of the simulated SM."""
    text = _read_unchanged(score, path)
    write_trace_of(score.machine, text or "", target)


def _read_unchanged(score: Score, path: Path) -> str | None:
    """The graded text; None if the file is no source text. Raises UsageError if the file has
    changed since."""
    text, changed = _read_again(score, path)
    if changed:
        raise UsageError(f"{path} changed during the grading", "Grade it again to see its lines.")
    return text


def write_html(score: Score, exercise: Path, submission: Path, target: str) -> None:
    from grader.report.html import write_page
    from grader.spec.reader import read_exercise

    text, _ = _read_again(score, submission)
    write_page(Path(target), score, title=read_exercise(exercise).title, source=text)


def _read_again(score: Score, path: Path) -> tuple[str | None, bool]:
    """The graded text, and whether the file has changed since. The text is None if the file has
    changed or is no source text. A score contains only the lines with counters."""
    from grader.records import Submission
    from grader.submission.source_file import read_submission

    read = read_submission(path)
    if not isinstance(read, Submission):
        return None, False
    changed = read.sha256 != score.submission_sha256
    return None if changed else read.text, changed


def _write_json(score: Score, path: Path) -> None:
    from grader.report.json import write_score

    try:
        write_score(score, path)
    except UsageError as error:  # `check_target` accepted the file before the grading
        raise GraderError(str(error), error.advice) from error
