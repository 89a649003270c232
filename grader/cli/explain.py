"""The subcommand `explain`: the page of a cause of lost points, or the list of all causes."""

from __future__ import annotations

import argparse
import os

from grader.cli.common import Command, add_value, find_exercise, print_report

DESCRIPTION = """\
Explain a cause of lost points or a finding: its definition, a picture from a small kernel, how to
detect it, how to fix it, and the handouts about it. Reports name the page of each cause.
"""
EPILOG = """\
examples:
  grade explain                          all causes, a line each
  grade explain bank-conflicts           the page of a cause
  grade explain race                     the page of a finding, with the report on a small kernel
  grade explain global_load_efficiency   the cause that a metric shows

The small kernels run on the emulated device; no GPU is needed.

exit codes: 0 shown, 2 no such cause, 3 the grader or the machine failed
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "a cause, as a report names it (default: list all)"
    add_value(parser, "cause", "CAUSE", text, complete=lambda _: _names(), nargs="?")


def _names() -> list[str]:
    from grader.report.explanation_page import complete_cause

    return complete_cause()


def run_explain(options: argparse.Namespace) -> int:
    """`grade explain [CAUSE]`: 0 after printing."""
    from grader.report.explanation_page import print_causes, print_explanation

    if options.cause is None:
        print_report(print_causes)
        return 0
    from grader.explore.mistakes import explain_cause
    from grader.plumbing.cache import default_cache

    page, picture = explain_cause(options.cause, cache=default_cache(os.environ))
    print_report(print_explanation, page, picture, _find_handout)
    return 0


def _find_handout(exercise: str) -> str:
    """The file of a handout; the grader's own is copied by `grade start`."""
    folder = find_exercise(exercise)
    if folder.is_absolute():
        return f"grade start {exercise} copies its handout"
    return str(folder / "README.md")


EXPLAIN = Command("explain", run_explain, DESCRIPTION, EPILOG, _add_arguments)
