"""The output of a submission's `printf`, displayed so that it cannot be mistaken for the grader's
words."""

from __future__ import annotations

from dataclasses import dataclass

from grader.records import Printed, Score
from grader.report.text import escape_controls

_LINES, _COLUMNS = 20, 100
"""Most lines, and most columns, of each launch's output in a report; the score's JSON has more."""


@dataclass(frozen=True)
class PrintedBlock:
    """One launch's output: a heading in the grader's words, and lines of printable text, each
    behind a bar."""

    heading: str
    lines: tuple[str, ...]


def format_printed(score: Score) -> tuple[PrintedBlock, ...]:
    """The output of the run that failed; else of the first wrong case that printed; else of the
    first case that did."""
    if score.printed:
        return tuple(_format(printed, "the run that failed") for printed in score.printed)
    talkative = sorted((case for case in score.cases if case.printed), key=lambda case: case.passed)
    return tuple(
        _format(printed, f"case {case.name}") for case in talkative[:1] for printed in case.printed
    )


def _format(printed: Printed, where: str) -> PrintedBlock:
    lines = escape_controls(printed.text.removesuffix("\n")).split("\n")
    shown = [
        line if len(line) <= _COLUMNS else line[: _COLUMNS - 1] + "…" for line in lines[:_LINES]
    ]
    more = len(lines) - len(shown)
    rest = (
        ("... more than is kept",)
        if printed.cut
        else (f"... {more:,} more lines: --json FILE has them",)
        if more
        else ()
    )
    kernel = f"kernel {printed.kernel}, " if printed.kernel else ""
    heading = f"Printed by the submission itself, not by the grader ({kernel}{where})"
    return PrintedBlock(heading, (*(f"| {line}" for line in shown), *rest))
