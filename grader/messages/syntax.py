"""Sentences on mistakes in the text of launch lines and expressions: one row for each."""

from __future__ import annotations

from collections.abc import Mapping

from grader.cpp.cursor import LanguageError
from grader.records import Obstacle, Problem, Syntax


def describe_error(error: LanguageError) -> str:
    """The message without its place."""
    return (
        error.message
        if error.problem is None
        else describe_problem(error.problem, error.figures)[0]
    )


def describe_problem(problem: Problem, figures: Mapping[str, int | str]) -> tuple[str, str]:
    """The message and the advice; both are empty where `messages.plans` has them."""
    words, advice = _ROWS.get(problem, ("", ""))
    near = figures.get("near")
    guess = f"; did you mean {near}?" if near else ""
    return words.format_map(figures) + guess, advice


_ROUND_UP = "; write ceil_div(a, b) to divide and round up"
_UNCALLABLE = "{name} cannot be called here; the functions are {functions}"
_ROWS: Mapping[Problem, tuple[str, str]] = {
    Obstacle.DIVISION_BY_ZERO: ("division by zero", ""),
    Obstacle.BEYOND_64_BITS: ("the value does not fit 64 bits", ""),
    Syntax.ADDRESS_OPERATOR: (
        "{sign} does not go with {kind}",
        "An address takes + and - of an integer number of elements: a + n, &a[n].",
    ),
    Syntax.BUFFER_AS_INTEGER: (
        "{name} is a buffer, and can only be given to a kernel, copied or set",
        "Use an integer here.",
    ),
    Syntax.DIM3_ARGUMENTS: ("dim3 takes 1 to 3 arguments, got {count}", ""),
    Syntax.ELEMENT: (
        "a launch line cannot read the elements of a buffer",
        "Write its address, &a[n] or a + n; only kernels read and write elements.",
    ),
    Syntax.FUNCTION_ARGUMENTS: ("{function} takes 2 arguments, got {count}", ""),
    Syntax.GROUP_AS_INTEGER: ("{text} is {kind}, no integer", "Write an integer expression."),
    Syntax.MISSING_SIZE: (
        "the size of {type} is not known here",
        "Cast to a pointer to numbers or to one of CUDA's vectors (float4).",
    ),
    Syntax.NESTED_TOO_DEEP: ("the expression is nested more than {most} deep", ""),
    Syntax.NOT_A_CHARACTER: ("{text} is no character of ASCII", ""),
    Syntax.NOT_A_CONDITION: ("{kind} is no condition: compare integers", ""),
    Syntax.NOT_A_NUMBER: ("{text} is no number as C writes them", ""),
    Syntax.NOT_A_POINTER: (
        "{kind} cannot be made a pointer",
        "Only buffers have addresses here.",
    ),
    Syntax.NOT_AN_ADDRESS: (
        "'&' is there for elements of buffers only",
        "Write the buffer's name for its start, a + n or &a[n] for an element's address.",
    ),
    Syntax.NOT_AN_INTEGER: (
        "{text} is {kind}, no integer",
        "Write (int)(...) around it, or compute with integers.",
    ),
    Syntax.NOT_CONVERTIBLE: ("{kind} cannot be made {type}", ""),
    Syntax.NOT_FINITE: ("{value} cannot be made an integer", ""),
    Syntax.NUMBERS_ONLY: ("{function} takes numbers", ""),
    Syntax.ROUNDED_UP: (_UNCALLABLE + _ROUND_UP, ""),
    Syntax.SHIFT_COUNT: ("a shift by no number of bits from 0 to 63", ""),
    Syntax.TEXT_TOO_LONG: ("the text is {length} characters long; at most {most} are read", ""),
    Syntax.TOO_DEEP: ("the expression is nested too deep", ""),
    Syntax.UNCALLABLE: (_UNCALLABLE, ""),
    Syntax.UNEXPECTED: ("expected {wanted} before {found}", ""),
    Syntax.UNKNOWN_NAME: ("{name} is not known here", ""),
    Syntax.UNKNOWN_TYPE: ("{type} is no type that is known here", ""),
    Syntax.VOID_POINTER: ("a void pointer has no elements to count", "Cast it first."),
    Syntax.WITHOUT_FLOATS: (
        "{sign} takes integers, not floats",
        "Write (int)(...) around the part that must be an integer.",
    ),
    Syntax.WRONG_OPERAND: ("{sign} does not take {kind}", ""),
}
