"""The parameters of a file's kernels, read without a compiler: types behind macros, typedefs or
template parameters are unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.cpp.lexer import Kind, Token, read_code
from grader.cpp.types import element_of, normal_integer_type

_WORDLESS = frozenset({"const", "volatile", "struct", "__restrict__", "__restrict", "restrict"})
_OPEN, _CLOSED = frozenset("([{<"), frozenset(")]}>")
_LANES = {"2": 2, "3": 3, "4": 4}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. `dtype` is NumPy's name of the element type, for a pointer of its
    target's element type; None if unknown. `lanes` is the number of elements of a value (2 of a
    `float2`). `is_const`: the pointer's target cannot be written."""

    name: str
    text: str
    dtype: str | None
    lanes: int
    is_pointer: bool
    is_const: bool


def read_parameters(source: str) -> dict[str, tuple[Parameter, ...]]:
    """The parameters of each `__global__` function of a file, by its name; of overloads the
    first."""
    found: dict[str, tuple[Parameter, ...]] = {}
    tokens = read_code(source)
    for place, token in enumerate(tokens):
        if token.text == "__global__" and (start := _find_list(tokens, place)) is not None:
            parts = _split_list(tokens, start)
            read = tuple(_read_parameter(source, part) for part in parts if part)
            found.setdefault(tokens[start - 1].text, read)
    return found


def _find_list(tokens: Sequence[Token], place: int) -> int | None:
    """The start of the parameters: the first parenthesis behind a name that is no attribute."""
    for index in range(place + 1, len(tokens)):
        text, before = tokens[index].text, tokens[index - 1]
        if text in (";", "{", "}"):
            return None
        if text == "(" and before.kind is Kind.NAME and not before.text.startswith("__"):
            return index
    return None


def _split_list(tokens: Sequence[Token], start: int) -> Iterator[list[Token]]:
    """The tokens of each parameter of the list that opens at `start`."""
    part: list[Token] = []
    depth = 0
    for token in tokens[start + 1 :]:
        if depth == 0 and token.text in (",", ")"):
            yield part
            part = []
            if token.text == ")":
                return
            continue
        depth += (token.text in _OPEN) - (token.text in _CLOSED)
        part.append(token)


def _read_parameter(source: str, tokens: Sequence[Token]) -> Parameter:
    texts = [token.text for token in tokens]
    end = next((i for i, text in enumerate(texts) if text in ("=", "[")), len(texts))
    pointed = next((i for i, text in enumerate(texts[:end]) if text == "*"), end)
    name = texts[end - 1]
    words = [text for text in texts[: min(pointed, end - 1)] if text not in _WORDLESS]
    type_name = normal_integer_type(words)
    dtype = element_of(type_name)
    lanes = _LANES.get(type_name[-1:], 1) if dtype and len(words) == 1 else 1
    is_pointer = "*" in texts[:end] or "[" in texts
    text = source[tokens[0].start : tokens[-1].end]
    return Parameter(name, text, dtype, lanes, is_pointer, "const" in texts[:pointed])
