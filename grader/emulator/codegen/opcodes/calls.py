"""Calls of functions of the kernel, by name or by pointer, and of system functions."""

from __future__ import annotations

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.control import JUMPS, bra, go_to_computed
from grader.emulator.codegen.opcodes.intrinsics import not_emulated, trace_value
from grader.emulator.codegen.opcodes.row import PLAIN, Opcode, row
from grader.emulator.codegen.tools import I1, I32, I64, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow
from grader.emulator.isa.operands import Immediate, Register
from grader.emulator.timing.pipes import JUMP, SYSTEM_CALL

_RETURN_ADDRESS = Register(20)
"""The register pair with the return address of a system function."""


def call(e: Emitter, i: Decoded) -> None:
    """`CALL.REL` of a function in the kernel's code, by its offset or by a register; `CALL.ABS` of
    a system function."""
    if i.has("ABS"):
        call_system(e, i)
    elif _by_pointer(i):
        go_to_computed(e, i, i.operands[0], JUMPS)
    else:
        bra(e, i)


def _by_pointer(i: Decoded) -> bool:
    """Whether it calls a function of the kernel through a register."""
    return bool(i.operands) and isinstance(i.operands[0], Register) and not i.has("ABS")


def call_system(e: Emitter, i: Decoded) -> None:
    """Calls a system function for the lanes of the path. All lanes must call the same function and
    return to the next instruction."""
    (target,) = i.operands
    if i.guard is not None or not isinstance(target, Register | Immediate):
        raise e.unsupported("with these operands")
    addresses = e.integer64(target)
    address = e.b.extract_element(addresses, e.b.cttz(e.mask, const(1, I1)))
    returns = e.b.icmp_unsigned(
        "!=", e.i64(_RETURN_ADDRESS), e.splat(e.b.zext(e.data("next offset"), I64))
    )
    others = e.b.or_(returns, e.b.icmp_unsigned("!=", addresses, e.splat(address)))
    others = e.b.and_(e.mask, e.mask_of(others))
    together, apart, failed = (e.new_block(name) for name in ("together", "several", "failed"))
    e.b.cbranch(e.none(others), together, apart)
    e.b.position_at_end(apart)
    not_emulated(e, i)
    e.b.position_at_end(together)
    e.context.store("call_target", address)
    trace_value(e, e.splat(e.b.trunc(address, I32)))
    code = e.call("call_system", e.context_pointer, e.warp_pointer, e.mask, result=I32)
    e.branch_if(e.none(code), e.following, failed)
    e.b.position_at_end(failed)
    e.context.store("fault_instruction", e.index)
    e.b.ret(code)


def load_address(e: Emitter, i: Decoded) -> None:
    """d = the address of an instruction, by default of this one: its offset in the code."""
    target, *place = i.operands
    if len(place) > 1 or not all(isinstance(operand, Immediate) for operand in place):
        raise e.unsupported("with these operands")
    here = e.splat(e.b.zext(e.data("code offset"), I64))
    e.set64(target, e.i64(place[0]) if place else here)


CALLS: dict[str, Opcode] = {
    "CALL": row(
        call,
        "REL ABS NOINC",
        pipe={PLAIN: JUMP, "ABS": SYSTEM_CALL},
        flow=ControlFlow(indirect=_by_pointer),
    ),
    "LEPC": row(load_address),
}
