"""Copies of many bytes at once between global and shared memory (PTX ISA, `cp.async.bulk`): done at
once, which every wait for them allows (runtime/bulk_copies.cpp)."""

from __future__ import annotations

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.native.tools import I32, Value, const
from grader.emulator.opcodes.control import no_operation
from grader.emulator.opcodes.row import Opcode, row
from grader.emulator.operands import Address, Operand, Register
from grader.emulator.timing.pipes import BARRIER_OBJECT, NO_PIPE

_WAYS = {("S", "G"): "in", ("G", "S"): "out", ("S", "S"): "within"}


def copy_bulk(e: Emitter, i: Decoded) -> None:
    """As many times 16 bytes as a register says, to shared memory (S) or global memory (G) from the
    other one, or within shared memory.

    What goes to shared memory arrives at the barrier object that the next register names.
    """
    target, source, size = i.operands
    way = _WAYS.get((i.modifiers[0], i.modifiers[1])) if len(i.modifiers) > 1 else None
    if way is None or not isinstance(size, Register):
        raise e.unsupported()
    ends = [word for operand in (target, source) for word in _pair(e, operand)]
    slots = (e.data("slot bulk load"), e.data("slot bulk store"))
    arguments = (e.context_pointer, e.warp_pointer, e.index, *slots, *ends, e.i32(size))
    doing = e.function.append_basic_block("copy")
    done = e.function.append_basic_block("done")
    e.b.cbranch(const(1, e.truth) if e.guard is None else e.guard, doing, done)
    e.b.position_at_end(doing)
    e.return_if_nonzero(e.call(f"copy_{way}", *arguments, result=I32))
    e.b.branch(done)
    e.b.position_at_end(done)


def _pair(e: Emitter, operand: Operand) -> tuple[Value, Value]:
    """The register that an address names, and the next one."""
    if not isinstance(operand, Address) or operand.register or not operand.uniform:
        raise e.unsupported("with this address")
    register = Register(operand.uniform.index, uniform=True)
    return e.b.add(e.i32(register), e.offset_of(operand)), e.i32(e.upper(register))


BULK_COPIES: dict[str, Opcode] = {
    "UBLKCP": row(copy_bulk, "S G", uniform=True, pipe=BARRIER_OBJECT),
    "UBLKPF": row(no_operation, "L2", uniform=True, pipe=BARRIER_OBJECT),
    "UTMACMDFLUSH": row(no_operation, pipe=NO_PIPE),
}
