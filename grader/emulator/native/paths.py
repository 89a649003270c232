"""Divergence: a warp's paths, and where they meet again (DESIGN 3.2).

Lanes that took different sides of a branch are separate paths. They merge only at the `BSYNC` of
the convergence barrier that `BSSY` set; each path executes its own `BSYNC`. The running path is the
warp's `mask` and `pc`; all others are in slots.

Which path runs when is an H100's rule, found by its counts of executed instructions: of the two
sides of a branch the one with fewer lanes (control.bra), and when a path waits or ends, the one
that got its slot last. It matters: paths that wait when others leave their barrier (`EXIT`,
`BREAK`) execute its `BSYNC` once more, and paths that meet at a `WARPSYNC` execute it once more
together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from llvmlite import ir

from grader.emulator.layout import (
    COLLECTIVE_BARRIER,
    CONTEXT,
    CONVERGENCE_BARRIERS,
    COUNTS_PER_BLOCK,
    FULL_MASK,
    PATH_SLOTS,
    WAIT_NONE,
    WARP_LANES,
    WARPSYNC_BARRIER,
)
from grader.emulator.native.tools import (
    I1,
    I32,
    I64,
    LANES_I32,
    POINTER,
    VOID,
    Record,
    Value,
    bits_to_lanes,
    cell,
    const,
    counting_loop,
    define,
    each_set_bit,
    lanes,
    offset,
    splat,
)


@dataclass(frozen=True)
class PathFunctions:
    """`push(warp, mask, pc, wait)`, `next(warp) -> i1` (false: none can run).

    `release(context, warp, left)`: lanes have arrived at a barrier, or, `left`, others will not
    come to it any more. `meet(warp, mask)`, in the checked mode only: lanes have waited for each
    other.
    """

    push: ir.Function
    next: ir.Function
    release: ir.Function
    meet: ir.Function | None


def define_paths(module: ir.Module, warp_type: np.dtype, *, watched: bool) -> PathFunctions:
    """The functions that keep a warp's paths. `watched`: they note which lanes meet."""
    meet = _define_meet(module, warp_type) if watched else None
    release = _define_release(module, warp_type, meet)
    return PathFunctions(
        _define_push(module, warp_type), _define_next(module, warp_type), release, meet
    )


def _define_push(module: ir.Module, warp_type: np.dtype) -> ir.Function:
    function, b = define(module, "push_path", VOID, [POINTER, I32, I32, I32])
    warp = Record(b, function.args[0], warp_type)
    _, mask, pc, wait = function.args
    with counting_loop(b, const(PATH_SLOTS)) as slot:
        free = b.icmp_unsigned("==", warp.load("path_mask", slot), const(0))
        unused = b.icmp_unsigned(">=", slot, warp.load("path_count"))
        with b.if_then(b.or_(free, unused)):
            warp.store("path_mask", mask, slot)
            warp.store("path_pc", pc, slot)
            warp.store("path_wait", wait, slot)
            _make_newest(b, warp, slot)
            with b.if_then(unused):
                warp.store("path_count", b.add(slot, const(1)))
            b.ret_void()
    b.ret_void()
    return function


def _make_newest(b: ir.IRBuilder, warp: Record, slot: Value) -> None:
    now = b.add(warp.load("path_clock"), const(1))
    warp.store("path_clock", now)
    warp.store("path_age", now, slot)


def _define_next(module: ir.Module, warp_type: np.dtype) -> ir.Function:
    """The path that waits for nothing and got its slot last becomes the running one."""
    function, b = define(module, "next_path", I1, [POINTER])
    warp = Record(b, function.args[0], warp_type)
    newest, chosen = cell(b, I32), cell(b, I32)
    b.store(const(0), newest)
    b.store(const(0), chosen)
    with counting_loop(b, warp.load("path_count")) as slot:
        used = b.icmp_unsigned("!=", warp.load("path_mask", slot), const(0))
        runnable = b.and_(used, b.icmp_signed("==", warp.load("path_wait", slot), const(WAIT_NONE)))
        newer = b.icmp_unsigned(">", warp.load("path_age", slot), b.load(newest, typ=I32))
        with b.if_then(b.and_(runnable, newer)):
            b.store(warp.load("path_age", slot), newest)
            b.store(slot, chosen)
    with b.if_then(b.icmp_unsigned("==", b.load(newest, typ=I32), const(0))):
        warp.store("mask", 0)
        b.ret(const(0, I1))
    slot = b.load(chosen, typ=I32)
    warp.store("mask", warp.load("path_mask", slot))
    warp.store("pc", warp.load("path_pc", slot))
    warp.store("path_mask", 0, slot)
    _shrink(b, warp)
    b.ret(const(1, I1))
    return function


def _shrink(b: ir.IRBuilder, warp: Record) -> None:
    """Forget the last slot while it is empty."""
    last = b.sub(warp.load("path_count"), const(1))
    with b.if_then(b.icmp_unsigned("==", warp.load("path_mask", last), const(0))):
        warp.store("path_count", last)


