"""Launches and buffers as they are written: `kernel<T><<<grid, block, shared_bytes>>>(arguments)`
and `float name[N * K]`.

Only the form is checked here. Names get their values, and kernels their machine code, in
`submission.resolve`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.cpp.cursor import Cursor, did_you_mean, error_at, quote
from grader.cpp.expressions import Expression, parse_expression, take_expression
from grader.cpp.lexer import Kind, Position, Token
from grader.cpp.types import NUMPY_NAMES, TYPE_WORDS, normal_integer_type

_TYPE_MARKS = TYPE_WORDS | {"const", "volatile", "true", "false", "::", "<"}


Place = tuple[int | None, int, str]
"""The first three fields of `Written`."""


@dataclass(frozen=True)
class Written:
    """A part of a plan: its line in the submission (1-based; None if the plan is the exercise's),
    the column at which `text` starts, and the text."""

    line: int | None
    column: int
    text: str

    @property
    def position(self) -> Position:
        return Position(self.line or 1, self.column)


@dataclass(frozen=True)
class TypeName:
    """A template argument that is a type, `true` or `false`: its text as written."""

    text: str
    position: Position


@dataclass(frozen=True)
class KernelName:
    """A kernel as a launch line names it. `template_arguments` is None if none are written."""

    name: str
    template_arguments: tuple[Expression | TypeName, ...] | None
    position: Position

    @property
    def template_expressions(self) -> tuple[Expression, ...]:
        """The template arguments that are no types."""
        return tuple(a for a in self.template_arguments or () if isinstance(a, Expression))

    def __str__(self) -> str:
        if self.template_arguments is None:
            return self.name
        return f"{self.name}<{', '.join(argument.text for argument in self.template_arguments)}>"


@dataclass(frozen=True)
class LaunchLine(Written):
    """A launch with its expressions not yet evaluated. `grid` and `block` have 1 to 3."""

    kernel: KernelName
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    shared_bytes: Expression | None
    arguments: tuple[Expression, ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All expressions, template arguments first, in the order in which they are written."""
        template = self.kernel.template_expressions
        shared = (self.shared_bytes,) if self.shared_bytes is not None else ()
        return (*template, *self.grid, *self.block, *shared, *self.arguments)


@dataclass(frozen=True)
class ScratchBuffer(Written):
    """A device buffer that a plan declares for itself: `dtype` is NumPy's name."""

    name: str
    dtype: str
    shape: tuple[Expression, ...]


# --- launches -------------------------------------------------------------------------------------


def parse_launch(text: str, *, line: int | None = None, column: int = 1) -> LaunchLine:
    """Parse the text behind `// launch:`. LanguageError with line and column (line 1 if `line` is
    None)."""
    cursor = Cursor(text, line=line or 1, column=column)
    launch = take_launch(cursor, own=line is not None)
    cursor.expect_end()
    return launch


def mark_place(cursor: Cursor, *, own: bool) -> Callable[[], Place]:
    """A function that returns the place of the text from here up to the cursor; `own`: it is the
    submission's, and has a line."""
    start, index = cursor.token, cursor.index
    return lambda: (start.line if own else None, start.column, cursor.text_since(index))


def take_launch(cursor: Cursor, *, own: bool) -> LaunchLine:
    """Parse the launch at the cursor; `own`: see `mark_place`."""
    place = mark_place(cursor, own=own)
    kernel = take_kernel_name(cursor)
    _expect_chevrons(cursor, "<")
    grid = _take_dim3(cursor)
    cursor.expect(",")
    block = _take_dim3(cursor)
    shared_bytes = take_expression(cursor) if cursor.accept(",") else None
    if cursor.accept(","):
        _skip_stream(cursor)
    _expect_chevrons(cursor, ">")
    cursor.expect("(")
    arguments = cursor.take_list(lambda: take_expression(cursor))
    return LaunchLine(*place(), kernel, grid, block, shared_bytes, arguments)


def take_kernel_name(cursor: Cursor) -> KernelName:
    position = cursor.token.position
    name = _take_qualified_name(cursor)
    if not cursor.at("<"):
        return KernelName(name, None, position)
    cursor.take()
    return KernelName(name, _take_template_arguments(cursor), position)


def _take_qualified_name(cursor: Cursor) -> str:
    cursor.accept("::")
    parts = [_take_name(cursor, "the name of a kernel")]
    while cursor.accept("::"):
        parts.append(_take_name(cursor, "the name of a kernel"))
    return "::".join(parts)


def _take_name(cursor: Cursor, what: str) -> str:
    if cursor.token.kind is not Kind.NAME:
        raise cursor.expected(what)
    return cursor.take().text


def _take_template_arguments(cursor: Cursor) -> tuple[Expression | TypeName, ...]:
    if cursor.accept(">"):
        return ()
    arguments = [_take_template_argument(cursor)]
    while cursor.accept(","):
        arguments.append(_take_template_argument(cursor))
    cursor.expect(">")
    return tuple(arguments)


def _take_template_argument(cursor: Cursor) -> Expression | TypeName:
    """The argument up to the `,` or `>` that ends it: a type where a word or a mark of types is in
    it, else an expression."""
    tokens = _take_balanced(cursor)
    if not tokens:
        raise cursor.expected("a template argument")
    text = cursor.text[tokens[0].start : tokens[-1].end]
    position = tokens[0].position
    if "::" in text or any(token.text in _TYPE_MARKS - cursor.variables for token in tokens):
        return TypeName(text, position)
    return parse_expression(text, line=position.line, column=position.column)


def _take_balanced(cursor: Cursor) -> tuple[Token, ...]:
    start, depth = cursor.index, 0
    while cursor.token.kind is not Kind.END and not (depth == 0 and cursor.at(",", ">")):
        if cursor.at("<<<"):
            message = "expected '>' before '<<<': the template arguments are not closed"
            raise error_at(cursor.token.position, message)
        if cursor.at(">>"):
            cursor.split()
            continue
        depth += cursor.at("(", "<") - cursor.at(")", ">")
        cursor.take()
    return cursor.taken_since(start)


def _expect_chevrons(cursor: Cursor, mark: str) -> None:
    if not cursor.accept(3 * mark):
        raise cursor.expected("'<<<'" if mark == "<" else "',' or '>>>'")
    if mark == "<":
        _check_closed(cursor)


def _check_closed(cursor: Cursor) -> None:
    """LanguageError for `k<<<1, 1>>(a)`, which would read as a shift."""
    suspect = None
    for count in range(cursor.left):
        token = cursor.ahead(count)
        if token.text == ">>>" or token.kind is Kind.END:
            break
        if token.text == ">>" and cursor.ahead(count + 1).text == "(":
            suspect = token
    if suspect is not None and token.text != ">>>":
        raise error_at(suspect.position, "expected ',' or '>>>' before '>>'")


def _skip_stream(cursor: Cursor) -> None:
    """The stream, which has no effect: launches run in order."""
    start, depth = cursor.index, 0
    while cursor.token.kind is not Kind.END and (depth or not cursor.at(">>>", ",")):
        depth += cursor.at("(") - cursor.at(")")
        cursor.take()
    if not cursor.taken_since(start):
        raise cursor.expected("a stream")


def _take_dim3(cursor: Cursor) -> tuple[Expression, ...]:
    """One to three sizes, as `dim3(x, y)` or `{x, y}`; or an expression for all of them: a variable
    may be a dim3."""
    position, named = cursor.token.position, cursor.token.text == "dim3"
    opening = cursor.ahead(1 if named else 0).text
    if opening != "{" and not (named and opening == "("):
        return (take_expression(cursor),)
    if named:
        cursor.take()
    cursor.take()
    sizes = cursor.take_list(lambda: take_expression(cursor), ")" if opening == "(" else "}")
    if not 1 <= len(sizes) <= 3:
        raise error_at(position, f"dim3 takes 1 to 3 arguments, got {len(sizes)}")
    return sizes


# --- scratch buffers ------------------------------------------------------------------------------


def parse_scratch(text: str, *, line: int | None = None, column: int = 1) -> ScratchBuffer:
    """Parse the text behind `// scratch:`, e.g. `float BT[N * K]`. LanguageError as for
    `parse_launch`."""
    cursor = Cursor(text, line=line or 1, column=column)
    start = cursor.token
    dtype = _take_dtype(cursor)
    name = _take_name(cursor, "the buffer's name")
    shape = [_take_extent(cursor)]
    while cursor.at("["):
        shape.append(_take_extent(cursor))
    cursor.expect_end()
    return ScratchBuffer(line, start.column, text.strip(), name, dtype, tuple(shape))


def _take_dtype(cursor: Cursor) -> str:
    first = cursor.token
    words = [_take_name(cursor, "a type")]
    while cursor.token.text in TYPE_WORDS:
        words.append(cursor.take().text)
    if cursor.at("*", "&"):
        message = "a scratch buffer is declared by its elements and their number: float name[N * K]"
        raise error_at(cursor.token.position, message)
    dtype = NUMPY_NAMES.get(normal_integer_type(words))
    if dtype is None:
        written = " ".join(words)
        raise error_at(
            first.position,
            f"{quote(written)} is no type of a scratch buffer{did_you_mean(written, NUMPY_NAMES)}",
        )
    return dtype


def _take_extent(cursor: Cursor) -> Expression:
    cursor.expect("[")
    extent = take_expression(cursor)
    cursor.expect("]")
    return extent
