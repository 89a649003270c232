"""Expressions of C++ text: the parser, with line and column for every error; `evaluation` computes
their values.

There are two dialects. The language of launch lines, macros and a spec's formulas has C's numbers,
names, C's operators, casts, and the functions `ceil_div`, `min` and `max`. The dialect for
declarations in code has no functions. No module calls Python's `eval`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from grader.cpp.cursor import Cursor, LanguageError, problem_at, quote
from grader.cpp.evaluation import (
    FUNCTIONS,
    NULLS,
    QUALIFIERS,
    evaluate,
    integer_of,
    normal_type,
)
from grader.cpp.lexer import Kind, Position, Token
from grader.cpp.literals import read_literal
from grader.cpp.tree import (
    Braces,
    Call,
    Cast,
    Chain,
    Choice,
    Index,
    Name,
    Node,
    Number,
    Step,
    Unary,
    Value,
    names_in,
)
from grader.cpp.types import TYPE_WORDS, size_of
from grader.records import Syntax

MAX_DEPTH = 64
"""Most nested parentheses, calls and signs; keeps parser and evaluation far from Python's recursion
limit."""
_LONGEST_TYPE = 16
"""Of a cast, in tokens."""

_NAMED_CASTS = ("static_cast", "reinterpret_cast", "const_cast")


@dataclass(frozen=True)
class Expression:
    """A parsed expression: its text, its start, its tree, and the first place of each name that it
    needs."""

    text: str
    position: Position
    tree: Node
    places: Mapping[str, Position] = field(hash=False)

    def evaluate(self, values: Mapping[str, Value]) -> int:
        """The integer value, given the values of the names. LanguageError for an unknown name, a
        division by zero, a result beyond 64 bits, or a result that is no integer."""
        return integer_of(self.value(values), self.position, self.text)

    def value(self, values: Mapping[str, Value]) -> Value:
        """The value of any kind. LanguageError as of `evaluate`."""
        with _bounded(self.position):
            return evaluate(self.tree, values)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names whose values it needs."""
        return frozenset(self.places)

    @property
    def bare_name(self) -> str | None:
        """The name, if the whole expression is a single name."""
        return self.tree.name if isinstance(self.tree, Name) else None

    def place_of(self, name: str) -> Position:
        """The first place of the name; the start of the expression if it does not occur."""
        return self.places.get(name, self.position)


@contextmanager
def _bounded(position: Position) -> Iterator[None]:
    """LanguageError for a tree that is too deep to be walked: operators of all levels in each of
    many parentheses."""
    try:
        yield
    except RecursionError:
        raise problem_at(position, Syntax.TOO_DEEP) from None


# --- parsing --------------------------------------------------------------------------------------


class Dialect(Enum):
    """The language of launch lines, macros and a spec's formulas, or that of constants and extents
    in code, which has no functions."""

    PLAN = "plan"
    CODE = "code"


PLAN, CODE = Dialect

_LEVELS: Mapping[str, int] = {
    operator: level
    for level, operators in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
    )
    for operator in operators.split()
}
"""The binary operators, by how tightly they bind."""


def parse_expression(
    text: str, *, line: int = 1, column: int = 1, dialect: Dialect = PLAN
) -> Expression:
    """Parse a text that consists of an expression; LanguageError otherwise."""
    cursor = Cursor(text, line=line, column=column)
    cursor.calls = dialect is PLAN
    expression = take_expression(cursor)
    cursor.expect_end("an operator or the end")
    return expression


def take_expression(cursor: Cursor) -> Expression:
    """Parse the expression that starts at the cursor and leave the cursor after it."""
    start = cursor.index
    return _expression_since(cursor, start, _take_choice(cursor, 0))


def take_constructed(cursor: Cursor, type_: str) -> Expression:
    """Parse the initialiser of a variable of this type in parentheses or braces: `(n, 2)`."""
    start, position = cursor.index, cursor.token.position
    if cursor.at("{"):
        tree = _take_braces(cursor, 0, type_)
    else:
        tree = _take_items(cursor, 0, type_, position)
    plain = type_ != "dim3" and len(tree.items) == 1
    return _expression_since(cursor, start, tree.items[0] if plain else tree)


def _expression_since(cursor: Cursor, start: int, tree: Node) -> Expression:
    position = cursor.taken_since(start)[0].position
    places: dict[str, Position] = {}
    with _bounded(position):
        for name in names_in(tree):
            if name.name not in NULLS:
                places.setdefault(name.name, name.position)
    return Expression(cursor.text_since(start), position, tree, places)


