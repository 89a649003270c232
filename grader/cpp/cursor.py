"""Tokens of the launch-line language, errors with line and column, and the cursor that its parsers
are built on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from grader.records import Obstacle

MAX_LENGTH = 10_000
"""Longest text that is read at all, in characters."""

T = TypeVar("T")


class Position(NamedTuple):
    """Where something stands: line and column, both 1-based, columns in characters."""

    line: int
    column: int


class LanguageError(Exception):
    """A mistake in a text of this language. `str()` gives `line 3, column 12: message`; line and
    column are 1-based.

    `advice`, where there is any, says what to try. `obstacle` is the kind of a mistake that depends
    on the values of names.
    """

    def __init__(
        self,
        message: str,
        line: int,
        column: int,
        advice: str = "",
        obstacle: Obstacle | None = None,
    ) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column
        self.advice = advice
        self.obstacle = obstacle


# --- tokens ---------------------------------------------------------------------------------------


class TokenKind(StrEnum):
    """What a token is. Every character that starts nothing else is a symbol, so that the parser can
    name it."""

    NUMBER = "number"
    NAME = "name"
    SYMBOL = "symbol"
    END = "end"


@dataclass(frozen=True)
class Token:
    """A piece of the text, its place in the text (`start`, 0-based) and in the file
    (`position`)."""

    kind: TokenKind
    text: str
    start: int
    position: Position

    @property
    def end(self) -> int:
        """0-based offset just after the token."""
        return self.start + len(self.text)


_TOKEN = re.compile(
    r"(?P<number>[0-9][0-9A-Za-z_.]*)|(?P<name>[A-Za-z_][0-9A-Za-z_]*)|(?P<symbol>\S)"
)


def read_tokens(text: str, *, line: int = 1, column: int = 1) -> tuple[Token, ...]:
    """All tokens of the text, the last one of kind END. `line` and `column` say where the text
    starts in its file."""
    if len(text) > MAX_LENGTH:
        raise LanguageError(
            f"the text is {len(text)} characters long; at most {MAX_LENGTH} are read", line, column
        )
    tokens = [
        Token(
            TokenKind(match.lastgroup or ""),
            match.group(),
            match.start(),
            _position(text, match.start(), line, column),
        )
        for match in _TOKEN.finditer(text)
    ]
    end = len(text.rstrip())
    return (*tokens, Token(TokenKind.END, "", end, _position(text, end, line, column)))


def _position(text: str, offset: int, line: int, column: int) -> Position:
    newlines = text.count("\n", 0, offset)
    if newlines == 0:
        return Position(line, column + offset)
    return Position(line + newlines, offset - text.rfind("\n", 0, offset))


class Cursor:
    """Walks over the tokens of one text: what every parser of this language is built on."""

    def __init__(self, text: str, *, line: int = 1, column: int = 1) -> None:
        self.text = text
        self._tokens = read_tokens(text, line=line, column=column)
        self._index = 0

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._index]

    @property
    def index(self) -> int:
        """Number of tokens taken."""
        return self._index

    def ahead(self, count: int) -> Token:
        """The token `count` places after the next one, or the end."""
        return self._tokens[min(self._index + count, len(self._tokens) - 1)]

    def taken_since(self, index: int) -> tuple[Token, ...]:
        """The tokens taken since `index` was read."""
        return self._tokens[index : self._index]

    def at(self, *symbols: str) -> bool:
        """Whether the next token is one of these symbols."""
        return self.token.kind is TokenKind.SYMBOL and self.token.text in symbols

    def take(self) -> Token:
        """The next token, which is then behind the cursor."""
        token = self.token
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def accept(self, symbol: str) -> bool:
        """Take the next token if it is this symbol; say whether."""
        found = self.at(symbol)
        if found:
            self.take()
        return found

    def expect(self, symbol: str) -> Token:
        """Take this symbol, or LanguageError."""
        if not self.at(symbol):
            raise self.expected(f"'{symbol}'")
        return self.take()

    def take_list(self, take_item: Callable[[], T]) -> tuple[T, ...]:
        """Items between commas up to and with the closing `)`, whose `(` is already taken. May be
        empty."""
        if self.accept(")"):
            return ()
        items = [take_item()]
        while self.accept(","):
            items.append(take_item())
        if not self.accept(")"):
            raise self.expected("',' or ')'")
        return tuple(items)

    def expect_end(self) -> None:
        """LanguageError unless the text ends here."""
        if self.token.kind is not TokenKind.END:
            raise self.expected("the end of the line")

    def expected(self, what: str) -> LanguageError:
        """An error at the next token: `expected ')' before ';'`."""
        return error_at(self.token.position, f"expected {what} before {show_token(self.token)}")


def error_at(
    position: Position, message: str, advice: str = "", *, obstacle: Obstacle | None = None
) -> LanguageError:
    """An error at a position."""
    return LanguageError(message, position.line, position.column, advice, obstacle)


def show_token(token: Token) -> str:
    """A token as error messages quote it."""
    if token.kind is TokenKind.END:
        return "the end of the line"
    return quote(token.text)


def quote(text: str, *, width: int = 40) -> str:
    """Text in single quotes, made printable and no longer than `width` characters."""
    shown = "".join(
        letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text[:width]
    )
    mark = '"' if "'" in shown else "'"
    return f"{mark}{shown}{'...' if len(text) > width else ''}{mark}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'TILE'?` where a known name is close, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {quote(close[0])}?" if close else ""
