"""Shapes of instructions, which determine their native code, and values, which are data of a cell.

`IADD3 R4,R2,0x10,RZ` and `IADD3 R9,R7,0x8,RZ` have the same *shape*: the same opcode and modifiers,
and operands of the same kinds. The numbers of registers, the literals and the offsets are *values*.
The operands of a shape contain names of these values instead of numbers: see `register_name` and
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
"""A data word that the native code of a shape reads: its kind, and its number within the kind."""
Values = dict[Hole, int]

GUARD, NAMED = 14, 15
"""Positions of the guard, and of the lane mask of a collective operation, after all operands."""
_MARKS = {GUARD: "@", NAMED: "of "}
FIRST_REGISTER_NAME, REGISTER_SPACING = 1024, 16
FIRST_PREDICATE_NAME = 64
OFFSET_SPACING = 1 << 20
"""Names are numbers above all numbers of real instructions. The spacings keep sums of a name and a
small number distinct."""
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
    """The shape of an instruction: an instruction whose operands are names. The literals at the
    positions `spelled` stay literals."""
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
    behind = ((GUARD, i.guard), (NAMED, i.named))
    return [*enumerate(i.operands), *((at, each) for at, each in behind if each is not None)]


def operand_at(i: Decoded, position: int) -> Operand | None:
    """The operand at a position, or the lane mask at NAMED."""
    return i.named if position == NAMED else i.operands[position]


def register_name(index: int) -> tuple[int, int] | None:
    """The register hole that a shape's register names, and its distance in registers; None for a
    register with a fixed number."""
    if index < FIRST_REGISTER_NAME:
        return None
    return divmod(index - FIRST_REGISTER_NAME, REGISTER_SPACING)


def predicate_name(index: int) -> int | None:
    """The predicate hole that a shape's predicate names; None for a fixed number."""
    return index - FIRST_PREDICATE_NAME if index >= FIRST_PREDICATE_NAME else None


def offset_name(offset: int) -> tuple[int, int]:
    """The position of the operand that a shape's offset names, and the distance in bytes from that
    operand's offset."""
    position, behind = divmod(offset, OFFSET_SPACING)
    return position - 1, behind


def lane_register_place(index: int) -> int:
    """Byte offset of `R<index>` in a warp's record."""
    return WARP.itemsize + 4 * WARP_LANES * index


def field_place(field: str, index: int) -> int:
    """Byte offset of a word of an array field in a warp's record."""
    assert WARP.fields is not None
    return WARP.fields[field][1] + 4 * index


_General = tuple[Operand, str, tuple[tuple[Hole, int], ...]]
"""An operand of a shape, its text in the shape's key, and the places of its registers."""


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