def _take_choice(cursor: Cursor, depth: int) -> Node:
    condition = _take_chain(cursor, depth)
    if not cursor.at("?"):
        return condition
    mark = cursor.take()
    _check_depth(cursor, depth)
    first = _take_choice(cursor, depth + 1)
    cursor.expect(":")
    return Choice(condition, first, _take_choice(cursor, depth + 1), mark.position)


@dataclass
class _Open:
    """An incomplete chain of one precedence level: its first operand, its steps, and the operator
    that waits for its right operand."""

    level: int
    first: Node
    waiting: Token
    steps: list[Step] = field(default_factory=list)

    def add(self, operand: Node) -> None:
        self.steps.append(Step(self.waiting.text, operand, self.waiting.position))


def _take_chain(cursor: Cursor, depth: int) -> Node:
    """Operands joined by binary operators."""
    opened: list[_Open] = []
    node = _take_factor(cursor, depth)
    while cursor.token.kind is Kind.SYMBOL and cursor.token.text in _LEVELS:
        level = _LEVELS[cursor.token.text]
        node = _close(opened, node, level)
        operator = cursor.take()
        if opened and opened[-1].level == level:
            opened[-1].add(node)
            opened[-1].waiting = operator
        else:
            opened.append(_Open(level, node, operator))
        node = _take_factor(cursor, depth)
    return _close(opened, node, -1)


def _close(opened: list[_Open], node: Node, level: int) -> Node:
    """Complete the chains of tighter levels than this, which the node ends."""
    while opened and opened[-1].level > level:
        chain = opened.pop()
        chain.add(node)
        node = Chain(chain.first, tuple(chain.steps))
    return node


