"""Finds the array accesses in one line of CUDA, so that a hint can quote
`tile[threadIdx.x][threadIdx.y + j]`.

This is not a C++ parser: where it is unsure, it returns nothing, and the hint quotes the whole
line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.cpp.lexer import Kind, Token, read_code, without_comments

_COMPOUND = frozenset({"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"})
_SHIFTS = frozenset({"<<", ">>"})
_QUOTE_LENGTH = 90
_LONGEST_LINE = 1000
"""Longer lines are not searched: nested accesses make texts whose length grows with the square of
the line's length."""


@dataclass(frozen=True)
class Access:
    """One subscripted expression. `stored`: it is the target of an assignment (a compound
    assignment also reads it)."""

    name: str
    text: str
    stored: bool
    read: bool


def quote_access(line: str, *, shared: bool, stored: bool, shared_names: frozenset[str]) -> str:
    """The access of the wanted kind in a source line; where there is none or several, the line
    itself without its comment, in backquotes."""
    wanted = [
        access
        for access in find_accesses(line)
        if (access.name in shared_names) is shared and (access.stored if stored else access.read)
    ]
    return wanted[0].text if len({access.text for access in wanted}) == 1 else f"`{_shorten(line)}`"


def find_shared_names(source: str) -> frozenset[str]:
    """Names of the arrays that a submission declares `__shared__`."""
    found: set[str] = set()
    declared: set[str] | None = None
    for token, following in pairwise([*read_code(source), Token(Kind.SYMBOL, "", len(source))]):
        if token.text == "__shared__" and declared is None:
            declared = set()
        elif token.text == ";" and declared is not None:
            found |= declared
            declared = None
        elif declared is not None and token.kind is Kind.NAME and following.text == "[":
            declared.add(token.text)
    return frozenset(found)


def find_accesses(line: str) -> tuple[Access, ...]:
    """The subscripted expressions of a line from left to right, also inside other subscripts; none
    of a very long line."""
    if len(line) > _LONGEST_LINE:
        return ()
    code = without_comments(line)
    tokens = read_code(code)
    ends = _ends_of_subscripts(tokens)
    accesses = []
    for index, end in ends.items():
        before = tokens[index - 1]
        if index == 0 or before.kind is not Kind.NAME:
            continue
        stored, reads = _assigned(tokens, end)
        text = " ".join(code[before.start : tokens[end - 1].end].split())
        accesses.append(Access(before.text, text, stored=stored, read=reads))
    return tuple(accesses)


def _ends_of_subscripts(tokens: Sequence[Token]) -> dict[int, int]:
    """For each `[` that starts a subscript `[...]` or `[...][...]`, by index: the index behind the
    subscript. None where a bracket stays open."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text == "[":
            opened.append(index)
        elif token.text == "]" and opened:
            closing[opened.pop()] = index
    ends: dict[int, int] = {}
    for index in sorted(
        closing, reverse=True
    ):  # a subscript goes on with the subscript behind it, whose end is known by then
        behind = closing[index] + 1
        goes_on = behind < len(tokens) and tokens[behind].text == "["
        if not goes_on:
            ends[index] = behind
        elif behind in ends:
            ends[index] = ends[behind]
    return dict(sorted(ends.items()))


def _assigned(tokens: Sequence[Token], index: int) -> tuple[bool, bool]:
    """Whether the text before the index is stored to, and whether it is read."""
    texts = [token.text for token in tokens[index : index + 4]] + [""] * 4
    if texts[0] == ".":  # a member of the element
        texts = texts[2:]
    if texts[0] == "=":
        return True, False
    compound = texts[0] in _COMPOUND or (texts[0] in _SHIFTS and texts[1] == "=")
    return compound, True


def _shorten(line: str) -> str:
    code = " ".join(without_comments(line).split())
    return code if len(code) <= _QUOTE_LENGTH else f"{code[: _QUOTE_LENGTH - 4]} ..."
