"""A source text for fixes: its tokens with their brackets, its kernels, and its launches with the
places of their expressions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from grader.cpp.brackets import match_brackets
from grader.cpp.declarations import evaluate, read_constants
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Kind, Token, read_code
from grader.cpp.signatures import find_definitions
from grader.records import Edit, SourceLine
from grader.spec.launch_lines import LaunchLine

_CLOSES = frozenset(")]}")


@dataclass(frozen=True)
class Span:
    """Tokens from index `first` up to `end`."""

    first: int
    end: int


@dataclass(frozen=True)
class FixText:
    """The text to be fixed: the source with all of its launch lines, the parsed launch lines, and
    the counters of its lines."""

    source: str
    launches: tuple[LaunchLine, ...] = ()
    lines: Sequence[SourceLine] = field(default=(), hash=False)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens that a compiler sees, and those of directives."""
        return read_code(self.source)

    @cached_property
    def closing(self) -> Mapping[int, int]:
        """For each opening bracket, by index, the index of its closing bracket."""
        return match_brackets(self.tokens)

    @cached_property
    def around(self) -> Sequence[tuple[int, int | None]]:
        """For each token, the number of open parentheses, and the innermost brace."""
        found: list[tuple[int, int | None]] = []
        depth, braces, ends = 0, list[int](), set(self.closing.values())
        for index, token in enumerate(self.tokens):
            paired = index in self.closing or index in ends
            depth -= paired and token.text == ")"
            if paired and token.text == "}":
                braces.pop()
            found.append((depth, braces[-1] if braces else None))
            depth += paired and token.text == "("
            if paired and token.text == "{":
                braces.append(index)
        return found

    @cached_property
    def values(self) -> Mapping[str, int]:
        """The values of the file's macros and integer constants that are plain numbers."""
        return read_constants(self.source)

    @cached_property
    def kernels(self) -> Mapping[str, Span]:
        """The bodies of the `__global__` functions, with braces; without names that have several
        bodies."""
        found: dict[str, list[Span]] = {}
        for kernel in find_definitions(self.tokens, self.closing):
            if kernel.body is not None:
                first, last = kernel.body
                found.setdefault(kernel.name, []).append(Span(first, last + 1))
        return {name: spans[0] for name, spans in found.items() if len(spans) == 1}

    @cached_property
    def launched(self) -> Mapping[str, Sequence[LaunchLine]]:
        """The launches of each kernel of `kernels`, by its name."""
        found: dict[str, list[LaunchLine]] = {}
        for launch in self.launches:
            name = launch.kernel.name.split("::")[-1]
            if name in self.kernels:
                found.setdefault(name, []).append(launch)
        return found

    def text_of(self, span: Span) -> str:
        """The source of these tokens."""
        if span.first >= span.end:
            return ""
        return self.source[self.tokens[span.first].start : self.tokens[span.end - 1].end]

    def value_of(self, span: Span) -> int | None:
        """The value of an integer expression; None where it is unknown here."""
        return evaluate(self.text_of(span), self.values)

    def replace(self, span: Span, text: str) -> Edit:
        """The edit that replaces these tokens by a text."""
        return Edit(self.tokens[span.first].start, self.tokens[span.end - 1].end, text)

    def replace_token(self, index: int, text: str) -> Edit:
        """The edit that replaces a token by a text."""
        return self.replace(Span(index, index + 1), text)

    def replace_expression(self, expression: Expression, text: str) -> Edit | None:
        """The edit that replaces an expression of a launch line by a text; None where the text does
        not contain it in one piece."""
        start = self._offset_of(expression)
        if self.source[start : start + len(expression.text)] != expression.text:
            return None
        return Edit(start, start + len(expression.text), text)

    def _offset_of(self, expression: Expression) -> int:
        line, column = expression.position
        starts = [0]
        starts += [at + 1 for at, letter in enumerate(self.source) if letter == "\n"]
        return starts[min(line, len(starts)) - 1] + column - 1

    def tokens_of_line(self, line: int) -> Span:
        """The tokens that start in a line."""
        first = bisect_left(self.tokens, line, key=lambda token: token.line)
        return Span(first, bisect_left(self.tokens, line + 1, key=lambda token: token.line))

    def statement_around(self, line: int) -> Span | None:
        """The statement with most tokens of a line, with the header before it and an `else` behind;
        None where the line has no code."""
        span = self.tokens_of_line(line)
        while span.first < span.end and self.tokens[span.first].text in ("{", "}", ";"):
            span = Span(span.first + 1, span.end)
        if span.first >= span.end:
            return None
        first, end = span.first, self._end_of_statement(span.first)
        while first > 0 and not self._starts_here(first):
            first -= 1
        while end < len(self.tokens) and self.tokens[end].text == "else":
            end = self._end_of_statement(end + 1)
        return Span(first, end)

    def _starts_here(self, index: int) -> bool:
        """Whether a statement starts at a token; a `;` in parentheses does not end a statement."""
        before = self.tokens[index - 1].text
        if before in ("{", "}"):
            return True
        return before == ";" and not self.around[index][0]

    def _end_of_statement(self, index: int) -> int:
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text == ";" or text in _CLOSES:
                return index + 1
            if text == "{":
                return self.closing.get(index, index) + 1
            index = self.closing.get(index, index) + 1
        return len(self.tokens)

    def subscripts_at(self, index: int) -> tuple[Span, ...]:
        """The text between each pair of brackets behind a token: `[y][x]`."""
        found = []
        while self.tokens[index + 1 : index + 2] and self.tokens[index + 1].text == "[":
            end = self.closing.get(index + 1)
            if end is None:
                return ()
            found.append(Span(index + 2, end))
            index = end
        return tuple(found)

    def uses_of(self, name: str, within: Span) -> Iterator[int]:
        """The indices of the tokens that are a variable of this name."""
        for index in range(within.first, within.end):
            if self.tokens[index].text == name and self.tokens[index].kind is Kind.NAME:
                before = self.tokens[index - 1].text if index else ""
                if before not in (".", "->", "::"):
                    yield index

    def conflicts_by_name(self, names: Sequence[str]) -> dict[str, int]:
        """For each name, the conflicts of the lines that contain it; none of other names."""
        found: dict[str, int] = {}
        for line in self.lines:
            excess = line.counters.shared_wavefronts_excessive
            if line.line is None or not excess:
                continue
            span = self.tokens_of_line(line.line)
            texts = {token.text for token in self.tokens[span.first : span.end]}
            for name in texts.intersection(names):
                found[name] = found.get(name, 0) + excess
        return found
