"""What opcode functions write with: registers, predicates and guards of one kernel, while LLVM IR
is emitted.

Every kernel is emitted twice. The *converged* form runs while all living
lanes are on one path: it writes whole registers, since exited lanes need theirs no more. The
*diverged* form merges each result under the path's mask.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from grader.emulator.constants import constant_word
from grader.emulator.decode import Decoded
from grader.emulator.flow import Block, Flow
from grader.emulator.layout import CONTEXT, FUNCTION_PREFIX, SWITCH_FORM, FaultCode
from grader.emulator.native.tools import (
    F32,
    F64,
    I1,
    I32,
    I64,
    LANES_F32,
    LANES_I1,
    LANES_I32,
    LANES_I64,
    VOID,
    Record,
    Value,
    bits_to_lanes,
    call_by_name,
    cell,
    const,
    lane_bits,
    splat,
)
from grader.emulator.operands import (
    TRUE_PREDICATE,
    ZERO_REGISTER,
    Constant,
    Immediate,
    Operand,
    Predicate,
    Register,
)
from grader.emulator.program import KernelCode, Unsupported
from grader.emulator.registers import Registers


class Emitter:
    """Emits one form of one kernel. Opcode functions use the words below; they never touch records
    themselves.

    `slots` numbers memory instructions and the spaces that they touch; a kernel's forms share it.
    """

    def __init__(
        self,
        function: ir.Function,
        warp_type: np.dtype,
        flow: Flow,
        code: KernelCode,
        slots: dict[tuple[int, str], int],
        *,
        converged: bool,
        checked: bool,
    ) -> None:
        self.function = function
        self.converged = converged
        self.checked = checked
        self.flow = flow
        self.code = code
        self._slots = slots
        self.warp_type = warp_type
        self.entries = [function.append_basic_block(f"block{block.index}") for block in flow.blocks]
        self.context_pointer, self.warp_pointer = function.args
        self.uniform = False
        self.guard: Value | None = None

    # --- where we are -----------------------------------------------------------------------------

    def start_block(self, block: Block) -> None:
        """Begin to emit a basic block: nothing is known about any register."""
        self.block = block
        self.b = ir.IRBuilder(self.entries[block.index])
        self.context = Record(self.b, self.context_pointer, CONTEXT)
        self.warp = Record(self.b, self.warp_pointer, self.warp_type)
        self.mask = self.warp.load("mask")
        self.active = bits_to_lanes(self.b, self.mask)
        self.registers = Registers(self.b, self.warp)

    def start_instruction(self, instruction: Decoded, *, uniform: bool) -> None:
        """Set the guard, and whether the instruction works on uniform (one a warp) values."""
        self.instruction = instruction
        self.uniform = uniform
        self.guard = None
        if instruction.guard is not None:
            self.guard = self.predicate(instruction.guard)

    def unsupported(self, what: str = "") -> Unsupported:
        """The error to raise for a form of the current instruction that is not known."""
        opcode = self.instruction.opcode
        return Unsupported(f"{opcode} {what}".strip(), self.instruction.line)

    def stack_word(self, value: Value) -> Value:
        """A 32-bit variable on the stack with this value."""
        variable = cell(self.b, I32)
        self.b.store(value, variable)
        return variable

    # --- calling the runtime ----------------------------------------------------------------------

    def call(self, name: str, *arguments: Value, result: ir.Type = VOID) -> Value:
        """Call one of the runtime's functions."""
        return call_by_name(self.b, FUNCTION_PREFIX + name, result, list(arguments))

    def return_if_nonzero(self, code: Value) -> None:
        """End the launch where a function returned a FaultCode."""
        with self.b.if_then(self.b.icmp_unsigned("!=", code, const(FaultCode.NONE)), likely=False):
            self.b.ret(code)

    def push_path(self, mask: Value, pc: Value, wait: Value) -> None:
        """Give lanes that wait, or go on later, a path of their own."""
        self.call("push_path", self.warp_pointer, mask, pc, wait)

    def slot_index(self, instruction: int, space: str) -> int:
        """The slot of a memory instruction, by its index in the kernel, for the accesses to one
        space."""
        return self._slots.setdefault((instruction, space), len(self._slots))

    # --- types ------------------------------------------------------------------------------------

    def const(self, value: int) -> Value:
        """A 32-bit constant: one word, or the same in all lanes."""
        return const(value) if self.uniform else splat(self.b, const(value))

    def const64(self, value: int) -> Value:
        """A 64-bit constant."""
        return const(value, I64) if self.uniform else splat(self.b, const(value, I64))

    @property
    def word(self) -> ir.Type:
        """The type of a 32-bit value of this instruction."""
        return I32 if self.uniform else LANES_I32

    @property
    def double_word(self) -> ir.Type:
        """The type of a 64-bit value of this instruction."""
        return I64 if self.uniform else LANES_I64

    @property
    def real(self) -> ir.Type:
        """The type of a float32 value of this instruction."""
        return F32 if self.uniform else LANES_F32

    @property
    def truth(self) -> ir.Type:
        """The type of a predicate value of this instruction."""
        return I1 if self.uniform else LANES_I1

    @property
    def double(self) -> ir.Type:
        """The type of a float64 value of this instruction."""
        return F64 if self.uniform else ir.VectorType(F64, 32)

    # --- reading ----------------------------------------------------------------------------------

    def i32(self, operand: Operand) -> Value:
        """A source operand as 32 bits; `-` is two's complement, `~` inverts."""
        if isinstance(operand, Immediate):
            return self.const(operand.integer())
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
            return self.b.bitcast(self.const(operand.float32_bits()), self.real)
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
            word = operand.integer()
            return self.const64(word - (1 << 32) if word >> 31 else word)
        if getattr(operand, "inverted", False) or getattr(operand, "absolute", False):
            raise self.unsupported("with this 64-bit operand")
        low, high = self._raw(operand), self._raw(self.upper(operand))
        value = self.join(low, high)
        if getattr(operand, "negated", False):
            value = self.b.neg(value)
        return value

    def upper(self, operand: Operand) -> Operand:
        """The upper word of a 64-bit operand."""
        if isinstance(operand, Register):
            index = operand.index if operand.index == ZERO_REGISTER else operand.index + 1
            return Register(index, uniform=operand.uniform)
        if isinstance(operand, Constant) and operand.register is None:
            return Constant(operand.bank, operand.offset + 4)
        raise self.unsupported("with this 64-bit operand")

    def join(self, low: Value, high: Value) -> Value:
        """Two words as one 64-bit value."""
        shifted = self.b.shl(self.b.zext(high, self.double_word), self.const64(32))
        return self.b.or_(self.b.zext(low, self.double_word), shifted)

    def predicate(self, operand: Operand) -> Value:
        """A predicate operand, with its negation."""
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

    def _raw(self, operand: Operand) -> Value:
        if not isinstance(operand, Register | Constant) or operand.suffix:
            raise self.unsupported("with this operand")
        if isinstance(operand, Constant):
            return self._spread(constant_word(self, operand))
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
        """Write a 32-bit value (an integer or float32 of this instruction's shape) to a destination
        register."""
        if not isinstance(operand, Register) or operand.uniform != (value.type in (I32, F32)):
            raise self.unsupported("with this destination")
        if operand.index == ZERO_REGISTER:
            return
        if operand.uniform:
            self._set_uniform(operand.index, value)
        else:
            self._set_lanes(operand.index, self.b.bitcast(value, LANES_I32))

    def set64(self, operand: Operand, value: Value) -> None:
        """Write a 64-bit value to a destination pair."""
        low = self.b.trunc(value, self.word)
        high = self.b.trunc(self.b.lshr(value, self.const64(32)), self.word)
        self.set(operand, low)
        self.set(self.upper(operand), high)

    def set_predicate(self, operand: Operand, value: Value) -> None:
        """Write a predicate destination."""
        if (
            not isinstance(operand, Predicate)
            or operand.negated
            or operand.uniform != isinstance(value.type, ir.IntType)
        ):
            raise self.unsupported("with this predicate destination")
        if operand.index == TRUE_PREDICATE:
            return
        condition = self._write_condition()
        if operand.uniform:
            if condition is not None:
                value = self.b.select(condition, value, self._predicate_value(operand))
            self.registers.set("uniform_predicate", operand.index, value)
            return
        if condition is not None:
            value = self.b.select(condition, value, self.lane_predicate(operand.index))
        self.registers.set("predicate", operand.index, value)

    def _set_lanes(self, index: int, value: Value) -> None:
        condition = self._write_condition()
        if condition is not None:
            value = self.b.select(condition, value, self.register(index))
        self.registers.set("lanes", index, value)

    def _set_uniform(self, index: int, value: Value) -> None:
        if self.guard is not None:
            value = self.b.select(self.guard, value, self.uniform_register(index))
        self.registers.set("uniform", index, value)

    def _write_condition(self) -> Value | None:
        """Which lanes a result is written to; None for all."""
        if self.uniform or self.converged:
            return self.guard
        return self.active if self.guard is None else self.b.and_(self.active, self.guard)

    def lane_mask(self) -> Value:
        """Lanes that take part in the instruction: the path's, less those whose guard is false, as
        an i32."""
        if self.guard is None:
            return self.mask
        return self.b.and_(self.mask, lane_bits(self.b, self.guard))

    def register_or_zero(self, operand: Register, word: int) -> Value:
        """Word `word` of the data registers of a memory access that start at this operand."""
        if operand.index == ZERO_REGISTER:
            return self.const(0)
        return self.register(operand.index + word)

    def write_back(self) -> None:
        """Write all changed registers and predicates to the warp's record; they stay known."""
        self.registers.write_back()

    # --- leaving a basic block --------------------------------------------------------------------

    @property
    def following(self) -> int:
        """The block after the current one. Raises Unsupported when the code ends here."""
        if self.block.following is None:
            raise self.unsupported("at the end of the code")
        return self.block.following

    def go_to(self, block: int) -> None:
        """Continue at a basic block with the lanes of the warp's mask."""
        self.b.branch(self.entries[block])

    def branch_if(self, condition: Value, block: int, otherwise: ir.Block) -> None:
        """Continue at a basic block if the condition holds, else at an LLVM block of the current
        one."""
        self.b.cbranch(condition, self.entries[block], otherwise)

    def next_path(self) -> None:
        """The current path waits or has ended: run another one, or return when none can."""
        if self.converged:
            self.b.ret(const(FaultCode.NONE))
            return
        found = self.function.append_basic_block("resume")
        none = self.function.append_basic_block("blocked")
        runs = self.call("next_path", self.warp_pointer, result=I32)
        self.b.cbranch(self.b.icmp_unsigned("!=", runs, const(0)), found, none)
        self.b.position_at_end(none)
        self.b.ret(const(FaultCode.NONE))
        self.b.position_at_end(found)
        self.switch_form()

    def switch_path(self) -> None:
        """Go on in another path, which may be one that was pushed just now."""
        self.call("next_path", self.warp_pointer, result=I32)
        self.switch_form()

    def switch_form(self) -> None:
        """Return to the dispatcher, which continues at the warp's pc in the form that suits its
        mask."""
        self.b.ret(const(SWITCH_FORM))
