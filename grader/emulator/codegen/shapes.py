"""What of an instruction decides its native code, and what is data of its own.

`IADD3 R4,R2,0x10,RZ` and `IADD3 R9,R7,0x8,RZ` have one *shape*: the same opcode and modifiers,
operands of the same kinds. Which registers, which literal and which offset it is are *values*. An
operand of a shape has names of its places in place of numbers: see `register_name` and
`offset_name`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import (
    TRUE_PREDICATE,
    ZERO_REGISTER,
    Address,
    Constant,
    Immediate,
    Operand,
    Predicate,
    Register,
    Special,
)
from grader.emulator.layouts.execution import WARP, WARP_LANES

Hole = tuple[str, int]
"""A word of data that the native code of a shape reads: its kind, and which one of the kind."""
Values = dict[Hole, int]

GUARD, NAMED = 14, 15
"""Positions of the guard, and of the lanes that an instruction works on, behind all operands."""
_MARKS = {GUARD: "@", NAMED: "of "}
FIRST_REGISTER_NAME, REGISTER_SPACING = 1024, 16
FIRST_PREDICATE_NAME = 64
OFFSET_SPACING = 1 << 20
"""Names are numbers beyond all that an instruction can hold; sums with what is smaller than a
spacing keep them apart."""
CONSTANT_WORDS = 8
"""An instruction reads at most this many words behind the offset of a constant operand."""
BANK_OF_LAUNCH, FIXED_BANK = 0, 1
"""Of a shape: constants that a launch fills, and those whose contents the code fixes."""


class LiteralRead(Exception):  # noqa: N818 - control flow, not an error
    """The code depends on a literal's value: that is part of the shape."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class AnyLiteral(Immediate):
    """A literal of a shape, whose value is data. Who looks at it raises LiteralRead."""

    position: int

    def __init__(self, position: int) -> None:
        object.__setattr__(self, "position", position)

    @property
    def bits(self) -> int | None:
        raise LiteralRead(self.position)

    @property
    def real(self) -> float | None:
        raise LiteralRead(self.position)

    def __repr__(self) -> str:
        return "literal"


def shape_of(i: Decoded, spelled: frozenset[int] = frozenset()) -> Decoded:
    """The shape of an instruction, as one whose operands are names; the literals at the positions
    `spelled` are part of it."""
    found = {
        position: operand if position in spelled else _generalise(operand, position)[0]
        for position, operand in _all_operands(i)
    }
    guard, named = found.pop(GUARD, None), found.pop(NAMED, None)
    assert guard is None or isinstance(guard, Predicate)
    operands = tuple(found.values())
    return replace(i, index=0, offset=0, line=None, operands=operands, guard=guard, named=named)


def shape_key(i: Decoded, spelled: frozenset[int] = frozenset()) -> str:
    """The text that tells the shape of an instruction from others."""
    parts = [i.opcode]
    for position, operand in _all_operands(i):
        text = repr(operand) if position in spelled else _generalise(operand, position)[1]
        parts.append(_MARKS.get(position, "") + text)
    return " ".join(parts)


def register_and_predicate_values(i: Decoded) -> Values:
    """Where in the warp's record the registers and predicates lie that the operands name."""
    values: Values = {}
    for position, operand in _all_operands(i):
        values.update(_generalise(operand, position)[2])
    return values


def _all_operands(i: Decoded) -> list[tuple[int, Operand]]:
    """The operands of an instruction with their positions, its guard and the lanes that it works on
    last."""
    behind = ((GUARD, i.guard), (NAMED, i.named))
    return [*enumerate(i.operands), *((at, each) for at, each in behind if each is not None)]


def operand_at(i: Decoded, position: int) -> Operand | None:
    """The operand that a position means."""
    return i.named if position == NAMED else i.operands[position]


def register_name(index: int) -> tuple[int, int] | None:
    """Which register hole a register of a shape names, and how far behind it lies; None for a
    register with a fixed number."""
    if index < FIRST_REGISTER_NAME:
        return None
    return divmod(index - FIRST_REGISTER_NAME, REGISTER_SPACING)


