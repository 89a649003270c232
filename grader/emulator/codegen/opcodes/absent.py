"""The checked mode's test of collective operations: lanes that an operation names or reads from
must be on its path."""

from __future__ import annotations

from collections.abc import Sequence

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.tools import I1, I32, I64, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Immediate, Operand, Register
from grader.emulator.layouts.checked import FindingCode
from grader.emulator.layouts.execution import FULL_MASK

_BETWEEN = 3
"""Most instructions from the WARPSYNC that names an operation's lanes to the operation."""


def report_absent_lanes(e: Emitter, i: Decoded) -> None:
    """Reports live lanes that the operation's mask names but that are not on this path."""
    if e.converged or i.named is None:
        return
    first = e.b.cttz(e.mask, const(1, I1))
    named = e.b.extract_element(e.lanes_i32(i.named), first)
    absent = e.b.and_(e.b.and_(named, e.warp.load("live")), e.b.not_(e.mask))
    with e.if_checked(), e.b.if_then(e.some(absent), likely=False):
        _report(e, FindingCode.ABSENT_LANES, first, absent)


def report_absent_sources(
    e: Emitter, i: Decoded, result: Value, wanted: Value, valid: Value
) -> Value:
    """The result of a shuffle. Values from absent lanes are undefined; their garbage differs
    between poison values."""
    checked = e.b.sext(e.is_checked(), I32)
    here = e.splat(e.mask)
    missing = e.b.icmp_unsigned(
        "==", e.b.and_(e.b.lshr(here, wanted), e.splat(const(1))), e.splat(const(0))
    )
    missing = e.b.and_(missing, valid)
    lanes = e.b.and_(e.b.and_(e.mask_of(missing), e.lane_mask()), checked)
    with e.b.if_then(e.some(lanes), likely=False):
        _report(e, FindingCode.MAYBE_ABSENT_LANE, e.b.cttz(lanes, const(1, I1)), lanes)
    usual = e.b.icmp_unsigned("==", e.context.load("shared_poison"), const(0xFF))
    garbage = e.b.select(usual, const(0), const(FULL_MASK))
    return e.b.select(e.lanes_of(lanes), e.b.xor(result, e.splat(garbage)), result)


def _report(e: Emitter, code: int, lane: Value, lanes: Value) -> None:
    """Reports absent lanes that `lane` needs."""
    words = (const(code), e.index, lane, lanes, const(0, I64))
    e.call("report_lanes", e.context_pointer, e.warp_pointer, *words)


def lanes_named_before(code: Sequence[Decoded], i: Decoded) -> Operand | None:
    """The lane mask of the WARPSYNC before an instruction: a register or a literal; None if there
    is none."""
    near = [each for each in code if i.index - _BETWEEN <= each.index < i.index]
    syncs = [each for each in near if each.base == "WARPSYNC"]
    if not syncs or syncs[-1].has("COLLECTIVE") or syncs[-1].has("EXCLUSIVE"):
        return None
    sync = syncs[-1]
    if sync.has("ALL"):
        return Immediate(FULL_MASK, None)
    mask = sync.operands[0] if sync.operands else None
    if isinstance(mask, Register) and not mask.uniform:
        return Register(mask.index)
    return mask if isinstance(mask, Immediate) else None
