"""`--format`, `-o` and `--pending`: grades in a platform's format, and the list of submissions
without a grade."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from grader.cli.common import join_names, print_lines
from grader.errors import GraderError, UsageError
from grader.records import BatchSummary, PendingRule, Score
from grader.report.platforms import FORMATS, format_for_platform

MOST_LISTED = 10


def add_pending(parser: argparse.ArgumentParser) -> None:
    """`--pending lost|scaled`."""
    text = (
        "the grade with pending points: count them as lost, or scale the judged points to all"
        " points (default: no grade)"
    )
    parser.add_argument("--pending", choices=[rule.value for rule in PendingRule], help=text)


def pending_rule(options: argparse.Namespace) -> PendingRule | None:
    """The instructor's rule for pending points; None without `--pending`."""
    return PendingRule(options.pending) if options.pending else None


def decide(batch: BatchSummary, rule: PendingRule | None) -> BatchSummary:
    """The batch with this rule for its pending points; unchanged for None."""
    if rule is None:
        return batch
    entries = tuple(replace(entry, pending_rule=rule) for entry in batch.entries)
    return replace(batch, entries=entries)


def print_pending(batch: BatchSummary) -> None:
    """Prints the names of graded submissions without a final grade."""
    from grader.report.text import clean_line

    several = len(batch.exercises) > 1
    names = [
        clean_line(entry.student) + (f" ({entry.exercise})" if several else "")
        for entry in batch.entries
        if entry.marks is not None and entry.points is None
    ]
    if names:
        more = ", ..." if len(names) > MOST_LISTED else ""
        print_lines(
            f"No final grade for {len(names):,} with pending points:"
            f" {', '.join(names[:MOST_LISTED])}{more}. `grade batch --only pending --device gpu`"
            " judges them; --pending lost|scaled gives a grade without this."
        )


def add_format_options(parser: argparse.ArgumentParser) -> None:
    """`--format NAME` and `-o FILE`."""
    form = f"the score for a platform: {join_names(FORMATS.values(), ', or ')}"
    parser.add_argument("--format", choices=FORMATS, help=form)
    text = "the file for --format; without -o, only the result of --format is printed"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)
    add_pending(parser)


def check_outputs(json: str | None, form: str | None, output: str | None) -> None:
    """Raises UsageError for options that conflict: standard output has room for one document."""
    if output is not None and form is None:
        raise UsageError(
            "-o needs --format",
            f"Add --format {join_names(FORMATS)}; --json FILE writes the score itself.",
        )
    if output == "-":
        raise UsageError("-o - is not a file", "Leave out -o to print the result of --format.")
    if json == "-" and form is not None and output is None:
        raise UsageError(
            "--json - and --format both ask for standard output",
            "Give one of them a file: --json FILE, or -o FILE.",
        )


def write_for_platform(
    score: Score, form: str, output: str, rule: PendingRule | None = None
) -> None:
    """Writes the score in a platform's format. If the score has no such form, removes an older
    file, so that it is not used by mistake."""
    from grader.plumbing.atomic import write_file

    target = Path(output)
    try:
        text = format_for_platform(score, form, rule)
    except GraderError:
        if target.is_file():
            target.unlink()
        raise
    try:
        write_file(target, text.encode(), "the result")
    except UsageError as error:  # `check_target` accepted the file before the grading
        raise GraderError(str(error), error.advice) from error
