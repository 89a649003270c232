"""Divergence: a warp's paths, and where they meet again (DESIGN 3.2).

Lanes that took different sides of a branch are separate paths. They merge only at the `BSYNC` of the convergence barrier
that `BSSY` set; each path executes its own `BSYNC`. The running path is the warp's `mask` and `pc`; all others are in slots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from llvmlite import ir

from grader.emulator.layout import COLLECTIVE_BARRIER, CONVERGENCE_BARRIERS, PATH_SLOTS, WAIT_NONE, WARP_LANES
from grader.emulator.native.tools import (
    I1,
    I32,
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
    splat,
)


@dataclass(frozen=True)
class PathFunctions:
    """`push(warp, mask, pc, wait)`, `next(warp) -> i1` (false: none can run), `release(warp)` (lanes left or arrived)."""

    push: ir.Function
    next: ir.Function
    release: ir.Function


def define_paths(module: ir.Module, warp_type: np.dtype, *, watched: bool) -> PathFunctions:
    """The functions that keep a warp's paths. `watched`: they note which lanes meet."""
    release = _define_release(module, warp_type, watched=watched)
    return PathFunctions(_define_push(module, warp_type), _define_next(module, warp_type), release)


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
            with b.if_then(unused):
                warp.store("path_count", b.add(slot, const(1)))
            b.ret_void()
    b.ret_void()
    return function


def _define_next(module: ir.Module, warp_type: np.dtype) -> ir.Function:
    """The path that waits for nothing and lies in the lowest slot becomes the running one."""
    function, b = define(module, "next_path", I1, [POINTER])
    warp = Record(b, function.args[0], warp_type)
    with counting_loop(b, warp.load("path_count")) as slot:
        used = b.icmp_unsigned("!=", warp.load("path_mask", slot), const(0))
        runnable = b.and_(used, b.icmp_signed("==", warp.load("path_wait", slot), const(WAIT_NONE)))
        with b.if_then(runnable):
            warp.store("mask", warp.load("path_mask", slot))
            warp.store("pc", warp.load("path_pc", slot))
            warp.store("path_mask", 0, slot)
            _shrink(b, warp)
            b.ret(const(1, I1))
    warp.store("mask", 0)
    b.ret(const(0, I1))
    return function


def _shrink(b: ir.IRBuilder, warp: Record) -> None:
    """Forget the last slot while it is empty."""
    last = b.sub(warp.load("path_count"), const(1))
    with b.if_then(b.icmp_unsigned("==", warp.load("path_mask", last), const(0))):
        warp.store("path_count", last)


def _define_release(module: ir.Module, warp_type: np.dtype, *, watched: bool) -> ir.Function:
    """Merge the waiting paths of every convergence barrier whose living participants have all arrived."""
    function, b = define(module, "release_paths", VOID, [POINTER])
    warp = Record(b, function.args[0], warp_type)
    arrived = cell(b, I32)
    with counting_loop(b, warp.load("path_count")) as slot:
        wait = warp.load("path_wait", slot)
        mask = warp.load("path_mask", slot)
        waits = b.and_(b.icmp_signed(">=", wait, const(0)), b.icmp_signed("<", wait, const(CONVERGENCE_BARRIERS)))
        with b.if_then(b.and_(waits, b.icmp_unsigned("!=", mask, const(0)))):
            expected = b.and_(_participants(b, warp, wait, mask), warp.load("live"))
            b.store(const(0), arrived)
            with counting_loop(b, warp.load("path_count")) as other:
                together = b.icmp_signed("==", warp.load("path_wait", other), wait)
                joined = b.or_(b.load(arrived, typ=I32), b.and_(warp.load("path_mask", other), expected))
                b.store(b.select(together, joined, b.load(arrived, typ=I32)), arrived)
            with b.if_then(b.icmp_unsigned("==", b.load(arrived, typ=I32), expected)):
                if watched:
                    note_meeting(b, warp, expected)
                _merge(b, warp, slot, wait, expected)
    b.ret_void()
    return function


def _merge(b: ir.IRBuilder, warp: Record, slot: Value, wait: Value, expected: Value) -> None:
    """All lanes have come: paths that go on at the slot's pc join it; others (`__syncwarp()` elsewhere) just go on.

    For a collective operation all join, wherever they came from.
    """
    pc = warp.load("path_pc", slot)
    collective = b.icmp_signed("==", wait, const(COLLECTIVE_BARRIER))
    with counting_loop(b, warp.load("path_count")) as other:
        mask = warp.load("path_mask", other)
        waits = b.icmp_signed("==", warp.load("path_wait", other), wait)
        member = b.and_(waits, b.icmp_unsigned("!=", b.and_(mask, expected), const(0)))
        with b.if_then(member):
            warp.store("path_wait", WAIT_NONE, other)
            same_place = b.or_(collective, b.icmp_unsigned("==", warp.load("path_pc", other), pc))
            joins = b.and_(same_place, b.icmp_unsigned("!=", other, slot))
            with b.if_then(joins):
                warp.store("path_mask", b.or_(warp.load("path_mask", slot), mask), slot)
                warp.store("path_mask", 0, other)


def note_meeting(b: ir.IRBuilder, warp: Record, mask: Value) -> None:
    """These lanes are on one path, or wait for each other: what each has done so far is ordered before what any of them does next."""
    now = warp.load("meetings")
    together = bits_to_lanes(b, mask)
    with each_set_bit(b, mask) as lane:
        row = warp.at("met", b.mul(lane, const(WARP_LANES)))
        b.store(b.select(together, splat(b, now), b.load(row, typ=LANES_I32, align=4)), row, align=4)
    warp.store("meetings", b.add(now, const(1)))


def _participants(b: ir.IRBuilder, warp: Record, barrier: Value, mask: Value) -> Value:
    """Who waits together with the lowest lane of the mask at a barrier."""
    lane = b.cttz(mask, const(1, I1))
    return warp.load("participants", b.add(b.mul(barrier, const(32)), lane))
