"""The output of `grade`: report, source page, machine code, effects of fixes, and the files of its
options."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import (
    add_flag,
    add_value,
    print_lines,
    print_report,
    printing,
    read_options,
)
from grader.cli.formats import pending_rule, write_for_platform
from grader.errors import GraderError, UsageError
from grader.records import WHAT_IF_SECONDS, Score, Status, Submission, WhatIfMode
from grader.report.platforms import format_for_platform
from grader.report.text import clean_line, fold_to_ascii

if TYPE_CHECKING:
    from grader.records import CodeListing, Detail, MachineWork
    from grader.report.annotation import Annotation
    from grader.spec.exercise import Exercise


def show_score(score: Score, options: argparse.Namespace, go_on: Callable[[Score], Score]) -> Score:
    """Prints the score, adds to it by `go_on`, and writes the files. If a file fails, the others
    are still written."""
    from grader.report.json import format_score

    form, rule = options.format, pending_rule(options)
    with contextlib.ExitStack() as files:
        if form and options.output is not None:
            files.callback(lambda: write_for_platform(score, form, options.output, rule))
        if options.json not in (None, "-"):
            files.callback(lambda: _write_json(score, Path(options.json)))
        if not prints_document(options):
            _print_score(score, quiet=options.quiet)
        score = go_on(score)
        if prints_document(options):
            alone = options.json == "-"
            text = format_score(score) if alone else format_for_platform(score, form, rule)
            with printing():
                sys.stdout.write(text)
    return score


def prints_document(options: argparse.Namespace) -> bool:
    """Whether standard output is only the JSON, or only the result of `--format`."""
    return options.json == "-" or (options.format is not None and options.output is None)


def _print_score(score: Score, *, quiet: bool) -> None:
    if quiet:
        print_lines(fold_to_ascii(clean_line(f"{score.status.value}: {score.message}")))
        return
    from grader.report.score_page import print_body

    print_report(print_body, score)


def print_score_ending(score: Score, options: argparse.Namespace, *, next_step: str = "") -> None:
    """Print the report's last three lines, unless the options print something else."""
    from grader.report.ending import print_ending

    if options.quiet or prints_document(options):
        return
    files = [options.html, options.json, options.output if options.format else None]
    details = ", ".join(str(name) for name in files if name is not None)
    print_report(print_ending, score, details=details, next_step=next_step)


def print_source(score: Score, path: Path, *, alone: bool) -> None:
    """Prints the source page; below it the pictures that the report has not shown (all if printed
    `alone`), and the modelled cycles. Prints nothing if the file is no source text."""
    from grader.report.annotation import TERMINAL_COLUMNS, annotate
    from grader.report.worst_accesses import accesses_of_checks

    text = _read_unchanged(score, path)
    if text is None:
        return
    drawn = () if alone else accesses_of_checks(score)
    print_annotated(annotate(score, text, TERMINAL_COLUMNS), score.machine, text, drawn=drawn)


def print_annotated(
    annotation: Annotation, machine: MachineWork | None, source: str, **options: object
) -> None:
    """Prints the source page and the modelled cycles."""
    from grader.report.annotation import number_lines
    from grader.report.source_page import print_annotation
    from grader.report.warp_time import print_warp_time

    print_report(print_annotation, annotation, **options)
    if machine is not None:
        print_report(print_warp_time, machine, number_lines(source))


def print_machine_code(score: Score, path: Path) -> None:
    """Prints the machine code of the launched kernels by source line."""
    text = _read_unchanged(score, path)
    if text is None:
        return
    if score.machine is None:
        print_lines("\nNo machine code is shown: no counted run has finished.")
        if score.status is not Status.COMPILE_ERROR:
            name = clean_line(score.submission_name)
            print_lines(f"To list the compiled code: grade inspect {name} --sass")
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


def add_machine_code(parser: argparse.ArgumentParser) -> None:
    """`--sass` and `--trace`."""
    text = (
        "also print the machine code of each source line: executions, control bits, modelled cycles"
    )
    add_flag(parser, "--sass", text)
    text = (
        "write a trace of the simulated SM, cycle by cycle, for ui.perfetto.dev (.json or .json.gz)"
    )
    add_value(parser, "--trace", "FILE", text)


