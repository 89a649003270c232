"""Where the members of a structure lie: of CUDA's vectors, and of plain structures that a file
defines. What is not plain (bit fields, base classes, templates) has no layout here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.cpp.declarations import evaluate, read_constants
from grader.cpp.evaluation import QUALIFIERS
from grader.cpp.lexer import Kind, Token, read_code
from grader.cpp.types import TYPE_WORDS, normal_integer_type, size_of

_POINTER_BYTES = 8
_MOST_MEMBERS = 256
_DEEPEST = 8
_VECTOR = re.compile(
    r"(?P<element>(?:u?(?:char|short|int|long|longlong))|float|double)(?P<count>[234])"
)
_ALIGNED_VECTORS = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)[24]")
_LARGEST_ALIGNMENT = 16


@dataclass(frozen=True)
class Member:
    """A number or pointer in a structure: its C++ type, where it lies, and its bytes."""

    type: str
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class Layout:
    """A structure's members, those of structures within it in their places."""

    members: tuple[Member, ...]
    size_bytes: int
    alignment: int


def find_layout(type_: str, source: str) -> Layout | None:
    """The layout of the type of this name; None where it is not known."""
    return _Reader(source).layout_of(type_.rsplit("::", 1)[-1].strip(), 0)


class _Reader:
    """Reads the structures of one file."""

    def __init__(self, source: str) -> None:
        self._bodies = dict(_find_bodies(read_code(source)))
        self._constants = read_constants(source)

    def layout_of(self, type_: str, depth: int) -> Layout | None:
        if (vector := _vector_layout(type_)) is not None:
            return vector
        size = _POINTER_BYTES if type_.endswith("*") else size_of(type_)
        if size is not None:
            return Layout((Member(type_, 0, size),), size, size)
        body = self._bodies.get(type_)
        if body is None or depth > _DEEPEST:
            return None
        members: list[Member] = []
        end = alignment = 1
        end = 0
        for declared, count in _read_members(body, self._constants):
            inner = None if declared is None else self.layout_of(declared, depth + 1)
            if inner is None or len(members) + count * len(inner.members) > _MOST_MEMBERS:
                return None
            for _ in range(count):
                end = -(-end // inner.alignment) * inner.alignment
                members += [Member(m.type, end + m.offset, m.size_bytes) for m in inner.members]
                end += inner.size_bytes
            alignment = max(alignment, inner.alignment)
        return Layout(tuple(members), -(-end // alignment) * alignment, alignment)


def _vector_layout(type_: str) -> Layout | None:
    if type_ == "dim3":
        return _vector_layout("uint3")
    match = _VECTOR.fullmatch(type_)
    if match is None:
        return None
    name = match["element"].replace("longlong", "long long")
    element = f"unsigned {name[1:]}" if name.startswith("u") else name
    size, count = size_of(element) or 0, int(match["count"])
    members = tuple(Member(element, place * size, size) for place in range(count))
    aligned = _ALIGNED_VECTORS.fullmatch(type_)
    return Layout(members, count * size, min(_LARGEST_ALIGNMENT, count * size) if aligned else size)


def _find_bodies(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """The name and the tokens between the braces of each `struct NAME { ... }`, and of
    `typedef struct { ... } NAME;`."""
    ends = _matching_braces(tokens)
    for index, token in enumerate(tokens):
        if token.text != "struct":
            continue
        named = index + 1 < len(tokens) and tokens[index + 1].kind is Kind.NAME
        start = index + 1 + named
        if start >= len(tokens) or tokens[start].text != "{" or start not in ends:
            continue
        end = ends[start]
        body = tokens[start + 1 : end]
        if named:
            yield tokens[index + 1].text, body
        if end + 1 < len(tokens) and tokens[end + 1].kind is Kind.NAME:
            yield tokens[end + 1].text, body


def _matching_braces(tokens: Sequence[Token]) -> dict[int, int]:
    opened: list[int] = []
    ends: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.text == "{":
            opened.append(index)
        elif token.text == "}" and opened:
            ends[opened.pop()] = index
    return ends


def _read_members(
    body: Sequence[Token], constants: Mapping[str, int]
) -> Iterator[tuple[str | None, int]]:
    """The type of each member and how many of it there are; None where it is none that is
    understood."""
    statement: list[Token] = []
    for token in body:
        if token.text != ";":
            statement.append(token)
            continue
        yield from _read_member(statement, constants)
        statement = []
    if statement:
        yield None, 1


def _read_member(
    tokens: Sequence[Token], constants: Mapping[str, int]
) -> Iterator[tuple[str | None, int]]:
    """`const float *a, b[4]`; a `static` member takes no room."""
    words = [token.text for token in tokens if token.text not in QUALIFIERS]
    if words[:1] == ["static"]:
        return
    start = next((at for at, word in enumerate(words) if word in ("*", ",", "[", "=")), len(words))
    type_words = words[:start] if words[start : start + 1] == ["*"] else words[: start - 1]
    base = normal_integer_type(type_words)
    if not type_words or not all(re.fullmatch(r"\w+", word) for word in type_words):
        yield None, 1
        return
    if len(type_words) > 1 and not all(word in TYPE_WORDS for word in type_words):
        yield None, 1
        return
    for declarator in " ".join(words[len(type_words) :]).split(","):
        match = re.fullmatch(
            r"\s*(?P<stars>(?:\*\s*)*)\w+\s*(?P<extents>(?:\[[^\]]*\]\s*)*)(?:=[^=]*)?", declarator
        )
        if match is None:
            yield None, 1
            return
        count = 1
        for extent in re.findall(r"\[([^\]]*)\]", match["extents"]):
            count *= evaluate(extent, constants) or 0
        stars = match["stars"].count("*")
        yield (base + "*" * stars if 0 < count <= _MOST_MEMBERS else None), count
