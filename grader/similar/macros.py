"""Expands a file's own macros and type names, so that code behind them is compared as the code that
it stands for.

This is no preprocessor: conditions are not evaluated, and an expansion that costs more than the
file's own length allows is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from grader.cpp.declarations import directive_of
from grader.cpp.lexer import Kind, Token, read_lines

MOST_ADDED = 20_000
"""Tokens that the macros of a file may add, and that may be looked at as their arguments."""
_DEEPEST = 16
_LONGEST_TYPE = 12
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


class _Macro(NamedTuple):
    """`parameters`: the parameters of a macro with arguments, maybe empty; None for a macro without
    parentheses."""

    parameters: Mapping[str, int] | None
    body: Sequence[Token]


@dataclass
class _Names:
    """The definitions so far, and how many more tokens may be added."""

    macros: dict[str, _Macro] = field(default_factory=dict)
    room: int = MOST_ADDED


def read_expanded(source: str) -> Iterator[Token]:
    """The code of a text, macros expanded; each token stands on the line where it is used. No
    directives."""
    names = _Names()
    code: list[Token] = []
    for line in read_lines(source):
        directive = directive_of(line)
        if directive is None:
            code += line
            continue
        yield from _read_code(code, names)
        code = []
        if directive == "define":
            _define(line, names)
        elif directive == "undef" and len(line) > 2:
            names.macros.pop(line[2].text, None)
    yield from _read_code(code, names)


def _read_code(code: Sequence[Token], names: _Names) -> Iterator[Token]:
    _define_types(code, names)
    if not names.macros:
        return iter(code)
    return _expand(code, names, frozenset())


# --- definitions ----------------------------------------------------------------------------------


def _define(line: Sequence[Token], names: _Names) -> None:
    if len(line) < 3 or line[2].kind is not Kind.NAME:
        return
    name, rest = line[2], line[3:]
    if not rest or rest[0].text != "(" or rest[0].start != name.end:
        names.macros[name.text] = _Macro(None, rest)
        return
    end = next((place for place, token in enumerate(rest) if token.text == ")"), len(rest))
    given = [token.text for token in rest[1:end] if token.kind is Kind.NAME]
    parameters = {parameter: number for number, parameter in enumerate(given)}
    names.macros[name.text] = _Macro(parameters, rest[end + 1 :])


def _define_types(code: Sequence[Token], names: _Names) -> None:
    """`using real = float;` and `typedef float real;`, as if they were macros."""
    for place, token in enumerate(code):
        if token.text not in ("using", "typedef"):
            continue
        ahead = code[place + 1 : place + 1 + _LONGEST_TYPE]
        end = next((at for at, each in enumerate(ahead) if each.text in (";", "{", "(")), 0)
        if end < 2 or ahead[end].text != ";":
            continue
        if token.text == "typedef" and ahead[end - 1].kind is Kind.NAME:
            names.macros[ahead[end - 1].text] = _Macro(None, ahead[: end - 1])
        elif token.text == "using" and ahead[1].text == "=":
            names.macros[ahead[0].text] = _Macro(None, ahead[2:end])


# --- uses -----------------------------------------------------------------------------------------


def _expand(code: Sequence[Token], names: _Names, within: frozenset[str]) -> Iterator[Token]:
    """`within`: the macros whose text this is, which are not expanded again."""
    place = 0
    while place < len(code):
        token, place = code[place], place + 1
        macro = names.macros.get(token.text) if token.kind is Kind.NAME else None
        if macro is None or token.text in within or len(within) >= _DEEPEST or names.room <= 0:
            yield token
            continue
        arguments: Sequence[Sequence[Token]] = ()
        if macro.parameters is not None:
            arguments, end = _read_arguments(code, place, names)
            if end == place:
                yield token
                continue
            place = end
        body = [*_fill(macro, arguments)]
        names.room -= len(body)
        if names.room > 0:
            moved = [each._replace(line=token.line) for each in body]
            yield from _expand(moved, names, within | {token.text})


def _read_arguments(
    code: Sequence[Token], place: int, names: _Names
) -> tuple[list[list[Token]], int]:
    """The arguments that begin at `place`, and the place behind them; `place` itself where there
    are none."""
    if place >= len(code) or code[place].text != "(":
        return [], place
    depth, found = 0, [[]]  # type: tuple[int, list[list[Token]]]
    for end in range(place, min(len(code), place + names.room)):
        token = code[end]
        names.room -= 1
        if token.text in _OPEN:
            depth += 1
        elif token.text in _CLOSE:
            depth -= 1
            if depth == 0:
                return found, end + 1
        if token.text == "," and depth == 1:
            found.append([])
        elif end > place:
            found[-1].append(token)
    return [], place


def _fill(macro: _Macro, arguments: Sequence[Sequence[Token]]) -> Iterable[Token]:
    """The macro's text with the arguments in it; of names that are pasted, the first."""
    parameters = macro.parameters or {}
    pasted = False
    for token in macro.body:
        if token.text == "##":
            pasted = True
            continue
        number = parameters.get(token.text, len(arguments))
        if not pasted:
            yield from arguments[number] if number < len(arguments) else (token,)
        pasted = False
