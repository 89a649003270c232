"""A file's kernels, read without a compiler: their parameters and bodies. Types behind macros,
typedefs or template parameters are unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.cpp.brackets import match_brackets
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


@dataclass(frozen=True)
class Definition:
    """A `__global__` function: the indices of its first token, of the parenthesis before its
    parameters, and of the braces of its body; None of a declaration."""

    name: str
    first: int
    opened: int
    body: tuple[int, int] | None


def find_definitions(tokens: Sequence[Token], closing: Mapping[int, int]) -> Iterator[Definition]:
    """The `__global__` functions of a file. `closing`: see `match_brackets`."""
    for place, token in enumerate(tokens):
        opened = _find_list(tokens, closing, place) if token.text == "__global__" else None
        if opened is not None:
            name = tokens[opened - 1].text
            yield Definition(name, place, opened, _find_body(tokens, closing, closing[opened] + 1))


def _find_list(tokens: Sequence[Token], closing: Mapping[int, int], start: int) -> int | None:
    """The start of the parameters: the first parenthesis behind a name that is no attribute."""
    for index in _outer_places(closing, start + 1, len(tokens)):
        text, before = tokens[index].text, tokens[index - 1]
        if text in (";", "{", "}", "__global__"):
            return None
        if text == "(" and before.kind is Kind.NAME and not before.text.startswith("__"):
            return index if index in closing else None
    return None


def _find_body(
    tokens: Sequence[Token], closing: Mapping[int, int], start: int
) -> tuple[int, int] | None:
    for index in _outer_places(closing, start, len(tokens)):
        if tokens[index].text in (";", "}", "__global__"):
            return None
        if tokens[index].text == "{":
            return (index, closing[index]) if index in closing else None
    return None


def _outer_places(closing: Mapping[int, int], index: int, end: int) -> Iterator[int]:
    """Indices of tokens from `index` on, without the contents of brackets."""
    while index < end:
        yield index
        index = closing.get(index, index) + 1


def find_kernel_lines(source: str) -> Iterator[tuple[str, int, int]]:
    """The name of each `__global__` function with a body, and its first and last line; none inside
    of namespaces."""
    tokens = read_code(source)
    closing = match_brackets(tokens)
    outer = set(_outer_places(closing, 0, len(tokens)))
    for kernel in find_definitions(tokens, closing):
        if kernel.body is not None and kernel.body[0] in outer:
            yield kernel.name, tokens[kernel.first].line, tokens[kernel.body[1]].line


def read_parameters(source: str) -> dict[str, tuple[Parameter, ...]]:
    """The parameters of each `__global__` function of a file, by its name; of overloads the
    first."""
    found: dict[str, tuple[Parameter, ...]] = {}
    tokens = read_code(source)
    for kernel in find_definitions(tokens, match_brackets(tokens)):
        parts = _split_list(tokens, kernel.opened)
        read = tuple(_read_parameter(source, part) for part in parts if part)
        found.setdefault(kernel.name, read)
    return found


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
