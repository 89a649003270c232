"""The interface of opcode functions: registers, predicates and guards of the instruction for which
they emit LLVM IR.

Every shape of instruction is emitted twice. The *converged* step runs while all live lanes are on
one path. It writes whole registers, because exited lanes no longer need theirs. The *diverged* step
writes only the lanes of the path's mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from grader.emulator.codegen.frame import CellLayout, Frame
from grader.emulator.codegen.shapes import (
    BANK_OF_LAUNCH,
    CONSTANT_WORDS,
    AnyLiteral,
    field_place,
    lane_register_place,
    offset_name,
    predicate_name,
    register_name,
)
from grader.emulator.codegen.tools import (
    F32,
    I1,
    I32,
    I64,
    LANES_I1,
    LANES_I32,
    Value,
    const,
    freeze,
    offset,
)
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Address, Constant, Immediate, Operand, Predicate, Register
from grader.emulator.isa.program import Unsupported
from grader.emulator.layouts.execution import WARP_LANES

Name = tuple[str, int]
"""A kind and an index: `lanes` (`R5` of all lanes), `uniform` (`UR5`), `predicate` (`P5` as 32 i1)
or `uniform_predicate` (`UP5` as an i1)."""


class Registers:
    """Cached register values of an instruction. `data` returns words of its cell."""

    def __init__(
        self, builder: ir.IRBuilder, warp: Value, data: Callable[[str, int], Value]
    ) -> None:
        self._b, self._warp, self._data = builder, warp, data
        self._known: dict[Name, Value] = {}
        self._changed: set[Name] = set()

    def read(self, kind: str, index: int) -> Value:
        """A register or predicate as its kind's LLVM value."""
        if (kind, index) not in self._known:
            self._known[kind, index] = self._load((kind, index))
        return self._known[kind, index]

    def set(self, kind: str, index: int, value: Value) -> None:
        """Changes a register or predicate."""
        self._known[kind, index] = value
        self._changed.add((kind, index))

    def write_back(self) -> None:
        """Stores all changed registers to the warp's record."""
        for name in sorted(self._changed):
            self._write(name, self._known[name])
        self._changed.clear()

    def place_of(self, index: int) -> Value:
        """Address of `R<index>` of all lanes; the next registers follow it."""
        return self._place(("lanes", index))

    def place_of_predicate(self, index: int) -> Value:
        """Address of `P<index>`, a lane mask."""
        return self._place(("predicate", index))

    def _load(self, name: Name) -> Value:
        kind, _ = name
        if kind == "lanes":
            return self._b.load(self._place(name), typ=LANES_I32, align=4)
        word = self._b.load(self._place(name), typ=I32)
        if kind == "uniform":
            return word
        return self._b.bitcast(word, LANES_I1) if kind == "predicate" else self._b.trunc(word, I1)

    def _write(self, name: Name, value: Value) -> None:
        kind, _ = name
        if kind == "predicate":
            value = self._b.bitcast(value, I32)
        elif kind == "uniform_predicate":
            value = self._b.zext(value, I32)
        self._b.store(value, self._place(name), align=4)

    def _place(self, name: Name) -> Value:
        """Address of a register or predicate: from the cell's data for names of a shape, otherwise
        constant."""
        kind, index = name
        behind = 0
        if kind.endswith("predicate"):
            hole = predicate_name(index)
            fixed = field_place(f"{kind}s", index)
        else:
            step = 4 * WARP_LANES if kind == "lanes" else 4
            place = register_name(index)
            hole = None
            if place is not None:
                hole, behind = place[0], place[1] * step
            fixed = lane_register_place(index) if kind == "lanes" else field_place(kind, index)
        if hole is None:
            return offset(self._b, self._warp, fixed)
        word = self._data("predicate" if kind.endswith("predicate") else "register", hole)
        return offset(self._b, offset(self._b, self._warp, self._b.zext(word, I64)), behind)