def predicate_name(index: int) -> int | None:
    """Which predicate hole a predicate of a shape names; None for one with a fixed number."""
    return index - FIRST_PREDICATE_NAME if index >= FIRST_PREDICATE_NAME else None


def offset_name(offset: int) -> tuple[int, int]:
    """The position of the operand whose offset an offset of a shape names, and how far behind it
    lies."""
    position, behind = divmod(offset, OFFSET_SPACING)
    return position - 1, behind


def lane_register_place(index: int) -> int:
    """Where `R<index>` lies in a warp's record."""
    return WARP.itemsize + 4 * WARP_LANES * index


def field_place(field: str, index: int) -> int:
    """Where a word of an array of a warp's record lies in it."""
    assert WARP.fields is not None
    return WARP.fields[field][1] + 4 * index


_General = tuple[Operand, str, tuple[tuple[Hole, int], ...]]
"""An operand of a shape, what tells it from others, and where its registers lie."""


@lru_cache(maxsize=1 << 16)
def _generalise(operand: Operand, position: int) -> _General:
    match operand:
        case Register():
            register, values = _register(operand, 2 * position)
            return register, _text(register), values
        case Predicate():
            return _predicate(operand, position)
        case Constant():
            return _constant(operand, position)
        case Immediate():
            return AnyLiteral(position), "literal", ()
        case Address():
            return _address(operand, position)
        case Special():
            return operand, operand.name, ()


def _register(register: Register, hole: int) -> tuple[Register, tuple[tuple[Hole, int], ...]]:
    if register.index == ZERO_REGISTER:
        return register, ()
    place = (
        field_place("uniform", register.index)
        if register.uniform
        else lane_register_place(register.index)
    )
    named = replace(register, index=FIRST_REGISTER_NAME + hole * REGISTER_SPACING)
    return named, ((("register", hole), place),)


def _predicate(predicate: Predicate, position: int) -> _General:
    text = f"{'!' * predicate.negated}{'U' * predicate.uniform}P"
    if predicate.index == TRUE_PREDICATE:
        return predicate, f"{text}T", ()
    field = "uniform_predicates" if predicate.uniform else "predicates"
    place = field_place(field, predicate.index)
    named = replace(predicate, index=FIRST_PREDICATE_NAME + position)
    return named, text, ((("predicate", position), place),)


def _constant(constant: Constant, position: int) -> _General:
    signs = f"{constant.negated:d}{constant.inverted:d}{constant.absolute:d}{constant.suffix}"
    offset = OFFSET_SPACING * (position + 1)
    if constant.register is not None:
        register, values = _register(constant.register, 2 * position)
        named = replace(constant, offset=offset, register=register)
        return named, f"c{constant.bank}[{_text(register)}]{signs}", values
    bank = BANK_OF_LAUNCH if constant.bank == BANK_OF_LAUNCH else FIXED_BANK
    byte = constant.offset % 4
    named = replace(constant, bank=bank, offset=offset + byte)
    return named, f"c{bank}+{byte}{signs}", ()


def _address(address: Address, position: int) -> _General:
    register = uniform = None
    values: tuple[tuple[Hole, int], ...] = ()
    if address.register is not None:
        register, values = _register(address.register, 2 * position)
    if address.uniform is not None:
        uniform, more = _register(address.uniform, 2 * position + 1)
        values += more
    named = Address(register, uniform, OFFSET_SPACING * (position + 1), address.wide)
    text = f"[{_text(register)}+{_text(uniform)}]{'w' * address.wide}"
    return named, text, values


def _text(register: Register | None) -> str:
    if register is None:
        return ""
    signs = f"{'-' * register.negated}{'~' * register.inverted}{'|' * register.absolute}"
    zero = "Z" * (register.index == ZERO_REGISTER)
    return f"{signs}{'U' * register.uniform}R{zero}.{register.suffix}"
