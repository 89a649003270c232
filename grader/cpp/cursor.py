"""The base of parsers of C++ text: a cursor over its tokens, and mistakes with line and column."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from grader.cpp.lexer import Kind, Position, Token, read_tokens
from grader.cpp.types import TYPE_WORDS
from grader.records import Problem, Syntax

MAX_LENGTH = 10_000
"""Longest text that is read at all, in characters."""

T = TypeVar("T")


class LanguageError(Exception):
    """A mistake in a text of this language; line and column are 1-based. `messages` makes the
    sentence on a `problem` with its `figures`. A mistake without `problem` has a `message`, and may
    have an `advice` that suggests a fix."""

    def __init__(
        self,
        message: str,
        line: int,
        column: int,
        advice: str = "",
        problem: Problem | None = None,
        figures: Mapping[str, int | str] | None = None,
    ) -> None:
        super().__init__(f"line {line}, column {column}: {message or problem}")
        self.message = message
        self.line = line
        self.column = column
        self.advice = advice
        self.problem = problem
        self.figures = figures or {}


class Cursor:
    """Walks over the tokens of a text, or of several texts (`more`), each with its place: an END
    token follows each. `variables` are the names that the reader has declared: a declared name is
    no type. `calls`: the language has functions."""

    def __init__(
        self,
        text: str,
        *,
        line: int = 1,
        column: int = 1,
        more: Sequence[tuple[str, Position]] = (),
    ) -> None:
        self.calls = True
        self.text = ""
        self.variables: set[str] = set()
        self._tokens: list[Token] = []
        self._index = 0
        for piece, place in ((text, Position(line, column)), *more):
            if len(piece) > MAX_LENGTH:
                figures = {"length": len(piece), "most": MAX_LENGTH}
                raise problem_at(place, Syntax.TEXT_TOO_LONG, **figures)
            start = len(self.text)
            for token in _take_apart(piece, *place):
                self._tokens.append(token._replace(start=start + token.start))
            self.text += f"{piece}\n"

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._index]

    @property
    def index(self) -> int:
        """Number of tokens taken."""
        return self._index

    @property
    def left(self) -> int:
        """Number of tokens that are not taken, with the end."""
        return len(self._tokens) - self._index

    def ahead(self, count: int) -> Token:
        """The token `count` places after the next token, or the end."""
        return self._tokens[min(self._index + count, len(self._tokens) - 1)]

    def taken_since(self, index: int) -> tuple[Token, ...]:
        """The tokens taken since `index` was read."""
        return tuple(self._tokens[index : self._index])

    def text_since(self, index: int) -> str:
        """The text from the token at `index` to the last token taken."""
        tokens = self.taken_since(index)
        return self.text[tokens[0].start : tokens[-1].end] if tokens else ""

    def at(self, *symbols: str) -> bool:
        """Whether the next token is any of these symbols."""
        return self.token.kind is Kind.SYMBOL and self.token.text in symbols

    @property
    def at_type_word(self) -> bool:
        """Whether the next token is a word of types, and no variable."""
        return self.token.text in TYPE_WORDS - self.variables

    def take(self) -> Token:
        """The next token, which is then behind the cursor."""
        token = self.token
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def split(self) -> None:
        """Take the next token, a symbol of several characters, as separate symbols: `>>` may close
        two brackets."""
        self._tokens[self._index : self._index + 1] = _characters(self.token)

    def accept(self, symbol: str) -> bool:
        """Take the next token if it is this symbol. Returns whether it was."""
        found = self.at(symbol)
        if found:
            self.take()
        return found

    def expect(self, symbol: str) -> Token:
        """Take this symbol, or LanguageError."""
        if not self.at(symbol):
            raise self.expected(f"'{symbol}'")
        return self.take()

    def take_list(self, take_item: Callable[[], T], closing: str = ")") -> tuple[T, ...]:
        """Items between commas up to and with the closing bracket, whose partner is already taken.
        May be empty."""
        if self.accept(closing):
            return ()
        items = [take_item()]
        while self.accept(","):
            items.append(take_item())
        if not self.accept(closing):
            raise self.expected(f"',' or '{closing}'")
        return tuple(items)

    @property
    def is_done(self) -> bool:
        """Whether nothing but the end is left."""
        return self._index == len(self._tokens) - 1

    def expect_end(self, what: str = "the end of the line") -> None:
        """LanguageError unless the text ends here."""
        if self.token.kind is not Kind.END:
            raise self.expected(what)

    def expected(self, what: str) -> LanguageError:
        """An error at the next token, which is not the `what` that belongs there."""
        token = self.token
        shown = "the end of the line" if token.kind is Kind.END else quote(token.text)
        return problem_at(token.position, Syntax.UNEXPECTED, wanted=what, found=shown)


def _take_apart(text: str, line: int, column: int) -> Iterator[Token]:
    """The numbers, names and symbols of a text, and the characters of all else but white space."""
    end = Token(Kind.END, "", 0, line, column)
    for token in read_tokens(text, line=line, column=column):
        if token.kind in (Kind.SPACE, Kind.NEWLINE):
            continue
        if token.kind in (Kind.NUMBER, Kind.SYMBOL, Kind.NAME) or _is_literal(token):
            pieces = [token]
        else:
            pieces = [piece for piece in _characters(token) if not piece.text.isspace()]
        yield from pieces
        last = pieces[-1]
        end = Token(Kind.END, "", last.end, last.line, last.column + len(last.text))
    yield end


def _is_literal(token: Token) -> bool:
    """Whether a token is a character between quotation marks."""
    return token.kind is Kind.CHARACTER and token.text.endswith("'") and len(token.text) > 2


def _characters(token: Token) -> Iterator[Token]:
    line, column = token.position
    for start, letter in enumerate(token.text, token.start):
        yield Token(Kind.SYMBOL, letter, start, line, column)
        line, column = (line + 1, 1) if letter == "\n" else (line, column + 1)


def error_at(position: Position, message: str, advice: str = "") -> LanguageError:
    """An error at a position."""
    return LanguageError(message, position.line, position.column, advice)


def problem_at(position: Position, problem: Problem, **figures: int | str) -> LanguageError:
    """A problem at a position, whose sentence is made later."""
    return LanguageError("", position.line, position.column, problem=problem, figures=figures)


def quote(text: str, *, width: int = 40) -> str:
    """Text in single quotes, made printable and no longer than `width` characters."""
    shown = "".join(
        letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text[:width]
    )
    mark = '"' if "'" in shown else "'"
    return f"{mark}{shown}{'...' if len(text) > width else ''}{mark}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'TILE'?` where a known name is close, else nothing."""
    near = find_near(name, known)
    return f"; did you mean {near}?" if near else ""


def find_near(name: str, known: Iterable[str]) -> str:
    """The closest known name in quotes, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return quote(close[0]) if close else ""
