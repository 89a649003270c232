"""The values of expressions, with C's meaning, and every mistake with its place.

Integers have 64 bits, as if the host's variables were `long long`; a float is rounded after every
operation.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from grader.cpp.cursor import LanguageError, find_near, problem_at, quote
from grader.cpp.lexer import Position
from grader.cpp.tree import (
    Address,
    Braces,
    Call,
    Cast,
    Chain,
    Choice,
    Group,
    Index,
    Name,
    Node,
    Number,
    Real,
    RealNumber,
    Step,
    Unary,
    Value,
)
from grader.cpp.types import NUMPY_NAMES, normal_integer_type, size_of
from grader.records import Obstacle, Syntax

SMALLEST_VALUE = -(1 << 63)
LARGEST_VALUE = (1 << 64) - 1

NULL = "nullptr"
"""The type of the group that is a null pointer."""
NULLS = frozenset({NULL, "NULL"})
QUALIFIERS = frozenset({"const", "constexpr", "volatile", "__restrict__", "restrict"})
_INTEGER = re.compile(r"(?P<unsigned>u?)int(?P<bits>\d+)")
_REAL_BYTES = {"float32": 4, "float64": 8}


def evaluate(node: Node, values: Mapping[str, Value]) -> Value:
    """The value of a tree, given the values of its names. LanguageError for an unknown name, a
    division by zero, an integer beyond 64 bits, or operands that an operator does not take."""
    match node:
        case Number(value):
            return value
        case RealNumber(real):
            return real
        case Name(name, position):
            return _value_of(name, values, position)
        case Unary("&", operand, position):
            return _address_of(operand, values, position)
        case Unary(sign, operand, position):
            return _apply_unary(sign, evaluate(operand, values), position)
        case Chain(first, steps):
            return _evaluate_chain(first, steps, values)
        case Choice(condition, first, second, position):
            chosen = is_true(evaluate(condition, values), position)
            return evaluate(first if chosen else second, values)
        case Call(function, left, right, position):
            operands = evaluate(left, values), evaluate(right, values)
            return _call(function, *operands, position)
        case Cast(type_, operand, position):
            return cast_to(type_, evaluate(operand, values), position)
        case Index(_, _, position):
            raise problem_at(position, Syntax.ELEMENT)
        case Braces(type_, items):
            return Group(type_, tuple(evaluate(item, values) for item in items))
    assert_never(node)


def is_true(value: Value, position: Position) -> bool:
    """Whether a condition holds."""
    match value:
        case int():
            return value != 0
        case Real(number):
            return number != 0.0
    raise problem_at(position, Syntax.NOT_A_CONDITION, kind=describe(value))


def integer_of(value: Value, position: Position, text: str) -> int:
    """The value of the expression `text` where an integer is wanted."""
    if isinstance(value, int):
        return value
    if isinstance(value, Address):
        raise problem_at(position, Syntax.BUFFER_AS_INTEGER, name=quote(value.buffer))
    problem = Syntax.NOT_AN_INTEGER if isinstance(value, Real) else Syntax.GROUP_AS_INTEGER
    raise problem_at(position, problem, text=quote(text), kind=describe(value))


def describe(value: Value) -> str:
    """The kind of a value, with an article."""
    match value:
        case int():
            return "an integer"
        case Real(_, size_bytes):
            return "a float" if size_bytes == 4 else "a double"
        case Address(buffer):
            return f"the buffer {quote(buffer)}"
        case Group("dim3"):
            return "a dim3"
        case Group("nullptr"):
            return "a null pointer"
        case Group():
            return "a structure"
    assert_never(value)


def round_real(value: float, size_bytes: int) -> Real:
    """A float or a double of the value; infinite where it is beyond the type."""
    if size_bytes == 8:
        return Real(value, 8)
    try:
        return Real(struct.unpack("<f", struct.pack("<f", value))[0], 4)
    except OverflowError:
        return Real(math.copysign(math.inf, value), 4)


# --- types ----------------------------------------------------------------------------------------


def normal_type(text: str) -> str:
    """A type's name without qualifiers, its words in their usual order, a pointer's with a star at
    the end: `const unsigned int *` gives `unsigned int*`."""
    words = [word for word in re.findall(r"[\w:]+", text) if word not in QUALIFIERS]
    return normal_integer_type(words) + "*" * text.count("*")


def cast_to(type_: str, value: Value, position: Position) -> Value:
    """The value converted to another type by C's casts: integers wrap, fractions are cut off."""
    name = normal_type(type_)
    if name.endswith("*"):
        return _cast_pointer(name.removesuffix("*"), value, position)
    if not isinstance(value, int | Real):
        raise problem_at(position, Syntax.NOT_CONVERTIBLE, kind=describe(value), type=quote(type_))
    dtype = NUMPY_NAMES.get(name)
    if dtype in _REAL_BYTES:
        number = value.value if isinstance(value, Real) else value
        return round_real(float(number), _REAL_BYTES[dtype])
    if dtype == "bool":
        return int(is_true(value, position))
    integer = None if dtype is None else _INTEGER.fullmatch(dtype)
    if integer is None:
        near = find_near(name, sorted(NUMPY_NAMES))
        raise problem_at(position, Syntax.UNKNOWN_TYPE, type=quote(type_), near=near)
    return wrap(_truncated(value, position), int(integer["bits"]), signed=not integer["unsigned"])