def _define_release(
    module: ir.Module, warp_type: np.dtype, meet: ir.Function | None
) -> ir.Function:
    """Merge the waiting paths of every convergence barrier whose living participants have all
    arrived."""
    function, b = define(module, "release_paths", VOID, [POINTER, POINTER, I1])
    context, warp = Record(b, function.args[0], CONTEXT), Record(b, function.args[1], warp_type)
    arrived = cell(b, I32)
    with counting_loop(b, warp.load("path_count")) as slot:
        wait = warp.load("path_wait", slot)
        mask = warp.load("path_mask", slot)
        waits = b.and_(
            b.icmp_signed(">=", wait, const(0)),
            b.icmp_signed("<", wait, const(CONVERGENCE_BARRIERS)),
        )
        with b.if_then(b.and_(waits, b.icmp_unsigned("!=", mask, const(0)))):
            expected = b.and_(_participants(b, warp, wait, mask), warp.load("live"))
            b.store(const(0), arrived)
            with counting_loop(b, warp.load("path_count")) as other:
                together = _waits_likewise(b, warp, other, wait, expected)
                joined = b.or_(
                    b.load(arrived, typ=I32), b.and_(warp.load("path_mask", other), expected)
                )
                b.store(b.select(together, joined, b.load(arrived, typ=I32)), arrived)
            with b.if_then(b.icmp_unsigned("==", b.load(arrived, typ=I32), expected)):
                if (
                    meet is not None
                    # that paths meet at a BSYNC is the hardware's doing, on which no program may rely
                ):
                    with b.if_then(b.icmp_signed(">=", wait, const(WARPSYNC_BARRIER))):
                        b.call(meet, [warp.pointer, expected])
                _merge(b, context, warp, slot, wait, expected, function.args[2])
    b.ret_void()
    return function


def _waits_likewise(
    b: ir.IRBuilder, warp: Record, slot: Value, wait: Value, expected: Value
) -> Value:
    """Whether the path in a slot waits at this barrier for the same lanes: `__syncwarp()` of other
    lanes is another one."""
    there = b.icmp_signed("==", warp.load("path_wait", slot), wait)
    mask = warp.load("path_mask", slot)
    lanes = b.and_(_participants(b, warp, b.select(there, wait, const(0)), mask), warp.load("live"))
    member = b.icmp_unsigned("!=", b.and_(mask, expected), const(0))
    return b.and_(b.and_(there, member), b.icmp_unsigned("==", lanes, expected))


def _merge(
    b: ir.IRBuilder,
    context: Record,
    warp: Record,
    slot: Value,
    wait: Value,
    expected: Value,
    left: Value,
) -> None:
    """All lanes have come: paths that go on at the slot's pc join it; others (`__syncwarp()`
    elsewhere) just go on.

    For a collective operation all join, wherever they came from.
    """
    pc = warp.load("path_pc", slot)
    collective = b.icmp_signed("==", wait, const(COLLECTIVE_BARRIER))
    several = cell(b, I1)
    b.store(const(0, I1), several)
    with counting_loop(b, warp.load("path_count")) as other:
        mask = warp.load("path_mask", other)
        with b.if_then(_waits_likewise(b, warp, other, wait, expected)):
            b.store(b.or_(b.load(several, typ=I1), b.icmp_unsigned("!=", other, slot)), several)
            warp.store("path_wait", WAIT_NONE, other)
            same_place = b.or_(collective, b.icmp_unsigned("==", warp.load("path_pc", other), pc))
            joins = b.and_(same_place, b.icmp_unsigned("!=", other, slot))
            with b.if_then(joins):
                warp.store("path_mask", b.or_(warp.load("path_mask", slot), mask), slot)
                warp.store("path_mask", 0, other)
    _make_newest(b, warp, slot)
    meets = b.and_(b.load(several, typ=I1), b.icmp_signed("==", wait, const(WARPSYNC_BARRIER)))
    with b.if_then(b.or_(left, meets)):
        repeat_block_end(b, context, b.sub(pc, const(1)))


def repeat_block_end(b: ir.IRBuilder, context: Record, block: Value) -> None:
    """Count that the last instruction of a basic block (its index) was executed again, by the same
    threads."""
    index = b.add(
        b.mul(b.zext(block, I64), const(COUNTS_PER_BLOCK, I64)), const(COUNTS_PER_BLOCK - 1, I64)
    )
    counter = offset(b, context.load_pointer("block_counts"), b.mul(index, const(8, I64)))
    b.store(b.add(b.load(counter, typ=I64), const(1, I64)), counter)


def _define_meet(module: ir.Module, warp_type: np.dtype) -> ir.Function:
    """`void meet(warp, mask)`: what each of the lanes has done so far is ordered before what any of
    them does next.

    So is what any of them had waited for before, and what lanes have done that have ended.
    """
    function, b = define(module, "meet", VOID, [POINTER, I32])
    warp, mask = Record(b, function.args[0], warp_type), function.args[1]
    now = b.add(warp.load("meetings"), const(1))
    warp.store("meetings", now)
    there = b.or_(mask, b.not_(warp.load("live")))
    with b.if_else(b.icmp_unsigned("==", there, const(FULL_MASK))) as (whole, part):
        with whole:
            warp.store("synced", now)
        with part:
            known = cell(b, LANES_I32)
            b.store(lanes([0] * WARP_LANES), known)
            with each_set_bit(b, mask) as lane:
                theirs, before = (
                    b.load(_row(b, warp, lane), typ=LANES_I32, align=4),
                    b.load(known, typ=LANES_I32),
                )
                b.store(b.select(b.icmp_unsigned(">", theirs, before), theirs, before), known)
            together = b.select(
                bits_to_lanes(b, there), splat(b, now), b.load(known, typ=LANES_I32)
            )
            with each_set_bit(b, mask) as lane:
                b.store(together, _row(b, warp, lane), align=4)
    b.ret_void()
    return function


def _row(b: ir.IRBuilder, warp: Record, lane: Value) -> Value:
    return warp.at("met", b.mul(lane, const(WARP_LANES)))


def _participants(b: ir.IRBuilder, warp: Record, barrier: Value, mask: Value) -> Value:
    """Who waits together with the lowest lane of the mask at a barrier."""
    lane = b.cttz(mask, const(1, I1))
    return warp.load("participants", b.add(b.mul(barrier, const(32)), lane))
