"""The checked mode's part of what lanes do together: lanes that an operation names, or reads from,
and that are not there."""

from __future__ import annotations

from grader.emulator.checked_layout import FindingCode
from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.layout import FULL_MASK
from grader.emulator.native.tools import I1, I64, Value, bits_to_lanes, const, lane_bits, splat
from grader.emulator.operands import Immediate, Register

_BETWEEN = 3
"""So many instructions at most lie between the WARPSYNC that names an operation's lanes and the
operation."""


def note_absent_lanes(e: Emitter, i: Decoded) -> None:
    """Report living lanes that the operation's mask names and that are not on this path."""
    if not e.checked or e.converged:
        return
    named = _named_lanes(e, i)
    if named is None:
        return
    absent = e.b.and_(e.b.and_(named, e.warp.load("live")), e.b.not_(e.mask))
    with e.b.if_then(e.b.icmp_unsigned("!=", absent, const(0)), likely=False):
        _report(e, FindingCode.ABSENT_LANES, i, e.b.cttz(e.mask, const(1, I1)), absent)


def note_absent_sources(
    e: Emitter, i: Decoded, result: Value, wanted: Value, valid: Value
) -> Value:
    """The result of a shuffle. What lanes get from lanes that are not there is undefined: other
    garbage when poison is other."""
    if not e.checked:
        return result
    here = splat(e.b, e.mask)
    missing = e.b.icmp_unsigned(
        "==", e.b.and_(e.b.lshr(here, wanted), splat(e.b, const(1))), splat(e.b, const(0))
    )
    missing = e.b.and_(missing, valid)
    lanes = e.b.and_(lane_bits(e.b, missing), e.lane_mask())
    with e.b.if_then(e.b.icmp_unsigned("!=", lanes, const(0)), likely=False):
        _report(e, FindingCode.MAYBE_ABSENT_LANE, i, e.b.cttz(lanes, const(1, I1)), lanes)
    usual = e.b.icmp_unsigned("==", e.context.load("shared_poison"), const(0xFF))
    garbage = e.b.select(usual, const(0), const(FULL_MASK))
    return e.b.select(bits_to_lanes(e.b, lanes), e.b.xor(result, splat(e.b, garbage)), result)


def _report(e: Emitter, code: int, i: Decoded, lane: Value, lanes: Value) -> None:
    """Note that lanes are absent, of which `lane` needs some."""
    words = (const(code), const(i.index), lane, lanes, const(0, I64))
    e.call("report_lanes", e.context_pointer, e.warp_pointer, *words)


def _named_lanes(e: Emitter, i: Decoded) -> Value | None:
    """The mask of the WARPSYNC in front of the instruction, None where there is none."""
    before = (instruction for block in e.flow.blocks for instruction in block.instructions)
    near = [
        each
        for each in before
        if i.index - _BETWEEN <= each.index < i.index and each.base == "WARPSYNC"
    ]
    if not near or near[-1].has("COLLECTIVE") or near[-1].has("EXCLUSIVE"):
        return None
    sync = near[-1]
    if sync.has("ALL"):
        return const(FULL_MASK)
    mask = sync.operands[0]
    if isinstance(mask, Immediate):
        return const(mask.integer())
    if not isinstance(mask, Register) or mask.uniform:
        return None
    e.b.store(e.register(mask.index), e.context.at("lane_data"), align=4)
    return e.context.load("lane_data", e.b.cttz(e.mask, const(1, I1)))
