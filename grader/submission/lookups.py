"""Refuses a submission that asks the preprocessor which files the machine has.

`__has_include` leaves no trace: the compiler lists only the files that it reads. So its operand
must be the literal name of a header, and no macro may build the operator's name. If bubblewrap
hides the files, there is nothing to learn; Landlock only forbids to open them, so that their
existence could be learnt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from grader.cpp.declarations import HASHES
from grader.cpp.lexer import Kind, Token, join_lines, read_code
from grader.records import Evaded, Evasion

_ASKING = ("__has_include", "__has_include_next", "__has_embed")
_ASKING_PART = "HAS_INCLUDE"
"""Parts of macro names that toolkits define with the operator."""
_PLAIN_OPERAND = re.compile(r'\(\s*+(?:<[\w+-][\w./+-]*+>|"[\w+-][\w./+-]*+")\s*+\)')
_DEFINED = ("ifdef", "ifndef", "elifdef", "elifndef")
_PASTES = ("##", "%:%:")
_PASTING_PARTS = ("CONCAT", "PASTE", "JOIN", "GLUE", "CAT")
"""Parts of the names of macros that paste names together, in headers at least."""
_LONG_END = 8
"""Least length of an end of such a name that counts: a pasting macro of a header could be given
it."""
_ENDS = frozenset(name[start:] for name in _ASKING for start in range(len(name) - _LONG_END + 1))
_BEGINNINGS = frozenset(name[:end] for name in _ASKING for end in range(1, len(name)))


def check_lookups(source: str) -> Evaded | None:
    """The way in which the source looks for files, if not by plain `__has_include(<header>)`."""
    source = join_lines(source)
    tokens = read_code(source)
    words = _find_words(tokens, source)
    if any(map(_is_asking, words)):
        return Evaded(Evasion.ODD_OPERAND)
    if not words.isdisjoint(_ENDS):
        return Evaded(Evasion.MADE_NAME)
    if not words.isdisjoint(_BEGINNINGS) and _pastes(tokens):
        return Evaded(Evasion.MADE_NAME)
    if _mentions("GCC", tokens) and _mentions("dependency", tokens):
        return Evaded(Evasion.DEPENDENCY)
    return None


def _find_words(tokens: Sequence[Token], source: str) -> set[str]:
    """The names in the code, except harmless uses of the operators and their operands."""
    words: set[str] = set()
    read_until = 0
    for index, token in enumerate(tokens):
        if token.start < read_until or token.kind is not Kind.NAME:
            continue
        if _is_asking(token.text) and (end := _end_of_harmless(tokens, index, source)) is not None:
            read_until = end
        else:
            words.add(token.text)
    return words


def _is_asking(name: str) -> bool:
    return name in _ASKING or _ASKING_PART in name


def _end_of_harmless(tokens: Sequence[Token], index: int, source: str) -> int | None:
    """The end of a harmless use of an operator's name: a question for a plain header, or whether
    the name is defined. None for other uses."""
    before = [token.text for token in tokens[max(0, index - 2) : index]]
    if (
        before[-1:] == ["defined"]
        or before == ["defined", "("]
        or (len(before) == 2 and before[0] in HASHES and before[1] in _DEFINED)
    ):
        return tokens[index].end
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    operand = _PLAIN_OPERAND.match(source, after.start) if after is not None else None
    if operand is None or ".." in operand.group() or "//" in operand.group():
        return None
    return operand.end()


def _pastes(tokens: Sequence[Token]) -> bool:
    """Whether anything may put names together."""
    if any(token.text in _PASTES for token in tokens):
        return True
    calls = (
        token.text.upper()
        for token, after in pairwise(tokens)
        if after.text == "(" and token.kind is Kind.NAME
    )
    return any(part in name for name in calls for part in _PASTING_PARTS)


def _mentions(word: str, tokens: Iterable[Token]) -> bool:
    """Whether the word stands in the code, or in a literal, which `_Pragma` takes."""
    literals = (Kind.STRING, Kind.RAW)
    return any(
        token.text == word or (token.kind in literals and re.search(rf"\b{word}\b", token.text))
        for token in tokens
    )
