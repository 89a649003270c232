"""Rules of a plan beyond the JSON schema: launch and scratch lines must parse, and use existing
names.

As for `spec.semantics`, the functions take parts of the sound copy: a None or missing value has
already been reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.cpp.cursor import LanguageError, did_you_mean, quote
from grader.cpp.evaluation import FUNCTIONS
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Position
from grader.messages.syntax import describe_error
from grader.spec.launch_lines import LaunchLine, parse_scratch
from grader.spec.program import PlanLine, parse_program
from grader.spec.schema import Json, Problem, fields, items, size_names
from grader.spec.statements import Plan, Statement, expressions_of

RESERVED_NAMES = frozenset(FUNCTIONS) | {"dim3"}

Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class Starter:
    """Names of the starter that a spec may use: its kernels, and constants and types."""

    names: frozenset[str]
    kernels: frozenset[str]


def plan_problems(
    plan: Json, at: str, task: Json, starter: Starter | None, *, of_starter: bool = False
) -> Iterator[Problem]:
    """The mistakes of the plan at the path `at`; `of_starter`: it launches kernels of the
    starter."""
    known = _plan_names(task, starter)
    taken = _taken_names(task)
    for index, text in enumerate(plan.get("scratch") or []):
        path = f"{at}.scratch[{index}]"
        buffer = _parsed(parse_scratch, path, text)
        if isinstance(buffer, Problem):
            yield buffer
        if buffer is None or isinstance(buffer, Problem):
            known = None
            continue
        if buffer.name in taken:
            yield Problem(
                path,
                f"{quote(buffer.name)} is already the name of {taken[buffer.name]}: give the"
                " scratch buffer another",
            )
        taken[buffer.name] = "another scratch buffer"
        yield from _unknown_name_problems(path, buffer.shape, known)
        known = known and known | {buffer.name}
    lines = [text for text in plan.get("launch") or [] if text is not None]
    read, problems = _read_program(lines, f"{at}.launch")
    yield from problems
    known = known and known | read.variables
    for statement in read.every:
        expressions = expressions_of(statement)
        for index in sorted({each.position.line - 1 for each in expressions}):
            path = f"{at}.launch[{index}]"
            here = [each for each in expressions if each.position.line - 1 == index]
            yield from _unknown_name_problems(path, here, known)
        if of_starter and starter is not None and isinstance(statement, LaunchLine):
            path = f"{at}.launch[{statement.kernel.position.line - 1}]"
            yield from _kernel_problems(path, statement, starter)


def _read_program(lines: Sequence[str], at: str) -> tuple[Plan, list[Problem]]:
    """The launch lines as one program, as far as they parse. If no block spans several lines, the
    mistakes of all lines are found."""
    pieces = [[PlanLine(text, None, 1)] for text in lines]
    first = range(len(lines))
    if any("{" in text or "}" in text for text in lines):
        pieces, first = [[piece for (piece,) in pieces]], range(1)
    statements: list[Statement] = []
    problems: list[Problem] = []
    for before, piece in zip(first, pieces, strict=True):
        try:
            statements += parse_program(piece, before=before)
        except LanguageError as error:
            path = f"{at}[{error.line - 1}]"
            problems.append(Problem(path, f"column {error.column}: {describe_error(error)}"))
    return Plan(tuple(statements)), problems


def _taken_names(task: Json) -> dict[str, str]:
    """The names that a scratch buffer cannot have, and the kind of each."""
    buffers = (str(buffer["name"]) for _, buffer in items(task, "buffers") if buffer.get("name"))
    taken = dict.fromkeys(fields(task, "sizes"), "a size") | dict.fromkeys(buffers, "a buffer")
    taken |= dict.fromkeys(scalar_names(task), "a scalar")
    return taken | dict.fromkeys(RESERVED_NAMES, "a function of launch lines")


def scalar_names(task: Json) -> frozenset[str]:
    """The names of a task's scalars."""
    scalars = (scalar.get("name") for _, scalar in items(task, "scalars"))
    return frozenset(str(name) for name in scalars if name)


def _plan_names(task: Json, starter: Starter | None) -> frozenset[str] | None:
    """The names that a plan may use; None if they are not known."""
    names = [buffer.get("name") for _, buffer in items(task, "buffers")]
    sizes = size_names(task)
    all_known = names and None not in names and len(names) == len(task["buffers"])
    if starter is None or not sizes or not all_known:
        return None
    return sizes | scalar_names(task) | frozenset(map(str, names)) | starter.names


def _parsed(parse: Callable[[str], Parsed], path: str, text: str | None) -> Parsed | Problem | None:
    try:
        return None if text is None else parse(text)
    except LanguageError as error:
        return Problem(path, f"column {error.column}: {describe_error(error)}")


def _unknown_name_problems(
    path: str, expressions: Sequence[Expression], known: frozenset[str] | None
) -> Iterator[Problem]:
    if known is None:
        return
    used = frozenset[str]().union(*(expression.names for expression in expressions))
    unknown = [name for name in used if not set(re.findall(r"\w+", name)) - {"sizeof"} <= known]
    for name in sorted(unknown):
        place = next(each.place_of(name) for each in expressions if name in each.names)
        what = "(it is no buffer, no size, and no constant of the starter)"
        yield Problem(path, f"{unknown_name(name, place, known)} {what}")


def unknown_name(name: str, place: Position, known: Iterable[str]) -> str:
    """The message for a name without a value in a formula or a launch line."""
    guess = did_you_mean(name, sorted(known))
    return f"column {place.column}: {quote(name)} is not known here{guess}"


def _kernel_problems(path: str, line: LaunchLine, starter: Starter) -> Iterator[Problem]:
    name = line.kernel.name.split("::")[-1]
    if name not in starter.kernels:
        column = line.kernel.position.column
        yield Problem(
            path,
            f"column {column}: the starter has no kernel"
            f" {quote(name)}{did_you_mean(name, sorted(starter.kernels))}",
        )
