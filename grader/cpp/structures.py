"""Layouts of structures: of CUDA's vectors, and of plain structures that a file defines. Others
(with bit fields, base classes, templates) have no layout here."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.cpp.brackets import match_brackets
from grader.cpp.declarations import evaluate, read_constants
from grader.cpp.evaluation import QUALIFIERS
from grader.cpp.lexer import Kind, Token, read_code, symbol_name
from grader.cpp.types import TYPE_WORDS, normal_integer_type, size_of

_POINTER_BYTES = 8
_MOST_ELEMENTS = 4096
_DEEPEST = 8
_VECTOR = re.compile(
    r"(?P<element>(?:u?(?:char|short|int|long|longlong))|float|double)(?P<count>[234])"
)
_LARGEST_ALIGNMENT = 16


@dataclass(frozen=True)
class Member:
    """A number or pointer in a structure, or a structure or array with a layout of its own: its C++
    type, its place, and its bytes. `initialised`: the structure gives it a value of its own."""

    type: str
    offset: int
    size_bytes: int
    initialised: bool = False
    inner: Layout | None = None


@dataclass(frozen=True)
class Layout:
    """The members of a structure, or the elements of an array; of a number, the number itself."""

    members: tuple[Member, ...]
    size_bytes: int
    alignment: int


def find_layout(type_: str, source: str) -> Layout | None:
    """The layout of the type of this name; None if it is not known. Of an instance of a template
    it is known where there are no members."""
    name, template, _ = type_.partition("<")
    layout = _Reader(source).layout_of(symbol_name(name.rsplit("::", 1)[-1].strip()), 0)
    return None if template and layout is not None and layout.members else layout


class _Reader:
    """Reads the structures of a file."""

    def __init__(self, source: str) -> None:
        self._bodies: dict[str, Sequence[Token] | None] = {}
        for name, body in _find_bodies(read_code(source)):
            known = self._bodies.setdefault(name, body)
            if known is None or [each.text for each in known] != [each.text for each in body]:
                self._bodies[name] = None  # which of them is meant is not known
        self._constants = read_constants(source)
        self.layout_of = functools.cache(self._find_layout)

    def _find_layout(self, type_: str, depth: int) -> Layout | None:
        if (vector := _vector_layout(type_)) is not None:
            return vector
        size = _POINTER_BYTES if type_.endswith("*") else size_of(type_)
        if size is not None:
            return Layout((Member(type_, 0, size),), size, size)
        body = self._bodies.get(type_)
        if body is None or depth > _DEEPEST:
            return None
        members: list[Member] = []
        end, alignment = 0, 1
        for declared, extents, initialised in _read_members(type_, body, self._constants):
            inner = None if declared is None else self.layout_of(declared, depth + 1)
            if declared is None or inner is None:
                return None
            end = -(-end // inner.alignment) * inner.alignment
            member = _member(declared, inner)
            for count in reversed(extents):
                member = _member(f"{member.type}[{count}]", _array(member, count, inner.alignment))
            members.append(replace(member, offset=end, initialised=initialised))
            end += member.size_bytes
            alignment = max(alignment, inner.alignment)
        size = -(-end // alignment) * alignment
        return Layout(tuple(members), size or 1, alignment)


def _member(type_: str, layout: Layout) -> Member:
    """A member of this type and layout, at offset 0. A number is the only member of its layout."""
    if layout.members and layout.members[0].type == type_:
        return layout.members[0]
    initialised = any(each.initialised for each in layout.members)
    return Member(type_, 0, layout.size_bytes, initialised, layout)


def _array(element: Member, count: int, alignment: int) -> Layout:
    size = element.size_bytes
    elements = tuple(replace(element, offset=place * size) for place in range(count))
    return Layout(elements, count * size, alignment)


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
    alignment = size if count == 3 else min(_LARGEST_ALIGNMENT, count * size)
    return Layout(members, count * size, alignment)


def _find_bodies(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """The name and the tokens between the braces of each `struct NAME { ... }`, and of
    `typedef struct { ... } NAME;`."""
    ends = match_brackets(tokens)
    for index, token in enumerate(tokens):
        if token.text != "struct":
            continue
        named = index + 1 < len(tokens) and tokens[index + 1].kind is Kind.NAME
        start = index + 1 + named
        if start >= len(tokens) or tokens[start].text != "{" or start not in ends:
            continue
        end = ends[start]
        body = tokens[start + 1 : end]
        names = [tokens[index + 1]] if named else []
        names += [each for each in tokens[end + 1 : end + 2] if each.kind is Kind.NAME]
        yield from ((symbol_name(each.text), body) for each in names)


_Read = tuple[str | None, Sequence[int], bool]
"""The type of a member (None if it is not understood), the extents of an array of them, and whether
it has an initialiser."""
_UNKNOWN: _Read = (None, (), False)


def _read_members(
    name: str, body: Sequence[Token], constants: Mapping[str, int]
) -> Iterator[_Read]:
    """The members of the structure `name`. Its functions take no room."""
    for statement in map(_without_body, _take_statements(body)):
        if statement and not _is_function(name, statement):
            yield from _read_member(statement, constants)


def _without_body(statement: list[Token]) -> list[Token]:
    """`Inner a` of `struct Inner { ... } a`, since the body is read by itself; nothing of a mere
    definition."""
    words = [token.text for token in statement]
    if words[:1] != ["struct"] or words[2:3] != ["{"]:
        return statement
    declared = statement[match_brackets(statement)[2] + 1 :]
    return [statement[1], *declared] if declared else []


def _take_statements(body: Sequence[Token]) -> Iterator[list[Token]]:
    """The text up to each `;`, or to the end of a function's body."""
    statement: list[Token] = []
    depth, called = 0, False
    for token in body:
        depth += (token.text in ("{", "(")) - (token.text in ("}", ")"))
        called = called or (token.text == "(" and depth == 1)
        over = depth == 0 and token.text == ";"
        if not over:
            statement.append(token)
        if over or (depth == 0 and token.text == "}" and called):
            if statement:
                yield statement
            statement, called = [], False
    if statement:
        yield statement