def wrap(value: int, bits: int, *, signed: bool) -> int:
    """An integer wrapped to a type of so many bits."""
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _truncated(value: int | Real, position: Position) -> int:
    if isinstance(value, int):
        return value
    if not math.isfinite(value.value):
        raise problem_at(position, Syntax.NOT_FINITE, value=str(value.value))
    return _checked_integer(int(value.value), position)


def _cast_pointer(element: str, value: Value, position: Position) -> Address:
    if not isinstance(value, Address):
        raise problem_at(position, Syntax.NOT_A_POINTER, kind=describe(value))
    size = 1 if element == "void" else size_of(element)
    if size is None:
        raise problem_at(position, Syntax.MISSING_SIZE, type=quote(element))
    return Address(value.buffer, element, size, value.offset_bytes)


# --- operators ------------------------------------------------------------------------------------


def _divide(a: int, b: int) -> int:
    """C's `/`: truncates towards zero (C11 6.5.5)."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift_count(bits: int) -> int:
    """C defines shifts by less than the operand's width only (C11 6.5.7)."""
    if not 0 <= bits < 64:
        raise OverflowError
    return bits


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "<<": lambda a, b: a << _shift_count(b),
    ">>": lambda a, b: a >> _shift_count(b),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
"""Of integers; comparisons are apart."""
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_OF_REALS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "min": min,
    "max": max,
}
FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "ceil_div": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
}


def apply_operator(sign: str, left: Value, right: Value, position: Position) -> Value:
    """`left sign right`."""
    if isinstance(left, Address) or isinstance(right, Address):
        return _apply_to_addresses(sign, left, right, position)
    if isinstance(left, Group) or isinstance(right, Group):
        group = left if isinstance(left, Group) else right
        raise _wrong_operand(position, sign, group)
    if sign in _COMPARISONS:
        return int(_COMPARISONS[sign](_number(left), _number(right)))
    if isinstance(left, Real) or isinstance(right, Real):
        return _apply_to_reals(sign, left, right, position)
    return _apply_to_integers(OPERATORS[sign], left, right, position)


def _evaluate_chain(first: Node, steps: Sequence[Step], values: Mapping[str, Value]) -> Value:
    result = evaluate(first, values)
    for step in steps:
        if step.operator in ("&&", "||"):
            known, position = is_true(result, step.position), step.position
            if known == (step.operator == "&&"):
                known = is_true(evaluate(step.operand, values), position)
            result = int(known)
        else:
            right = evaluate(step.operand, values)
            result = apply_operator(step.operator, result, right, step.position)
    return result


def _apply_unary(sign: str, value: Value, position: Position) -> Value:
    if sign == "!":
        return int(not is_true(value, position))
    if isinstance(value, Real) and sign in "+-":
        return Real(-value.value if sign == "-" else value.value, value.size_bytes)
    if not isinstance(value, int):
        raise _wrong_operand(position, sign, value)
    applied = {"+": value, "-": -value, "~": ~value}[sign]
    return _checked_integer(applied, position)


