"""`--format` and `-o` of `grade`: writes the score in a platform's format."""

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
        help="the file for --format; without -o, only the result of --format is printed",
    )
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
    except UsageError as error:  # `check_target` accepted the file before the grading
        raise GraderError(str(error), error.advice) from error
