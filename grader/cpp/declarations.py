"""Definitions and declarations of a file, read without a preprocessor: macros, constants, kernels.

Names defined by other means (a header) are missing, and names that a condition excludes are
included: callers that need certainty ask nvcc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from grader.cpp.cursor import LanguageError
from grader.cpp.expressions import CODE, parse_expression
from grader.cpp.lexer import Kind, Token, read_code, read_lines

HASHES = ("#", "%:")
_QUALIFIERS = frozenset({"static", "unsigned", "int", "size_t", "auto", "long"})
_NAMING = frozenset({"struct", "class", "enum", "using", "namespace"})
_LONGEST_VALUE = 40
"""Of a constant, in tokens."""
LONGEST_EXPRESSION = 200
"""Most characters of a constant or an extent: a longer text has no value here."""
_INCLUDED = re.compile(r'[<"]([^<>"]*)[>"]')


class Macro(NamedTuple):
    """A `#define`: its value is the text behind the name (and the parameters), as tokens."""

    name: str
    is_function: bool
    value: Sequence[Token]


def directive_of(line: Sequence[Token]) -> str | None:
    """The name of the preprocessor's directive that a line of `read_lines` is; empty for a lone
    `#`, None for code."""
    if line[0].text not in HASHES:
        return None
    return line[1].text if len(line) > 1 else ""


def find_macros(source: str) -> Iterator[Macro]:
    """The macros that a file defines, in order."""
    for line in read_lines(source):
        if directive_of(line) == "define" and len(line) > 2 and line[2].kind is Kind.NAME:
            name, rest = line[2], line[3:]
            is_function = rest[:1] != [] and rest[0].text == "(" and rest[0].start == name.end
            yield Macro(name.text, is_function, rest)


def find_includes(source: str) -> Iterator[tuple[int, str]]:
    """The line of each `#include` of a plain name, and the name."""
    for line in read_lines(source):
        if directive_of(line) == "include" and len(line) > 2:
            named = _INCLUDED.match(source, line[2].start)
            if named is not None:
                yield line[0].line, named[1]


def has_main(source: str) -> bool:
    """Whether a file defines `main`: outside of functions, the name stands before a parenthesis."""
    depth = 0
    for token, after in pairwise([*read_code(source), Token(Kind.END, "", len(source))]):
        depth += (token.text == "{") - (token.text == "}")
        if depth == 0 and token.text == "main" and after.text == "(":
            return True
    return False


def find_kernels(source: str) -> dict[str, bool]:
    """The names of a file's `__global__` functions, and whether they are templates.

    The first name before a parenthesis is the function's. Names of its parameters may be listed
    too; for a look-up of kernels they are harmless.
    """
    found: dict[str, bool] = {}
    template, kernel = False, False
    for token, after in pairwise([*read_code(source), Token(Kind.END, "", len(source))]):
        if token.text in (";", "{", "}"):
            template, kernel = False, False
        elif token.text == "template" and after.text == "<":
            template = True
        elif token.text == "__global__":
            kernel = True
        elif kernel and token.kind is Kind.NAME and after.text == "(":
            found[token.text] = found.get(token.text, False) or template
    found.pop("__launch_bounds__", None)
    return found


def assigns(source: str, name: str) -> bool:
    """Whether the code gives a variable or a constant of this name a value."""
    return any(
        token.text == name and after.text == "=" for token, after in pairwise(read_code(source))
    )


def find_constants(source: str) -> frozenset[str]:
    """Names that may be constants or types: of `const` and `constexpr` values, enumerators, classes
    and namespaces, and of types that `using` and `typedef` name."""
    found: set[str] = set()
    statement: set[str] = set()
    before = Token(Kind.END, "", 0)
    for token in read_code(source):
        if token.text in (";", "}"):
            if token.text == ";" and "typedef" in statement:
                found.add(before.text)
            statement.clear()
        elif token.text == "{" and "enum" not in statement:
            statement.clear()
        elif token.kind is Kind.NAME:
            statement.add(token.text)
            if before.text in _NAMING or "enum" in statement:
                found.add(token.text)
        elif token.text == "=" and statement & {"const", "constexpr"}:
            found.add(before.text)
        before = token
    return frozenset(found)


# --- constants ------------------------------------------------------------------------------------


def read_constants(source: str) -> dict[str, int]:
    """The values of macros and of integer constants that are plain expressions of earlier
    constants; macros first."""
    values: dict[str, int] = {}
    macros = ((macro.name, macro.value) for macro in find_macros(source) if not macro.is_function)
    for name, tokens in (*macros, *_list_constants(source)):
        if len(tokens) > _LONGEST_VALUE:
            continue
        value = evaluate(" ".join(token.text for token in tokens), values)
        if value is not None:
            values[name] = value
    return values


def evaluate(text: str, values: Mapping[str, int]) -> int | None:
    """The value of an integer expression of the code; None for all others."""
    if len(text) > LONGEST_EXPRESSION:
        return None
    try:
        return parse_expression(text, dialect=CODE).evaluate(values)
    except LanguageError:
        return None


def _list_constants(source: str) -> Iterator[tuple[str, Sequence[Token]]]:
    """Name and value of each `const int NAME = VALUE;`."""
    lines = read_lines(source)
    tokens = [token for line in lines if directive_of(line) is None for token in line]
    for index, token in enumerate(tokens):
        if token.text != "=" or index < 2 or tokens[index - 1].kind is not Kind.NAME:
            continue
        before = [each.text for each in tokens[max(0, index - 5) : index - 1]]
        if before[-1] not in _QUALIFIERS:
            continue
        while before and before[-1] in _QUALIFIERS:
            before.pop()
        if before[-1:] not in (["const"], ["constexpr"]):
            continue
        value = tokens[index + 1 : index + 2 + _LONGEST_VALUE]
        ends = [place for place, each in enumerate(value) if each.text in (";", ",")]
        if ends:
            yield tokens[index - 1].text, value[: ends[0]]