def _check_depth(cursor: Cursor, depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise problem_at(cursor.token.position, Syntax.NESTED_TOO_DEEP, most=MAX_DEPTH)


def _take_factor(cursor: Cursor, depth: int) -> Node:
    _check_depth(cursor, depth)
    if cursor.at("--", "++"):
        cursor.split()
    if cursor.at("+", "-", "!", "~", "&"):
        sign = cursor.take()
        return Unary(sign.text, _take_factor(cursor, depth + 1), sign.position)
    if (cast := accept_cast(cursor)) is not None:
        type_, position = cast
        return Cast(type_, _take_factor(cursor, depth + 1), position)
    node = _take_operand(cursor, depth)
    while cursor.at("["):
        position = cursor.take().position
        node = Index(node, _take_choice(cursor, depth + 1), position)
        cursor.expect("]")
    return node


def _take_operand(cursor: Cursor, depth: int) -> Node:
    if cursor.accept("("):
        inner = _take_choice(cursor, depth + 1)
        cursor.expect(")")
        return inner
    token = cursor.token
    if token.kind in (Kind.NUMBER, Kind.CHARACTER):
        cursor.take()
        return read_literal(token)
    if cursor.at("{"):
        return _take_braces(cursor, depth, None)
    if token.kind is Kind.NAME:
        return _take_named(cursor, depth)
    raise cursor.expected("a number or a name")


def _take_named(cursor: Cursor, depth: int) -> Node:
    """A name and the syntax behind it: a call, a cast, braces."""
    if cursor.at_type_word and cursor.ahead(1).text == "(":
        type_ = cursor.take()
        return Cast(type_.text, _take_operand(cursor, depth + 1), type_.position)
    token = cursor.token
    if token.text in _NAMED_CASTS:
        return _take_named_cast(cursor, depth)
    if token.text == "sizeof":
        return _take_sizeof(cursor)
    name = take_qualified_name(cursor)
    if cursor.at("{"):
        return _take_braces(cursor, depth, name)
    if not cursor.at("("):
        return Name(name, token.position)
    function = name.removeprefix("std::")
    if name == "dim3" or name.startswith("make_"):
        return _take_items(cursor, depth, name.removeprefix("make_"), token.position)
    if not cursor.calls or function not in FUNCTIONS:
        raise _uncallable(name, token.position)
    cursor.expect("(")
    arguments = cursor.take_list(lambda: _take_choice(cursor, depth + 1))
    if len(arguments) != 2:
        count = len(arguments)
        raise problem_at(token.position, Syntax.FUNCTION_ARGUMENTS, function=function, count=count)
    return Call(function, *arguments, token.position)


def _take_items(cursor: Cursor, depth: int, type_: str, position: Position) -> Braces:
    """The items in parentheses of a `dim3` or a vector."""
    cursor.expect("(")
    items = cursor.take_list(lambda: _take_choice(cursor, depth + 1))
    if type_ == "dim3" and not 1 <= len(items) <= 3:
        raise problem_at(position, Syntax.DIM3_ARGUMENTS, count=len(items))
    return Braces(type_, items)


def _uncallable(name: str, position: Position) -> LanguageError:
    rounds_up = name.removeprefix("std::") in ("ceil", "cdiv")
    problem = Syntax.ROUNDED_UP if rounds_up else Syntax.UNCALLABLE
    return problem_at(position, problem, name=quote(name), functions=", ".join(FUNCTIONS))


def take_qualified_name(cursor: Cursor) -> str:
    """A name with the namespaces and classes before it: `ns::Tile<8>::size`. LanguageError if
    there is none."""
    parts = [""] if cursor.accept("::") else []
    while True:
        if cursor.token.kind is not Kind.NAME:
            raise cursor.expected("a number or a name")
        parts.append(cursor.take().text)
        if cursor.at("<") and (count := _template_length(cursor)):
            parts[-1] += "".join(cursor.take().text for _ in range(count))
        if not cursor.accept("::"):
            return "::".join(parts)


def _template_length(cursor: Cursor) -> int:
    """Tokens of the template arguments at the cursor, where `::` or `{` follows them; else 0."""
    depth = 0
    for count in range(4 * _LONGEST_TYPE):
        token = cursor.ahead(count)
        depth += (token.text == "<") - token.text.count(">") * (token.text in (">", ">>"))
        if depth <= 0:
            return count + 1 if cursor.ahead(count + 1).text in ("::", "{") else 0
        if token.kind is Kind.END or token.text in (";", "{", "}", "<<<", ">>>"):
            return 0
    return 0


def _take_braces(cursor: Cursor, depth: int, type_: str | None) -> Braces:
    _check_depth(cursor, depth)
    cursor.expect("{")
    items: list[Node] = []
    while not cursor.at("}"):
        items.append(_take_choice(cursor, depth + 1))
        if not cursor.accept(","):
            break
    if not cursor.accept("}"):
        raise cursor.expected("',' or '}'")
    return Braces(type_, tuple(items))


# --- types ----------------------------------------------------------------------------------------


def accept_cast(cursor: Cursor) -> tuple[str, Position] | None:
    """A type in parentheses: words of types only, or a name with stars behind it."""
    if not cursor.at("("):
        return None
    tokens: list[Token] = []
    for count in range(1, _LONGEST_TYPE):
        token = cursor.ahead(count)
        if token.text == ")":
            break
        if token.kind is not Kind.NAME and token.text not in ("*", "::"):
            return None
        tokens.append(token)
    else:
        return None
    names = [token.text for token in tokens if token.kind is Kind.NAME]
    pointer = bool(names) and tokens[-1].text == "*"
    words = (TYPE_WORDS | QUALIFIERS) - cursor.variables
    if not pointer and not (names and all(name in words for name in names)):
        return None
    position = cursor.take().position
    for _ in range(len(tokens) + 1):
        cursor.take()
    return " ".join(token.text for token in tokens), position


def _take_named_cast(cursor: Cursor, depth: int) -> Node:
    position = cursor.take().position
    cursor.expect("<")
    start = cursor.index
    while cursor.token.kind is Kind.NAME or cursor.at("*", "::"):
        cursor.take()
    type_ = " ".join(token.text for token in cursor.taken_since(start))
    cursor.expect(">")
    if not cursor.at("("):
        raise cursor.expected("'('")
    return Cast(type_, _take_operand(cursor, depth + 1), position)


def _take_sizeof(cursor: Cursor) -> Node:
    """The size of a type: a number where it is known here, else a name that the compiler gives a
    value."""
    position = cursor.take().position
    cursor.expect("(")
    start = cursor.index
    depth = 0
    while cursor.token.kind is not Kind.END and (depth or not cursor.at(")")):
        depth += cursor.at("(") - cursor.at(")")
        cursor.take()
    text = cursor.text_since(start)
    if not text:
        raise cursor.expected("a type")
    cursor.expect(")")
    size = 8 if text.rstrip().endswith("*") else size_of(normal_type(text))
    return Name(f"sizeof({text})", position) if size is None else Number(size)
