"""Parses the lines of a plan as one program: C's statements around launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from grader.cpp.cursor import Cursor, error_at
from grader.cpp.evaluation import QUALIFIERS, normal_type
from grader.cpp.expressions import Expression, take_constructed, take_expression
from grader.cpp.lexer import Kind, Position, Token, read_tokens
from grader.cpp.tree import Number
from grader.cpp.types import LIBRARY_TYPES, TYPE_WORDS
from grader.spec.calls import skip_statement, take_call
from grader.spec.launch_lines import Place, mark_place, parse_launch, take_launch
from grader.spec.statements import Assignment, Block, Branch, Declaration, Leave, Loop, Statement

MAX_NESTING = 16
"""Blocks within blocks."""
_ASSIGNING = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
_TYPES = TYPE_WORDS | {"auto", "dim3", *QUALIFIERS}
_HANDLES = frozenset({"cudaStream_t", "cudaEvent_t", "cudaError_t"})


class PlanLine(NamedTuple):
    """The text behind `// launch:`, its line in the submission (None in an exercise's own plan) and
    the column at which it starts."""

    text: str
    line: int | None
    column: int


def parse_program(lines: Sequence[PlanLine], *, before: int = 0) -> tuple[Statement, ...]:
    """The statements of all lines together. LanguageError with line and column; in an exercise's
    own plan the line is the number of the text, from 1 on, where so many stand `before`."""
    if not lines:
        return ()
    places = [
        (_without_comment(text), Position(number if line is None else line, column))
        for number, (text, line, column) in enumerate(lines, start=before + 1)
    ]
    for text, (line, column) in places:
        if not text.strip():
            parse_launch(
                text, line=line, column=column
            )  # it raises the error with the expected token
    (text, (line, column)), *more = places
    cursor = Cursor(text, line=line, column=column, more=more)
    return _Reader(cursor, own=lines[0].line is not None).take_all()


def _without_comment(text: str) -> str:
    """The text up to a `//` in it."""
    comments = (token.start for token in read_tokens(text) if token.kind is Kind.COMMENT)
    return text[: next(comments, len(text))]


class _Reader:
    """Walks over the tokens of a program. `own`: it is a submission's, whose statements have
    lines."""

    def __init__(self, cursor: Cursor, *, own: bool) -> None:
        self._cursor = cursor
        self._own = own
        self._depth = 0
        self._loops = 0

    def take_all(self, opened: Token | None = None) -> tuple[Statement, ...]:
        """The statements up to the end, or up to the brace that closes the block `opened`."""
        cursor = self._cursor
        statements: list[Statement] = []
        while True:
            self._skip_ends()
            if opened is not None and cursor.accept("}"):
                return tuple(statements)
            if cursor.is_done and opened is not None:
                raise error_at(opened.position, "there is no '}' for this '{'")
            if cursor.is_done:
                return tuple(statements)
            if cursor.at("}"):
                raise error_at(cursor.token.position, "there is no '{' for this '}'")
            statements += self._take_statement()

    def _skip_ends(self) -> None:
        while self._cursor.token.kind is Kind.END and not self._cursor.is_done:
            self._cursor.take()

    def _mark(self) -> Callable[[], Place]:
        return mark_place(self._cursor, own=self._own)

    # --- statements -------------------------------------------------------------------------------

    def _take_statement(self) -> list[Statement]:
        self._skip_ends()
        cursor = self._cursor
        if cursor.accept(";"):
            return []
        compound = self._COMPOUND.get(cursor.token.text)
        if compound is not None:
            with self._nested():
                return [compound(self)]
        taken = self._take_simple()
        self._check_end()
        return taken

    def _check_end(self) -> None:
        """LanguageError unless a statement ends here."""
        cursor = self._cursor
        if not cursor.accept(";") and cursor.token.kind is not Kind.END and not cursor.at("}"):
            raise cursor.expected("';' or the end of the line")

    def _take_simple(self) -> list[Statement]:
        """A statement that contains no other."""
        cursor = self._cursor
        place, word = self._mark(), cursor.token.text
        if word in ("break", "continue"):
            if not self._loops:
                raise error_at(cursor.token.position, f"'{word}' stands in no loop")
            cursor.take()
            return [Leave(*place())]
        if word in _HANDLES:
            skip_statement(cursor)
            return []
        if self._at_declaration():
            return self._take_declarations()
        if self._at_assignment():
            return [self._take_assignment()]
        if (call := take_call(cursor, own=self._own)) is not None:
            return call
        return [take_launch(cursor, own=self._own)]

    @contextmanager
    def _nested(self) -> Iterator[None]:
        if self._depth >= MAX_NESTING:
            message = f"there are more than {MAX_NESTING} blocks in each other"
            raise error_at(self._cursor.token.position, message)
        self._depth += 1
        yield
        self._depth -= 1

    def _take_block(self) -> Statement:
        line, column, _ = self._mark()()
        return Block(line, column, "{", self.take_all(self._cursor.take()))

    def _take_body(self) -> tuple[Statement, ...]:
        """The body of a loop or a branch: statements in braces, or a single statement."""
        self._skip_ends()
        if self._cursor.is_done:
            raise self._cursor.expected("a statement")
        if self._cursor.at("{"):
            return self.take_all(self._cursor.take())
        return tuple(self._take_statement())

    def _take_loop_body(self) -> tuple[Statement, ...]:
        self._loops += 1
        body = self._take_body()
        self._loops -= 1
        return body

    def _take_for(self) -> Statement:
        cursor, mark = self._cursor, self._mark()
        cursor.take()
        cursor.expect("(")
        first = [] if cursor.at(";") else self._take_simple()
        cursor.expect(";")
        condition = None if cursor.at(";") else take_expression(cursor)
        cursor.expect(";")
        steps: list[Statement] = []
        while not cursor.at(")"):
            steps += self._take_simple()
            if not cursor.accept(","):
                break
        if not cursor.accept(")"):
            raise cursor.expected("',' or ')'")
        place = mark()
        return Loop(*place, tuple(first), condition, tuple(steps), self._take_loop_body())

    def _take_while(self) -> Statement:
        condition, place = self._take_condition()
        return Loop(*place, (), condition, (), self._take_loop_body())

    def _take_do(self) -> Statement:
        """Of a `do`, the text is its `while (condition)`."""
        self._cursor.take()
        body = self._take_loop_body()
        self._skip_ends()
        if self._cursor.token.text != "while":
            raise self._cursor.expected("'while'")
        condition, place = self._take_condition()
        self._check_end()
        return Loop(*place, (), condition, (), body, asks_first=False)

    def _take_if(self) -> Statement:
        condition, place = self._take_condition()
        body = self._take_body()
        otherwise: tuple[Statement, ...] = ()
        if self._at_else():
            self._skip_ends()
            self._cursor.take()
            otherwise = self._take_body()
        return Branch(*place, condition, body, otherwise)

    def _at_else(self) -> bool:
        """Whether the next token, on this line or a later line, is `else`."""
        ends = 0
        while self._cursor.ahead(ends).kind is Kind.END and ends < self._cursor.left - 1:
            ends += 1
        return self._cursor.ahead(ends).text == "else"

    def _take_condition(self) -> tuple[Expression, Place]:
        """The condition behind a keyword, and the place of both."""
        place = self._mark()
        self._cursor.take()
        self._cursor.expect("(")
        condition = take_expression(self._cursor)
        self._cursor.expect(")")
        return condition, place()

    _COMPOUND: Mapping[str, Callable[[_Reader], Statement]] = {
        "{": _take_block,
        "do": _take_do,
        "for": _take_for,
        "while": _take_while,
        "if": _take_if,
    }

    # --- variables --------------------------------------------------------------------------------

    def _at_declaration(self) -> bool:
        """A type, or a name and stars, before a name."""
        cursor = self._cursor
        if cursor.token.kind is not Kind.NAME:
            return False
        if cursor.token.text in _TYPES - cursor.variables:
            return cursor.ahead(1).text not in ("(", "::", "<<<")
        count = 1
        while cursor.ahead(count).text == "*":
            count += 1
        return count > 1 and cursor.ahead(count).kind is Kind.NAME

    def _take_declarations(self) -> list[Statement]:
        cursor, place = self._cursor, self._mark()
        index = cursor.index
        while cursor.token.text in _TYPES and not (cursor.index > index and self._at_name()):
            cursor.take()
        if cursor.index == index:
            cursor.take()
        base = cursor.text_since(index)
        declared: list[Statement] = []
        while True:
            stars = ""
            while cursor.at("*") or cursor.token.text in QUALIFIERS:
                stars += "*" * (cursor.take().text == "*")
            if cursor.token.kind is not Kind.NAME:
                raise cursor.expected("the name of a variable")
            name, type_ = cursor.take().text, base + stars
            cursor.variables.add(name)
            if cursor.at("["):
                message = "a launch line has no arrays; // scratch: declares device memory"
                raise error_at(cursor.token.position, message)
            value = None
            if (given := cursor.accept("=")) and not cursor.at("{"):
                value = take_expression(cursor)
            elif given or cursor.at("(", "{"):
                value = take_constructed(cursor, normal_type(type_))
            declared.append(Declaration(*place(), type_, name, value))
            if not cursor.accept(","):
                return declared

    def _at_name(self) -> bool:
        """Whether a possible type name is the declared name instead: `int half = 1`."""
        after = self._cursor.ahead(1)
        return self._cursor.token.text in LIBRARY_TYPES and after.kind is not Kind.NAME

    def _at_assignment(self) -> bool:
        cursor = self._cursor
        if cursor.at("++", "--"):
            return True
        if cursor.token.kind is not Kind.NAME:
            return False
        text, after = cursor.ahead(1).text, cursor.ahead(2)
        whole = text in ("=", "++", "--") or text in {f"{sign}=" for sign in _ASSIGNING}
        return whole or (text in ("<<", ">>") and after.text == "=")

    def _take_assignment(self) -> Statement:
        cursor, place = self._cursor, self._mark()
        position = cursor.token.position
        before = cursor.take().text if cursor.at("++", "--") else None
        if cursor.token.kind is not Kind.NAME:
            raise cursor.expected("the name of a variable")
        name = cursor.take().text
        sign = before or cursor.take().text
        if sign in ("++", "--"):
            one = Expression("1", position, Number(1), {})
            return Assignment(*place(), name, sign[0], one)
        if sign in ("<<", ">>"):
            cursor.expect("=")
            sign += "="
        value = take_expression(cursor)
        return Assignment(*place(), name, sign[:-1] or None, value)
