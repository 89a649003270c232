"""Compares the promises of a handout with the spec: the lines at the head of the report, and the
table of points with its goals and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.errors import SpecProblem
from grader.metrics import METRICS, TIMED
from grader.spec.exercise import CheckSpec, Exercise
from grader.spec.public import HANDOUT_FILE, SPEC_FILE

_POINTS = re.compile(r"^## Points\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| *(\d+(?:\.\d+)?) *\|(.+)\|$", re.MULTILINE)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def handout_problems(exercise: Exercise) -> list[SpecProblem]:
    """Promised lines of the handout that the spec lacks, lines of the spec that the handout lacks,
    and points, goals and sizes of its section "Points" that differ from the spec's."""
    path = exercise.folder / HANDOUT_FILE
    if not path.is_file():
        return [SpecProblem(str(path), "", "this file is missing: it is the handout")]
    text = path.read_text(encoding="utf-8")
    differing = (
        SpecProblem(str(path), "", message) for message in _find_differences(text, exercise)
    )
    return [*_compare_headlines(text, exercise, str(path)), *differing]


def _compare_headlines(text: str, exercise: Exercise, path: str) -> Iterator[SpecProblem]:
    promised = re.findall(r"^✓ ([^:\n]+): PASSED", text, flags=re.MULTILINE)
    given = [check.headline for check in exercise.checks]
    for label in promised:
        if label not in given:
            message = f"it promises the line '✓ {label}: PASSED'; no check of the spec has that"
            yield SpecProblem(path, "", f"{message} headline")
    for index, label in enumerate(given):
        if label and label not in promised:
            message = f"the handout does not promise the line '✓ {label}: PASSED'"
            spec = str(exercise.folder / SPEC_FILE)
            yield SpecProblem(spec, f"$.checks[{index}].headline", message)


def _find_differences(text: str, exercise: Exercise) -> Iterator[str]:
    """Messages about the section "Points". A handout without a table of points promises nothing
    there."""
    found = _POINTS.search(text)
    rows = [(points, _cells(rest)) for points, rest in _ROW.findall(found[1])] if found else []
    if not found or not rows:
        return
    if len(rows) != len(exercise.checks):
        yield f"its table of points has {len(rows)} rows, the spec {len(exercise.checks)} checks"
        return
    for check, (points, cells) in zip(exercise.checks, rows, strict=True):
        place = f"its table of points, {check.headline or check.title}"
        if float(points) != check.points:
            yield f"{place}: {points} points, in the spec {check.points:g}"
        if len(cells) == 3:
            yield from (f"{place}: {each}" for each in _compare_goal(check, *cells[1:]))
    if not exercise.program and any(check.metric in TIMED for check in exercise.checks):
        named = {_plain(number) for number in _NUMBER.findall(found[1])}
        for name, size in exercise.benchmark["gpu"].items():
            if str(size) not in named:
                yield f'"Points" does not name the size of the timed run, {name} = {size:,}'


def _cells(rest: str) -> list[str]:
    return [cell.strip() for cell in rest.split("|")]


def _compare_goal(check: CheckSpec, goal: str, partial: str) -> Iterator[str]:
    threshold, full = check.threshold, check.threshold.full_mark
    wrong = "at most" if threshold.at_least is not None else "at least"
    if wrong in goal or not _names(goal, full, check):
        field = "at_most" if threshold.at_least is None else "at_least"
        yield f"the goal is '{goal}', in the spec {field} is {full:g}"
    if threshold.zero_at is None and _NUMBER.search(partial):
        yield f"partial credit is '{partial}', and the spec has no zero_at"
    if threshold.zero_at is not None and not _names(partial, threshold.zero_at, check):
        yield f"partial credit is '{partial}', in the spec zero_at is {threshold.zero_at:g}"


def _names(cell: str, figure: float, check: CheckSpec) -> bool:
    """Whether the text of a cell has the figure: also as a percentage. Words alone can mean 0 or 1:
    `none`, `all cases`."""
    fraction = METRICS[check.metric].is_fraction
    percent = fraction or check.threshold.relative_to is not None
    wanted = {f"{figure:.6g}", *([f"{100 * figure:.6g}"] if percent else [])}
    numbers = {_plain(number) for number in _NUMBER.findall(cell)}
    return bool(wanted & numbers) or (not numbers and figure in (0, 1))


def _plain(number: str) -> str:
    """A number without separators of thousands, in the form of `_names`."""
    value = float(number.replace(",", ""))
    return str(int(value)) if value.is_integer() else f"{value:.6g}"
