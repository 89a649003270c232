"""Shapes of instructions, which determine their native code, and values, which are data of a cell.

`IADD3 R4,R2,0x10,RZ` and `IADD3 R9,R7,0x8,RZ` have the same *shape*: the same opcode and modifiers,
and operands of the same kinds. The numbers of registers, the literals and the offsets are *values*.
The operands of a shape contain names of these values instead of numbers: see `register_name` and
`offset_name`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Address, Constant, Immediate, Operand, Predicate, Register
from grader.emulator.layouts.execution import WARP, WARP_LANES

Hole = tuple[str, int]
"""A data word that the native code of a shape reads: its kind, and its number within the kind."""
Values = dict[Hole, int]

GUARD, NAMED = 14, 15
"""Positions of the guard, and of the lane mask of a collective operation, after all operands."""
_MARKS = {GUARD: "@", NAMED: "of "}
FIRST_REGISTER_NAME, REGISTER_SPACING = 1024, 16
FIRST_PREDICATE_NAME = 64
OFFSET_SPACING = 1 << 20
"""Names are above all real numbers. The spacings keep sums with small numbers distinct."""
CONSTANT_WORDS = 8
"""An instruction reads at most this many words from the offset of a constant operand on."""
BANK_OF_LAUNCH, FIXED_BANK = 0, 1
"""Banks of a shape: constants that a launch sets, and constants with fixed contents."""


class LiteralRead(Exception):  # noqa: N818 - control flow, not an error
    """Signals that native code depends on a literal, which must then be part of the shape."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class AnyLiteral(Immediate):
    """A literal whose value is data. Access to the value raises LiteralRead."""

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
    """The shape of an instruction, whose operands are names, but for literals at `spelled`."""
    found = {
        position: operand if position in spelled else _generalise(operand, position)[0]
        for position, operand in _all_operands(i)
    }
    guard, named = found.pop(GUARD, None), found.pop(NAMED, None)
    assert guard is None or isinstance(guard, Predicate)
    operands = tuple(found.values())
    return replace(i, index=0, offset=0, line=None, operands=operands, guard=guard, named=named)


def shape_key(i: Decoded, spelled: frozenset[int] = frozenset()) -> str:
    """A text that is equal for instructions of equal shape, and unique otherwise."""
    parts = [i.opcode]
    for position, operand in _all_operands(i):
        text = repr(operand) if position in spelled else _generalise(operand, position)[1]
        parts.append(_MARKS.get(position, "") + text)
    return " ".join(parts)


def register_and_predicate_values(i: Decoded) -> Values:
    """Places, in the warp's record, of the registers and predicates that the operands name."""
    values: Values = {}
    for position, operand in _all_operands(i):
        values.update(_generalise(operand, position)[2])
    return values


def _all_operands(i: Decoded) -> list[tuple[int, Operand]]:
    """The operands of an instruction with their positions, then its guard and its lane mask."""
    found = list(enumerate(i.operands))
    if i.guard is not None:
        found.append((GUARD, i.guard))
    if i.named is not None:
        found.append((NAMED, i.named))
    return found


def operand_at(i: Decoded, position: int) -> Operand | None:
    """The operand at a position, or the lane mask at NAMED."""
    return i.named if position == NAMED else i.operands[position]


def register_name(index: int) -> tuple[int, int] | None:
    """The hole that a shape's register names, and its distance in registers; None if fixed."""
    if index < FIRST_REGISTER_NAME:
        return None
    return divmod(index - FIRST_REGISTER_NAME, REGISTER_SPACING)


def predicate_name(index: int) -> int | None:
    """The predicate hole that a shape's predicate names; None for a fixed number."""
    return index - FIRST_PREDICATE_NAME if index >= FIRST_PREDICATE_NAME else None


def offset_name(offset: int) -> tuple[int, int]:
    """The operand's position that a shape's offset names, and the distance in bytes from it."""
    position, behind = divmod(offset, OFFSET_SPACING)
    return position - 1, behind


def lane_register_place(index: int) -> int:
    """Byte offset of `R<index>` in a warp's record."""
    return WARP.itemsize + 4 * WARP_LANES * index


def field_place(field: str, index: int) -> int:
    """Byte offset of a word of an array field in a warp's record."""
    assert WARP.fields is not None
    return WARP.fields[field][1] + 4 * index


_Places = tuple[tuple[Hole, int], ...]
_Maybe = TypeVar("_Maybe", Register, Register | None)


@lru_cache(maxsize=1 << 16)
def _generalise(operand: Operand, position: int) -> tuple[Operand, str, _Places]:
    """An operand of a shape, its text in the shape's key, and the places of its registers."""
    general, places = _named(operand, position)
    return general, repr(general), places


def _named(operand: Operand, position: int) -> tuple[Operand, _Places]:
    offset = OFFSET_SPACING * (position + 1)
    match operand:
        case Register():
            return _register(operand, 2 * position)
        case Predicate(is_true=False):
            field = "uniform_predicates" if operand.uniform else "predicates"
            place = (("predicate", position), field_place(field, operand.index))
            return replace(operand, index=FIRST_PREDICATE_NAME + position), (place,)
        case Constant(register=None):
            bank = BANK_OF_LAUNCH if operand.bank == BANK_OF_LAUNCH else FIXED_BANK
            return replace(operand, bank=bank, offset=offset + operand.offset % 4), ()
        case Constant(register=Register() as index):
            register, places = _register(index, 2 * position)
            return replace(operand, offset=offset, register=register), places
        case Immediate():
            return AnyLiteral(position), ()
        case Address():
            base, places = _register(operand.register, 2 * position)
            uniform, more = _register(operand.uniform, 2 * position + 1)
            return Address(base, uniform, offset, operand.wide), places + more
        case _:
            return operand, ()


def _register(register: _Maybe, hole: int) -> tuple[_Maybe, _Places]:
    if register is None or register.is_zero:
        return register, ()
    if register.uniform:
        place = field_place("uniform", register.index)
    else:
        place = lane_register_place(register.index)
    named = replace(register, index=FIRST_REGISTER_NAME + hole * REGISTER_SPACING)
    return named, ((("register", hole), place),)
