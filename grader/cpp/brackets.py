"""Brackets of C++ text: their partners, and the parts between separators outside of them."""

from __future__ import annotations

from collections.abc import Sequence

from grader.cpp.lexer import Token

_CLOSES = {")": "(", "]": "[", "}": "{"}
_OPENS = frozenset(_CLOSES.values())


def match_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """For each opening bracket, by index, the index of its closing bracket."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in _OPENS:
            opened.append(index)
        elif token.text in _CLOSES:
            while opened:
                start = opened.pop()
                if tokens[start].text == _CLOSES[token.text]:
                    found[start] = index
                    break
    return found


def split_outside(text: str, separator: str, *, templates: bool = False) -> list[tuple[int, int]]:
    """The parts of the text between separators outside brackets, as (start, end); a single part if
    there is no separator.

    With `templates`, a `<` directly behind a name opens a bracket too; behind a parenthesis or a
    space it compares.
    """
    parts, first, at = [], 0, 0
    opened: list[str] = []
    while at < len(text):
        letter = text[at]
        if letter in "([{" or (templates and letter == "<" and _ends_name(text[at - 1 : at])):
            opened.append(letter)
        elif letter == ">" and opened[-1:] == ["<"]:
            opened.pop()
        elif letter in ")]}":
            while opened and opened.pop() != _CLOSES[letter]:
                pass
        elif not opened and text.startswith(separator, at):
            parts.append((first, at))
            at = first = at + len(separator)
            continue
        at += 1
    return [*parts, (first, len(text))]


def split_arguments(text: str, separator: str = ",") -> list[str]:
    """The parts of a list of template arguments or parameters, stripped; none of a blank text."""
    spans = split_outside(text, separator, templates=True)
    return [text[start:end].strip() for start, end in spans] if text.strip() else []


def _ends_name(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