def detail_of(options: argparse.Namespace, *, pages: bool) -> Detail:
    """The detail of machine code that the arguments need. `pages`: a page shows the source."""
    from grader.records import Detail
    from grader.report.trace import TRACED_SPANS

    return Detail(
        instructions=options.sass or bool(getattr(options, "html", None)),
        cycles=options.sass or pages or options.trace is not None,
        spans=TRACED_SPANS if options.trace is not None else 0,
    )


def print_listings(listings: Sequence[CodeListing], source: str, sizes: Mapping[str, int]) -> None:
    """Prints machine code below the lines of its source. `sizes`: the sizes of the counted run."""
    from grader.report.annotation import number_lines
    from grader.report.code_page import print_code

    print_report(print_code, listings, number_lines(source), sizes)


def write_trace_of(work: MachineWork | None, source: str, target: Path) -> None:
    """Writes the trace of the simulation, and its contents on standard error."""
    from grader.report.annotation import number_lines
    from grader.report.trace import write_trace

    if work is None or not work.simulated:
        print("No trace is written: no time was modelled.", file=sys.stderr)
        return
    notes = write_trace(target, work, number_lines(source))
    for note in notes:
        print(clean_line(f"{target}: {note}"), file=sys.stderr)


def add_what_if(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--what-if",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="after the verdict, try fixes for checks that lost points and show their effects, if"
        " the exercise allows it (the default on a terminal; Ctrl-C ends it)",
    )
    text = f"start no fix after this time (default: {WHAT_IF_SECONDS:g})"
    add_value(parser, "--what-if-seconds", "S", text, type=float, default=WHAT_IF_SECONDS)


def check_what_if(options: argparse.Namespace) -> None:
    """Raises UsageError for a time that is not positive."""
    if not options.what_if_seconds > 0:
        raise UsageError(
            "--what-if-seconds must be more than 0", "To try no fixes, use --no-what-if."
        )


def add_fixes(score: Score, options: argparse.Namespace, exercise: Path, submission: Path) -> Score:
    """Adds the effects of fixes to the score, if wanted and allowed, and prints them below the
    verdict. If `--what-if` has no result, prints the reason."""
    shown = not (options.quiet or prints_document(options))
    if not is_wanted(options, shown=shown, on_terminal=sys.stdout.isatty()):
        return score
    from grader.grading.what_if import lost_checks
    from grader.report.what_if import NO_FIX, NOT_SHOWN, NOTHING_LOST, print_what_if
    from grader.spec.reader import read_exercise

    read = read_exercise(exercise)
    if read.what_if is WhatIfMode.OFF or not lost_checks(score):
        why = NOT_SHOWN if read.what_if is WhatIfMode.OFF else NOTHING_LOST
        return _explain_none(why, score, options)
    tried = _try(score, options, read, submission)
    if tried.what_if is None:
        return _explain_none(NO_FIX, score, options)
    if shown:
        print_report(print_what_if, tried)
    return tried


def is_wanted(options: argparse.Namespace, *, shown: bool, on_terminal: bool) -> bool:
    """Whether to try fixes: by the option, else only on a terminal, because a script, a pipe or a
    `--watch` would wait for it."""
    if options.what_if is not None:
        return bool(options.what_if)
    return shown and on_terminal and not options.watch


def _try(score: Score, options: argparse.Namespace, exercise: Exercise, submission: Path) -> Score:
    from grader.grading.what_if import Trial, try_fixes
    from grader.report.terminal import make_console, progress_display
    from grader.submission.source_file import read_submission

    text = read_submission(submission)
    if not isinstance(text, Submission) or text.sha256 != score.submission_sha256:
        return score  # the file has changed since
    with progress_display(make_console(sys.stderr), quiet=options.quiet) as show:
        trial = Trial(replace(read_options(options), show=show), seconds=options.what_if_seconds)
        return replace(score, what_if=try_fixes(exercise, text, score, trial))


def _explain_none(why: str, score: Score, options: argparse.Namespace) -> Score:
    if options.what_if and sys.stderr is not None:
        print(f"--what-if: {why}", file=sys.stderr)
    return score
