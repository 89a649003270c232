"""`--format` and `-o` of `grade`: the score as a platform takes it, beside or in place of the
report."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.common import join_names
from grader.cli.pending import add_pending
from grader.errors import GraderError, UsageError
from grader.records import PendingRule, Score
from grader.report.platforms import FORMATS, format_for_platform


def add_format_options(parser: argparse.ArgumentParser) -> None:
    """`--format NAME` and `-o FILE`."""
    form = f"the score for a platform: {join_names(FORMATS.values(), ', or ')}"
    parser.add_argument("--format", choices=FORMATS, help=form)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where --format writes; without it, that is printed and nothing else",
    )
    add_pending(parser)


def check_outputs(json: str | None, form: str | None, output: str | None) -> None:
    """UsageError for what cannot be combined: one thing only can be printed alone on standard
    output."""
    if output is not None and form is None:
        raise UsageError(
            "-o needs --format",
            f"Add --format {join_names(FORMATS)}; --json FILE writes the score itself.",
        )
    if output == "-":
        raise UsageError("-o - is no file", "Leave -o out to print what --format makes.")
    if json == "-" and form is not None and output is None:
        raise UsageError(
            "--json - and --format both ask for standard output",
            "Give one of them a file: --json FILE, or -o FILE.",
        )


def write_for_platform(
    score: Score, form: str, output: str, rule: PendingRule | None = None
) -> None:
    """Write it; where there is nothing to hand over, remove an older file, which would be taken for
    this one."""
    from grader.report.files import write_file

    target = Path(output)
    try:
        text = format_for_platform(score, form, rule)
    except GraderError:
        if target.is_file():
            target.unlink()
        raise
    try:
        write_file(target, text.encode(), "the result")
    except UsageError as error:  # the usage was found good before the grading
        raise GraderError(str(error), error.advice) from error