class Emitter(Frame):
    """Emits a step of a shape. Opcode functions use its methods and those of Frame; they never
    access records directly."""

    def __init__(self, function: ir.Function, layout: CellLayout, *, converged: bool) -> None:
        super().__init__(function, layout, converged=converged)
        self.registers = Registers(self.b, self.warp_pointer, self.data)
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

    @contextmanager
    def as_uniform(self, uniform: bool) -> Iterator[None]:
        """Reads operands as scalars, or per lane, in an instruction of the other kind."""
        before, self.uniform = self.uniform, uniform
        yield
        self.uniform = before

    # --- reading ----------------------------------------------------------------------------------

    def scalar_i32(self, operand: Operand) -> Value:
        """A literal or uniform operand as a scalar word."""
        with self.as_uniform(True):
            return self.i32(operand)

    def lanes_i32(self, operand: Operand) -> Value:
        """A source operand as a word per lane, even if the instruction is uniform."""
        with self.as_uniform(False):
            return self.i32(operand)

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
        return self.spread(self.data(kind, operand.position))

    def offset_of(self, operand: Address | Constant) -> Value:
        """Byte offset of an address, or of a constant with an index, as an i32."""
        position, behind = offset_name(operand.offset)
        return self.b.add(self.data("offset", position), const(behind))

    def upper(self, operand: Operand) -> Operand:
        """The upper word of a 64-bit operand."""
        if isinstance(operand, Register):
            index = operand.index if operand.is_zero else operand.index + 1
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
        if operand.is_true:
            return const(1, I1) if self.uniform else ir.Constant(LANES_I1, [1] * 32)
        if operand.uniform:
            return self.spread(self.registers.read("uniform_predicate", operand.index))
        if self.uniform:
            raise self.unsupported("with a predicate of lanes")
        return self.registers.read("predicate", operand.index)

    def _constant_word(self, operand: Constant) -> Value:
        """A word of constant bank 0 or of a bank with fixed contents."""
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
            return self.spread(self._constant_word(operand))
        if operand.is_zero:
            return self.const(0)
        if operand.uniform:
            return self.spread(self.uniform_register(operand.index))
        if self.uniform:
            raise self.unsupported("with a register of lanes")
        return self.register(operand.index)

    def register(self, index: int) -> Value:
        """Register `R<index>` of all lanes."""
        return self.registers.read("lanes", index)

    def uniform_register(self, index: int) -> Value:
        """Register `UR<index>`."""
        return self.registers.read("uniform", index)

    # --- writing ----------------------------------------------------------------------------------

    def set(self, operand: Operand, value: Value) -> None:
        """Writes a 32-bit value (integer or float32) to a destination register."""
        if not isinstance(operand, Register) or operand.uniform != (value.type in (I32, F32)):
            raise self.unsupported("with this destination")
        if operand.is_zero:
            return
        kind = "uniform" if operand.uniform else "lanes"
        condition = self.guard if operand.uniform else self.write_condition()
        value = self.b.bitcast(value, I32 if operand.uniform else LANES_I32)
        if condition is not None:
            value = self.b.select(condition, value, self.registers.read(kind, operand.index))
            if not operand.uniform:
                # Without the freeze, LLVM emits a masked store, and the next load of the register
                # stalls until the store has reached the cache.
                value = freeze(self.b, value)
        self.registers.set(kind, operand.index, value)

    def set_words(self, target: Register, values: Sequence[Value]) -> None:
        """Writes words to consecutive registers from the target on; RZ ignores all."""
        if not target.is_zero:
            for word, value in enumerate(values):
                self.set(Register(target.index + word, target.uniform), value)

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
        if operand.is_true:
            return
        kind = "uniform_predicate" if operand.uniform else "predicate"
        condition = self.write_condition()
        if condition is not None:
            value = self.b.select(condition, value, self.registers.read(kind, operand.index))
        self.registers.set(kind, operand.index, value)

    def write_condition(self) -> Value | None:
        """The lanes that receive a result; None for all."""
        if self.uniform or self.converged:
            return self.guard
        return self.active if self.guard is None else self.b.and_(self.active, self.guard)

    def lane_mask(self) -> Value:
        """Mask (i32) of the path's lanes with a true guard."""
        if self.guard is None:
            return self.mask
        return self.b.and_(self.mask, self.mask_of(self.guard))

    def plain_register(self, operand: Operand, what: str = "with these operands") -> Register:
        """A source register of lanes that is used as it is. Raises Unsupported for others."""
        if not isinstance(operand, Register) or operand.uniform or operand.negated:
            raise self.unsupported(what)
        return operand

    def data_words(self, operand: Register, count: int) -> list[Value]:
        """The words of a memory access whose data registers start at this operand."""
        return [self.register_or_zero(operand, word) for word in range(count)]

    def register_or_zero(self, operand: Register, word: int) -> Value:
        """Word `word` of a memory access whose data registers start at this operand."""
        if operand.is_zero:
            return self.const(0)
        return self.register(operand.index + word)
