"""Mistakes in the text of a launch line or an expression."""

from __future__ import annotations

from enum import Enum, auto


class Syntax(Enum):
    """Kinds of mistakes; `messages.syntax` has a row for each."""

    ADDRESS_OPERATOR = auto()
    BUFFER_AS_INTEGER = auto()
    DIM3_ARGUMENTS = auto()
    ELEMENT = auto()
    FUNCTION_ARGUMENTS = auto()
    GROUP_AS_INTEGER = auto()
    MISSING_SIZE = auto()
    NESTED_TOO_DEEP = auto()
    NOT_A_CHARACTER = auto()
    NOT_A_CONDITION = auto()
    NOT_A_NUMBER = auto()
    NOT_A_POINTER = auto()
    NOT_AN_ADDRESS = auto()
    NOT_AN_INTEGER = auto()
    NOT_CONVERTIBLE = auto()
    NOT_FINITE = auto()
    NUMBERS_ONLY = auto()
    ROUNDED_UP = auto()
    SHIFT_COUNT = auto()
    TEXT_TOO_LONG = auto()
    TOO_DEEP = auto()
    UNCALLABLE = auto()
    UNEXPECTED = auto()
    UNKNOWN_NAME = auto()
    UNKNOWN_TYPE = auto()
    VOID_POINTER = auto()
    WITHOUT_FLOATS = auto()
    WRONG_OPERAND = auto()
