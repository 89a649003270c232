"""Instruction text -> typed instructions: base opcode, modifiers, guard, operands."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from grader.emulator.isa.operands import (
    TRUE_PREDICATE,
    Address,
    Operand,
    Predicate,
    parse_operand,
    parse_operands,
)
from grader.emulator.isa.program import Instruction, Unsupported
from grader.sass import Access, accesses_of

ALL_PREDICATES = "PR"
"""An operand of P2R and R2P. `nvdisasm -json` prints it in the place of the guard."""

_ACCESS_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}


@dataclass(frozen=True)
class Decoded:
    """One typed instruction. `IMAD.WIDE.U32` has the base `IMAD` and the modifiers `("WIDE",
    "U32")`. A `guard` of None is always true. `named`: a register or literal with the mask of lanes
    that a collective operation names. `unknown`: the part of the text that is not understood; the
    instruction then has no operands."""

    index: int
    offset: int
    base: str
    modifiers: tuple[str, ...]
    guard: Predicate | None
    operands: tuple[Operand, ...]
    line: int | None
    named: Operand | None = None
    unknown: str | None = None

    @property
    def opcode(self) -> str:
        """The opcode as printed, with its modifiers."""
        return ".".join((self.base, *self.modifiers))

    @property
    def access_bytes(self) -> int:
        """Bytes that each lane moves; 4 if no modifier gives a size. For memory instructions."""
        return next((size for name, size in _ACCESS_BYTES.items() if self.has(name)), 4)

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Its possible accesses to global and shared memory."""
        return accesses_of(self.base)

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    def first_of(self, names: Container[str]) -> str | None:
        """The first modifier among these names."""
        return next((name for name in self.modifiers if name in names), None)


def decode(instructions: tuple[Instruction, ...]) -> tuple[Decoded, ...]:
    return tuple(_decode_one(index, instruction) for index, instruction in enumerate(instructions))


def _decode_one(index: int, instruction: Instruction) -> Decoded:
    base, *modifiers = instruction.opcode.split(".")
    guard: Predicate | None = None
    operands: tuple[Operand, ...] = ()
    unknown = None
    try:
        guard = _guard(None if instruction.guard == ALL_PREDICATES else instruction.guard)
        operands = parse_operands(instruction.operands)
        copies = any(access.asynchronous for access in accesses_of(base))  # to a narrow address
        if "E" in modifiers and not copies:
            operands = tuple(map(_extend, operands))
    except Unsupported as problem:
        operands, unknown = (), f"{instruction.opcode} with {problem.what}"
    place, line = instruction.offset, instruction.line
    return Decoded(index, place, base, tuple(modifiers), guard, operands, line, unknown=unknown)


def _extend(operand: Operand) -> Operand:
    """An address of an `.E` instruction is 64 bits wide: sm_75 writes `[R2]` for `[R2.64]`."""
    if not isinstance(operand, Address) or operand.wide:
        return operand
    register, uniform = operand.register, operand.uniform
    if register is not None and register.suffix == "":
        if uniform is not None:
            raise Unsupported("an address of two registers of unknown widths")
        register = replace(register, suffix="64")
    return replace(operand, register=register, wide=True)


def _guard(text: str | None) -> Predicate | None:
    if text is None:
        return None
    operand = parse_operand(text.removeprefix("@"))
    if not isinstance(operand, Predicate):
        raise Unsupported(f"the guard {text!r}")
    return None if operand.index == TRUE_PREDICATE and not operand.negated else operand