_NO_FUNCTION = frozenset({"=", "alignas", "__align__"})


def _is_function(name: str, statement: Sequence[Token]) -> bool:
    """Whether a statement is a function that leaves the structure as it is: no constructor, and
    none that is virtual."""
    words = [token.text for token in statement]
    if "(" not in words or "virtual" in words:
        return False
    opening = words.index("(")
    before = words[:opening]
    if "operator" in before:
        return True
    named = len(before) > 1 and re.fullmatch(r"\w+", before[-1]) is not None
    return (
        named
        and words[opening + 1 : opening + 2] != ["*"]
        and _NO_FUNCTION.isdisjoint(before)
        and name not in before
    )


def _read_member(tokens: Sequence[Token], constants: Mapping[str, int]) -> Iterator[_Read]:
    """`const float *a, b[4]`; a `static` member takes no room."""
    words = [token.text for token in tokens if token.text not in QUALIFIERS]
    if words[:1] == ["static"]:
        return
    start = next((at for at, word in enumerate(words) if word in ("*", ",", "[", "=")), len(words))
    type_words = words[:start] if words[start : start + 1] == ["*"] else words[: start - 1]
    base = normal_integer_type([symbol_name(word) for word in type_words])
    if not type_words or not all(re.fullmatch(r"\w+", word) for word in type_words):
        yield _UNKNOWN
        return
    if len(type_words) > 1 and not all(word in TYPE_WORDS for word in type_words):
        yield _UNKNOWN
        return
    for declarator in " ".join(words[len(type_words) :]).split(","):
        match = re.fullmatch(
            r"\s*(?P<stars>(?:\*\s*)*)\w+\s*(?P<extents>(?:\[[^\]]*\]\s*)*)(?P<value>=[^=]*)?",
            declarator,
        )
        if match is None:
            yield _UNKNOWN
            return
        texts = re.findall(r"\[([^\]]*)\]", match["extents"])
        extents = tuple(evaluate(extent, constants) or 0 for extent in texts)
        known = all(0 < count <= _MOST_ELEMENTS for count in extents)
        type_ = base + "*" * match["stars"].count("*") if known else None
        yield type_, extents, match["value"] is not None
