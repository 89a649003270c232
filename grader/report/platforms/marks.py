"""A score as marks on lines of the submission: the compiler's messages, findings, mistakes in host
code, and causes of lost points."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from grader.messages.cause_row import page_command
from grader.messages.findings import describe_finding
from grader.messages.host_findings import describe_mistake
from grader.records import Finding, Score
from grader.report.text import clean_line

_COMPILER_LINE = re.compile(r"[^:\n]*:(?P<line>\d+): (?P<level>error|warning): (?P<text>.*)")


@dataclass(frozen=True)
class Related:
    """Another line of the file that a mark is about."""

    line: int
    message: str


@dataclass(frozen=True)
class Mark:
    """A place, and a message about it. `line` is 1 where it is unknown. `level` is error or
    warning. `rule` is the key of a cause, or the kind of a finding. `points` is its cost, 0 where
    another mark has it."""

    file: str
    line: int
    level: str
    rule: str
    message: str
    points: float = 0.0
    related: tuple[Related, ...] = ()

    @property
    def page(self) -> str:
        """The command that explains the rule."""
        return page_command(self.rule)


def list_marks(score: Score) -> list[Mark]:
    """The marks in the order of their lines."""
    errors = list(dict.fromkeys(_list_errors(score)))
    marks = [*errors, *_list_causes(score, {(mark.rule, mark.line) for mark in errors})]
    return sorted(marks, key=lambda mark: (mark.file, mark.line))


def _list_errors(score: Score) -> Iterator[Mark]:
    file = clean_line(score.submission_name)
    for line in score.detail.splitlines():
        if found := _COMPILER_LINE.fullmatch(line):
            text = clean_line(found["text"])
            yield Mark(file, int(found["line"]), found["level"], "compile_errors", text)
    for finding in score.findings:
        text = clean_line(describe_finding(finding))
        kind, others = finding.kind.value, tuple(_list_related(finding))
        yield Mark(file, finding.line or 1, "error", kind, text, related=others)
    for mistake in score.host_findings:
        text, place = clean_line(describe_mistake(mistake)), mistake.place
        at = (file, 1) if place is None else (clean_line(place.file), place.line or 1)
        yield Mark(*at, "error", mistake.kind, text)


def _list_related(finding: Finding) -> Iterator[Related]:
    """The other access of a race."""
    if finding.other_line is not None:
        of = f" of thread {finding.other_thread}" if finding.other_thread else ""
        yield Related(finding.other_line, f"the other access{of}")


def _list_causes(score: Score, marked: Collection[tuple[str, int]]) -> Iterator[Mark]:
    """A mark for each cause of lost points that has none yet, with its next step. `marked`: the
    rules and lines of the other marks."""
    file = clean_line(score.submission_name)
    for cause in score.causes:
        line = cause.line or 1
        if (cause.key, line) in marked:
            continue
        place = f"line {line}: "
        actions = (check.action for check in score.checks if check.status.lost_points)
        fitting = (each.removeprefix(place) for each in actions if each.startswith(place))
        advice = clean_line(next(fitting, "") or score.advice)
        text = f"{cause.text}: costs {cause.points:g} of {score.max_score:g} points"
        text = f"{text}. {advice}" if advice else text
        yield Mark(file, line, "warning", cause.key, text, cause.points)
