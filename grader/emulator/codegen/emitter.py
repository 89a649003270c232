"""The interface of opcode functions: registers, predicates and guards of the instruction for which
they emit LLVM IR.

Every shape of instruction is emitted twice. The *converged* step runs while all live lanes are on
one path. It writes whole registers, because exited lanes no longer need theirs. The *diverged* step
writes only the lanes of the path's mask.
"""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.codegen.cells import CellLayout
from grader.emulator.codegen.frame import Frame
from grader.emulator.codegen.registers import Registers
from grader.emulator.codegen.shapes import BANK_OF_LAUNCH, CONSTANT_WORDS, AnyLiteral, offset_name
from grader.emulator.codegen.tools import (
    F32,
    F64,
    I1,
    I32,
    I64,
    LANES_F32,
    LANES_I1,
    LANES_I32,
    LANES_I64,
    Value,
    const,
    freeze,
    lane_bits,
    offset,
    splat,
)
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
)
from grader.emulator.isa.program import Unsupported


class Emitter(Frame):
    """Emits a step of a shape. Opcode functions use its methods and those of Frame; they never
    access records directly."""

    def __init__(self, function: ir.Function, layout: CellLayout, *, converged: bool) -> None:
        super().__init__(function, layout, converged=converged)
        self.registers = Registers(self.b, self.warp_pointer, self.data)
        self.uniform = False
        self.guard: Value | None = None

    def start_instruction(self, instruction: Decoded, *, uniform: bool) -> None:
        """Sets the guard, and whether the instruction computes uniform (per-warp) values."""
        self.instruction = instruction
        self.uniform = uniform
        if instruction.guard is not None:
            self.guard = self.predicate(instruction.guard)

    def unsupported(self, what: str = "") -> Unsupported:
        """The error for an unknown form of the current instruction."""
        return Unsupported(f"{self.instruction.opcode} {what}".strip())

    # --- types ------------------------------------------------------------------------------------

    def const(self, value: int) -> Value:
        """A 32-bit constant: a scalar for uniform instructions, otherwise equal in all lanes."""
        return const(value) if self.uniform else splat(self.b, const(value))

    def const64(self, value: int) -> Value:
        return const(value, I64) if self.uniform else splat(self.b, const(value, I64))

    @property
    def word(self) -> ir.Type:
        """LLVM type of a 32-bit value of this instruction."""
        return I32 if self.uniform else LANES_I32

    @property
    def double_word(self) -> ir.Type:
        """LLVM type of a 64-bit value of this instruction."""
        return I64 if self.uniform else LANES_I64

    @property
    def real(self) -> ir.Type:
        """LLVM type of a float32 value of this instruction."""
        return F32 if self.uniform else LANES_F32

    @property
    def truth(self) -> ir.Type:
        """LLVM type of a predicate value of this instruction."""
        return I1 if self.uniform else LANES_I1

    @property
    def double(self) -> ir.Type:
        """LLVM type of a float64 value of this instruction."""
        return F64 if self.uniform else ir.VectorType(F64, 32)

    # --- reading ----------------------------------------------------------------------------------

    def scalar_i32(self, operand: Operand) -> Value:
        """A literal or uniform operand as a scalar word."""
        uniform, self.uniform = self.uniform, True
        value = self.i32(operand)
        self.uniform = uniform
        return value

    def lanes_i32(self, operand: Operand) -> Value:
        """A source operand as a word per lane, even if the instruction is uniform."""
        uniform, self.uniform = self.uniform, False
        value = self.i32(operand)
        self.uniform = uniform
        return value

    def i32(self, operand: Operand) -> Value:
        """A source operand as 32 bits; `-` is two's complement, `~` inverts."""
        if isinstance(operand, Immediate):
            return self._literal(operand, "integer") or self.const(operand.integer())
        value = self._raw(operand)
        if getattr(operand, "absolute", False):
            raise self.unsupported("with |operand|")
        if getattr(operand, "negated", False):
            value = self.b.neg(value)
        if getattr(operand, "inverted", False):
            value = self.b.not_(value)
        return value

    def f32(self, operand: Operand) -> Value:
        """A source operand as float32; `-` flips the sign bit, `|x|` clears it."""
        if isinstance(operand, Immediate):
            bits = self._literal(operand, "float32") or self.const(operand.float32_bits())
            return self.b.bitcast(bits, self.real)
        value = self._raw(operand)
        if getattr(operand, "inverted", False):
            raise self.unsupported("with ~operand")
        if getattr(operand, "absolute", False):
            value = self.b.and_(value, self.const(0x7FFFFFFF))
        if getattr(operand, "negated", False):
            value = self.b.xor(value, self.const(0x80000000))
        return self.b.bitcast(value, self.real)

    def i64(self, operand: Operand) -> Value:
        """A source operand as 64 bits: a register pair, two words of constant memory, or a
        sign-extended literal."""
        if isinstance(operand, Immediate):
            return self.b.sext(self.i32(operand), self.double_word)
        if getattr(operand, "inverted", False) or getattr(operand, "absolute", False):
            raise self.unsupported("with this 64-bit operand")
        low, high = self._raw(operand), self._raw(self.upper(operand))
        value = self.join(low, high)
        if getattr(operand, "negated", False):
            value = self.b.neg(value)
        return value

    def integer64(self, operand: Operand) -> Value:
        """A source operand of a 64-bit integer instruction; its literals have all 64 bits."""
        if not isinstance(operand, Immediate):
            return self.i64(operand)
        return self._literal64(operand, "integer64") or self.const64(operand.integer64())

    def f64_literal(self, operand: Immediate) -> Value:
        """A literal as the bits of a float64."""
        return self._literal64(operand, "float64") or self.const64(operand.float64_bits())

    def _literal64(self, operand: Immediate, kind: str) -> Value | None:
        """A 64-bit literal from the cell's data; None if the shape contains its value."""
        if not isinstance(operand, AnyLiteral):
            return None
        low, high = (self._literal(operand, f"{kind} {part}") for part in ("low", "high"))
        return self.join(low, high)

    def _literal(self, operand: Immediate, kind: str) -> Value | None:
        """A literal from the cell's data; None if the shape contains its value."""
        if not isinstance(operand, AnyLiteral):
            return None
        return self._spread(self.data(kind, operand.position))

    def offset_of(self, operand: Address | Constant) -> Value:
        """Byte offset of an address, or of a constant with an index, as an i32."""
        position, behind = offset_name(operand.offset)
        return self.b.add(self.data("offset", position), const(behind))

    def upper(self, operand: Operand) -> Operand:
        """The upper word of a 64-bit operand."""
        if isinstance(operand, Register):
            index = operand.index if operand.index == ZERO_REGISTER else operand.index + 1
            return Register(index, uniform=operand.uniform)
        if isinstance(operand, Constant) and operand.register is None:
            return Constant(operand.bank, operand.offset + 4)
        raise self.unsupported("with this 64-bit operand")

    def join(self, low: Value, high: Value) -> Value:
        """A 64-bit value from its two words."""
        shifted = self.b.shl(self.b.zext(high, self.double_word), self.const64(32))
        return self.b.or_(self.b.zext(low, self.double_word), shifted)

    def predicate(self, operand: Operand) -> Value:
        """The value of a predicate operand, negated if the operand is."""
        if not isinstance(operand, Predicate):
            raise self.unsupported("where a predicate is expected")
        value = self._predicate_value(operand)
        return self.b.not_(value) if operand.negated else value

    def _predicate_value(self, operand: Predicate) -> Value:
        if operand.index == TRUE_PREDICATE:
            return ir.Constant(I1, 1) if self.uniform else ir.Constant(LANES_I1, [1] * 32)
        if operand.uniform:
            value = self.registers.uniform_predicate(operand.index)
            return value if self.uniform else splat(self.b, value)
        if self.uniform:
            raise self.unsupported("with a predicate of lanes")
        return self.lane_predicate(operand.index)

    def lane_predicate(self, index: int) -> Value:
        """Predicate register `P<index>` as 32 i1."""
        return self.registers.predicate(index)

    def _constant_word(self, operand: Constant) -> Value:
        """A word of constant bank 0 (launch parameters, dimensions) or of a bank with fixed
        contents."""
        position, behind = offset_name(operand.offset)
        if operand.register is not None or behind % 4:
            raise self.unsupported("with this constant")
        word = self.data("constant", position * CONSTANT_WORDS + behind // 4)
        if operand.bank != BANK_OF_LAUNCH:
            return word
        base = self.context.load_pointer("constants")
        return self.b.load(offset(self.b, base, self.b.zext(word, I64)), typ=I32)

    def _raw(self, operand: Operand) -> Value:
        if not isinstance(operand, Register | Constant) or operand.suffix:
            raise self.unsupported("with this operand")
        if isinstance(operand, Constant):
            return self._spread(self._constant_word(operand))
        if operand.index == ZERO_REGISTER:
            return self.const(0)
        if operand.uniform:
            return self._spread(self.uniform_register(operand.index))
        if self.uniform:
            raise self.unsupported("with a register of lanes")
        return self.register(operand.index)

    def _spread(self, scalar: Value) -> Value:
        return scalar if self.uniform else splat(self.b, scalar)

    def register(self, index: int) -> Value:
        """Register `R<index>` of all lanes."""
        return self.registers.lanes(index)

    def uniform_register(self, index: int) -> Value:
        """Register `UR<index>`."""
        return self.registers.uniform(index)

    # --- writing ----------------------------------------------------------------------------------

    def set(self, operand: Operand, value: Value) -> None:
        """Writes a 32-bit value (integer or float32) to a destination register."""
        if not isinstance(operand, Register) or operand.uniform != (value.type in (I32, F32)):
            raise self.unsupported("with this destination")
        if operand.index == ZERO_REGISTER:
            return
        if operand.uniform:
            self._set_uniform(operand.index, self.b.bitcast(value, I32))
        else:
            self._set_lanes(operand.index, self.b.bitcast(value, LANES_I32))

    def set64(self, operand: Operand, value: Value) -> None:
        """Writes a 64-bit value to a pair of destination registers."""
        low = self.b.trunc(value, self.word)
        high = self.b.trunc(self.b.lshr(value, self.const64(32)), self.word)
        self.set(operand, low)
        self.set(self.upper(operand), high)

    def set_predicate(self, operand: Operand, value: Value) -> None:
        """Writes a predicate destination. Raises Unsupported for other operands."""
        if (
            not isinstance(operand, Predicate)
            or operand.negated
            or operand.uniform != isinstance(value.type, ir.IntType)
        ):
            raise self.unsupported("with this predicate destination")
        if operand.index == TRUE_PREDICATE:
            return
        condition = self.write_condition()
        if operand.uniform:
            if condition is not None:
                value = self.b.select(condition, value, self._predicate_value(operand))
            self.registers.set("uniform_predicate", operand.index, value)
            return
        if condition is not None:
            value = self.b.select(condition, value, self.lane_predicate(operand.index))
        self.registers.set("predicate", operand.index, value)

    def _set_lanes(self, index: int, value: Value) -> None:
        condition = self.write_condition()
        if condition is not None:
            # Without the freeze, LLVM emits a masked store, and the next load of the register
            # stalls until the store has reached the cache.
            value = freeze(self.b, self.b.select(condition, value, self.register(index)))
        self.registers.set("lanes", index, value)

    def _set_uniform(self, index: int, value: Value) -> None:
        if self.guard is not None:
            value = self.b.select(self.guard, value, self.uniform_register(index))
        self.registers.set("uniform", index, value)

    def write_condition(self) -> Value | None:
        """The lanes that receive a result; None for all."""
        if self.uniform or self.converged:
            return self.guard
        return self.active if self.guard is None else self.b.and_(self.active, self.guard)

    def lane_mask(self) -> Value:
        """Mask (i32) of the lanes that execute the instruction: the path's lanes with a true
        guard."""
        if self.guard is None:
            return self.mask
        return self.b.and_(self.mask, lane_bits(self.b, self.guard))

    def register_or_zero(self, operand: Register, word: int) -> Value:
        """Word `word` of a memory access whose data registers start at this operand."""
        if operand.index == ZERO_REGISTER:
            return self.const(0)
        return self.register(operand.index + word)
