"""Proposes launch lines from the host code of a file: the launches, loops and copies of its `main`.
Unsupported statements are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from grader.cpp.cursor import LanguageError
from grader.cpp.lexer import Kind, Token, read_code
from grader.cpp.types import TYPE_WORDS
from grader.records import PlanMistake
from grader.spec.launch_lines import parse_scratch
from grader.spec.program import MAX_NESTING, PlanLine, parse_program
from grader.spec.statements import Declaration, Statement

MOST_LINES = 24
PROPOSING = "Launch lines for the host code of the file (check the names):"
_OPENING, _CLOSING = {"(": ")", "{": "}", "[": "]"}, (")", "}", "]")
_DEVICE = ("__global__", "__device__")
_DECLARING = TYPE_WORDS | {"const", "constexpr", "dim3", "auto"}
_SIZE_OF = re.compile(r" ?\* ?sizeof ?\([\w ]*\)|sizeof ?\([\w ]*\) ?\* ?")
_AFFIX = re.compile(
    r"(?:d|h|dev|host|device|gpu)_(?P<behind>\w+)|(?P<before>\w+)_(?:d|h|dev|host|device|gpu)"
    r"|d(?P<capital>[A-Z]\w*)"
)


@dataclass
class _Item:
    """A statement, or a header with its body and the statements behind it."""

    text: str
    body: list[_Item] | None = None
    names: frozenset[str] = frozenset()
    declares: frozenset[str] = field(default=frozenset())
    launches: bool = False
    behind: str = ""


def propose_lines(source: str, known: Collection[str]) -> tuple[str, ...]:
    """The `// launch:` and `// scratch:` lines for the host functions of a file, `main` first;
    empty if none launches a kernel. `known` are buffers, sizes and scalars: host pointers count as
    the buffer with a similar name (`d_x` for `x`)."""
    reader = _Reader(source, known)
    for start, end in reader.host_functions():
        items = reader.read(start, end)
        if any(item.launches for item in items):
            return tuple(reader.format(items))
    return ()


class _Reader:
    """The tokens of a file, with the partner of each bracket."""

    def __init__(self, source: str, known: Collection[str]) -> None:
        self._source = source
        self._known = {name.lower(): name for name in known}
        self._tokens = read_code(source)
        self._partners = _find_partners(self._tokens)
        self._pointers: dict[str, str] = {}
        self._allocated: dict[str, str] = {}
        self._values: dict[str, str] = {}

    def host_functions(self) -> list[tuple[int, int]]:
        """Start and end of the bodies of host functions, `main` first."""
        found: list[tuple[bool, int, int]] = []
        at = first = 0
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.text in (";", "}"):
                first = at + 1
            elif token.text == "{" and at in self._partners:
                words = [each.text for each in self._tokens[first:at]]
                if words[-1:] == [")"]:
                    if not set(words) & set(_DEVICE):
                        found.append(("main" not in words, at + 1, self._partners[at]))
                    at = self._partners[at]
                first = at + 1
            at += 1
        return [(start, end) for _, start, end in sorted(found)]

    def read(self, start: int, end: int, depth: int = 0) -> list[_Item]:
        """The statements between two tokens that launch lines support; empty if blocks are nested
        too deep."""
        items: list[_Item] = []
        at = start if depth < MAX_NESTING else end
        while at < end:
            word = self._tokens[at].text
            if word == "{" and at in self._partners:
                items += self.read(at + 1, self._partners[at], depth + 1)
                at = self._partners[at] + 1
            elif word in ("do", "for", "while", "if", "else"):
                item, at = self._read_compound(at, end, depth)
                items += [item] if item.launches else []
            else:
                stop = self._end_of_statement(at, end)
                items += self._read_simple(at, stop)
                at = stop + 1
        return items

    def _read_compound(self, at: int, end: int, depth: int) -> tuple[_Item, int]:
        """A loop or a branch, and its end."""
        word = self._tokens[at].text
        head = self._partners.get(at + 1, at) if word not in ("do", "else") else at
        body = head + 1
        if body < end and self._tokens[body].text == "{" and body in self._partners:
            stop = self._partners[body]
        else:
            stop = min(self._end_of_statement(body, end), end - 1)
        items = self.read(body, stop + 1, depth + 1)
        text = self._text(at, head + 1)
        names = self._names(at + 1, head + 1)
        launches = any(item.launches for item in items)
        item = _Item(text, items, names, launches=launches)
        if word == "do":
            end_of_loop = self._end_of_statement(stop + 1, end)
            item.behind = f" {self._text(stop + 1, end_of_loop)};"
            item.names |= self._names(stop + 2, end_of_loop)
            stop = end_of_loop
        return item, stop + 1

    def _end_of_statement(self, at: int, end: int) -> int:
        while at < end and self._tokens[at].text != ";":
            at = self._partners.get(at, at) + 1
        return at

    def _read_simple(self, start: int, stop: int) -> list[_Item]:
        """The statement in launch lines, if they support it."""
        tokens = self._tokens
        while (
            stop - start > 3
            and tokens[start].kind is Kind.NAME
            and self._partners.get(start + 1) == stop - 1
            and tokens[start + 2].text.startswith("cuda")
        ):
            start, stop = start + 2, stop - 1  # CHECK(cudaMemset(...))
        if start >= stop:
            return []
        text = self._text(start, stop)
        text = re.sub(r",\s*cudaMemcpyHostToDevice\b", "", text)
        first = tokens[start].text
        if first in ("cudaMalloc", "cudaMallocManaged"):
            self._note_allocation(start, stop)
        launches = any(token.text == "<<<" for token in tokens[start:stop])
        if first == "cudaMemcpy" and "cudaMemcpyDeviceToDevice" not in text:
            return []
        statements = _parse(text)
        declared = self._note_declarations(statements)
        if not statements or (first in _DECLARING and not declared):
            return []
        return [
            _Item(
                text,
                names=self._names(start, stop),
                declares=frozenset(declared),
                launches=launches,
            )
        ]

    def _note_allocation(self, start: int, stop: int) -> None:
        """Record the buffer and the size of `cudaMalloc(&name, size)`."""
        comma = next((at for at in range(start, stop) if self._tokens[at].text == ","), stop)
        if comma + 1 < stop and self._tokens[comma - 1].kind is Kind.NAME:
            name = self._name(self._tokens[comma - 1].text)
            self._allocated[name] = self._text(comma + 1, self._partners.get(start + 1, stop))

    def _note_declarations(self, statements: Sequence[Statement]) -> list[str]:
        """The names of variables with a value that launch lines do not know already."""
        declared = []
        for each in statements:
            if not isinstance(each, Declaration):
                continue
            if each.type.endswith("*"):
                self._pointers[each.name] = each.type.rstrip("* ")
            if each.value is not None:
                self._values[each.name] = each.value.text
                declared.append(each.name)
        return [name for name in declared if name.lower() not in self._known]

    # --- names and text ---------------------------------------------------------------------------

    def _name(self, name: str) -> str:
        """The name in launch lines for a name of the host."""
        if name.lower() in self._known:
            return self._known[name.lower()]
        match = _AFFIX.fullmatch(name)
        plain = next(filter(None, match.groups()), "") if match else ""
        return self._known.get(plain.lower(), name)

    def _names(self, start: int, stop: int) -> frozenset[str]:
        names = (each.text for each in self._tokens[start:stop] if each.kind is Kind.NAME)
        return frozenset(map(self._name, names))

    def _text(self, start: int, stop: int) -> str:
        """The code between two tokens on a single line, with the names of launch lines."""
        pieces: list[str] = []
        end = self._tokens[start].start if start < stop else 0
        for token in self._tokens[start:stop]:
            if token.start > end:
                pieces.append(" ")
            pieces.append(self._name(token.text) if token.kind is Kind.NAME else token.text)
            end = token.end
        return "".join(pieces)

    def format(self, items: Sequence[_Item]) -> Iterator[str]:
        """The lines, without declarations that nothing needs."""
        needed = set(_needed(items))
        lines = [f"// launch: {line}" for line in _format(items, needed, "")]
        for name in sorted(needed - set(self._known.values())):
            yield from self._scratch(name)
        yield from lines[:MOST_LINES]

    def _scratch(self, name: str) -> Iterator[str]:
        """The buffer that the host allocates under this name."""
        size, type_ = self._allocated.get(name), self._pointers.get(name)
        if size is None or type_ is None:
            return
        size = self._values.get(size, size)
        extent = _SIZE_OF.sub("", size) if _SIZE_OF.search(size) else f"({size}) / sizeof({type_})"
        text = f"{type_} {name}[{extent}]"
        try:
            parse_scratch(text)
        except LanguageError:
            return
        yield f"// scratch: {text}"


def _find_partners(tokens: Sequence[Token]) -> dict[int, int]:
    """For each opening bracket the token that closes it."""
    opened: list[int] = []
    partners: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.text in _OPENING:
            opened.append(index)
        elif token.text in _CLOSING and opened:
            partners[opened.pop()] = index
    return partners


def _parse(text: str) -> Sequence[Statement]:
    """The statements of a text; none if it cannot be read or has no effect."""
    try:
        return parse_program([PlanLine(text, 1, 1)])
    except LanguageError:
        return ()


def _needed(items: Sequence[_Item]) -> Iterator[str]:
    """The names that launches need, and the names in their definitions."""
    flat = list(_flatten(items))
    needed: set[str] = set()
    for item in reversed(flat):
        if item.launches or item.declares & needed or not item.declares:
            needed |= item.names
    yield from needed


def _flatten(items: Sequence[_Item]) -> Iterator[_Item]:
    for item in items:
        yield item
        yield from _flatten(item.body or ())


def _format(items: Sequence[_Item], needed: set[str], indent: str) -> Iterator[str]:
    for item in items:
        if item.body is not None:
            yield f"{indent}{item.text} {{"
            yield from _format(item.body, needed, f"{indent}    ")
            yield f"{indent}}}{item.behind}"
        elif not item.declares or item.declares & needed:
            yield f"{indent}{item.text};"


def with_proposal(mistake: PlanMistake, source: str, known: Collection[str]) -> PlanMistake:
    """The mistake; if it is in the exercise's own plan, with the launch lines proposed from the
    file's host code."""
    lines = propose_lines(source, known) if mistake.line is None else ()
    if not lines:
        return mistake
    advice = f"{mistake.advice}\n{PROPOSING}\n" + "\n".join(lines)
    return replace(mistake, advice=advice)