def _call(function: str, left: Value, right: Value, position: Position) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        return _apply_to_integers(FUNCTIONS[function], left, right, position)
    if isinstance(left, int | Real) and isinstance(right, int | Real):
        return _apply_to_reals(function, left, right, position)
    raise problem_at(position, Syntax.NUMBERS_ONLY, function=function)


def _apply_to_integers(
    function: Callable[[int, int], int], left: int, right: int, position: Position
) -> int:
    try:
        return _checked_integer(function(left, right), position)
    except ZeroDivisionError:
        raise problem_at(position, Obstacle.DIVISION_BY_ZERO) from None
    except OverflowError:
        raise problem_at(position, Syntax.SHIFT_COUNT) from None


def _apply_to_reals(sign: str, left: int | Real, right: int | Real, position: Position) -> Real:
    function = _OF_REALS.get(sign)
    if function is None:
        raise problem_at(position, Syntax.WITHOUT_FLOATS, sign=quote(sign))
    size = max(each.size_bytes for each in (left, right) if isinstance(each, Real))
    try:
        return round_real(function(float(_number(left)), float(_number(right))), size)
    except ZeroDivisionError:
        dividend = float(_number(left))
        quotient = math.nan if dividend == 0 or math.isnan(dividend) else math.inf
        return Real(math.copysign(quotient, dividend), size)


def _apply_to_addresses(sign: str, left: Value, right: Value, position: Position) -> Value:
    """An offset to an address, or a comparison or difference of two addresses in the same
    buffer."""
    match sign, left, right:
        case "+", Address(), int():
            return _move(left, right, position)
        case "+", int(), Address():
            return _move(right, left, position)
        case "-", Address(), int():
            return _move(left, -right, position)
        case _, Address(), Address() if left.buffer == right.buffer:
            if sign == "-" and left.element == right.element:
                return _divide(left.offset_bytes - right.offset_bytes, left.element_bytes)
            if sign in _COMPARISONS:
                return int(_COMPARISONS[sign](left.offset_bytes, right.offset_bytes))
        case (("==" | "!="), Address(), Address()):
            return int(sign == "!=")
    address = left if isinstance(left, Address) else right
    figures = {"sign": quote(sign), "kind": describe(address)}
    raise problem_at(position, Syntax.ADDRESS_OPERATOR, **figures)


def _move(address: Address, elements: int, position: Position) -> Address:
    if address.element == "void":
        raise problem_at(position, Syntax.VOID_POINTER)
    offset = _checked_integer(address.offset_bytes + elements * address.element_bytes, position)
    return Address(address.buffer, address.element, address.element_bytes, offset)


def _address_of(operand: Node, values: Mapping[str, Value], position: Position) -> Value:
    if isinstance(operand, Index):
        base, index = evaluate(operand.base, values), evaluate(operand.index, values)
        if isinstance(base, Address) and isinstance(index, int):
            return _move(base, index, operand.position)
        culprit = base if not isinstance(base, Address) else index
        raise _wrong_operand(operand.position, "[", culprit)
    raise problem_at(position, Syntax.NOT_AN_ADDRESS)


def _wrong_operand(position: Position, sign: str, operand: Value) -> LanguageError:
    return problem_at(position, Syntax.WRONG_OPERAND, sign=quote(sign), kind=describe(operand))


# --- numbers --------------------------------------------------------------------------------------


def _number(value: int | Real) -> float:
    return value.value if isinstance(value, Real) else value


def _value_of(name: str, values: Mapping[str, Value], position: Position) -> Value:
    if name in NULLS:
        return Group(NULL, ())
    if name not in values:
        near = find_near(name, values)
        raise problem_at(position, Syntax.UNKNOWN_NAME, name=quote(name), near=near)
    value = values[name]
    return _checked_integer(value, position) if isinstance(value, int) else value


def _checked_integer(value: int, position: Position) -> int:
    if not SMALLEST_VALUE <= value <= LARGEST_VALUE:
        raise problem_at(position, Obstacle.BEYOND_64_BITS)
    return value
