"""Blocks of a grid: reset the warps, run them in turn, let them through `__syncthreads()`
together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from grader.emulator.layout import (
    BLOCK_VOTE,
    COLLECTIVE_BARRIER,
    CONTEXT,
    NAMED_BARRIERS,
    WAIT_BLOCK,
    WAIT_NAMED,
    WAIT_NONE,
    WARP_LANES,
    WARPSYNC_BARRIER,
    FaultCode,
    VoteMode,
)
from grader.emulator.native.paths import PathFunctions
from grader.emulator.native.shadow import end_epoch, start_block
from grader.emulator.native.tools import (
    I1,
    I8,
    I32,
    I64,
    POINTER,
    VOID,
    Record,
    Value,
    cell,
    const,
    counting_loop,
    define,
    loop_while,
    offset,
)

SHARED_POISON_BYTE = 0xFF
"""Shared memory starts as all ones: a quiet NaN as float, so that a value nobody wrote is seen in
the result."""


def define_run_blocks(
    module: ir.Module,
    warp_type: np.dtype,
    run_warp: ir.Function,
    paths: PathFunctions,
    *,
    watched: bool,
) -> ir.Function:
    """`i32 run_blocks(context, first, end)`: run the blocks first..end-1 in order; returns a
    FaultCode, 0 for none."""
    run_block = _define_run_block(module, warp_type, run_warp, paths, watched=watched)
    function, b = define(module, "run_blocks", I32, [POINTER, I64, I64], internal=False)
    pointer, first, end = function.args
    context = Record(b, pointer, CONTEXT)
    index = cell(b, I64)
    b.store(first, index)

    def one_block() -> None:
        turn = b.load(index, typ=I64)
        linear = _in_order(b, context, turn, _block_count(b, context))
        if watched:
            start_block(b, context, linear)
        width, height = (b.zext(context.load(name), I64) for name in ("grid_x", "grid_y"))
        row = b.udiv(linear, width)
        context.store("ctaid_x", b.trunc(b.urem(linear, width), I32))
        context.store("ctaid_y", b.trunc(b.urem(row, height), I32))
        context.store("ctaid_z", b.trunc(b.udiv(row, height), I32))
        context.store("block_budget", context.load("budget"))
        code = b.call(run_block, [pointer])
        with b.if_then(b.icmp_unsigned("!=", code, const(0)), likely=False):
            b.ret(code)
        executed, longest = (
            b.sub(context.load("block_budget"), context.load("budget")),
            context.load("longest"),
        )
        context.store("longest", b.select(b.icmp_signed(">", executed, longest), executed, longest))
        b.store(b.add(turn, const(1, I64)), index)

    loop_while(b, lambda: b.icmp_unsigned("<", b.load(index, typ=I64), end), one_block)
    b.ret(const(0))
    return function


def _define_run_block(
    module: ir.Module,
    warp_type: np.dtype,
    run_warp: ir.Function,
    paths: PathFunctions,
    *,
    watched: bool,
) -> ir.Function:
    """`i32 run_block(context)`: rounds over all warps until all have exited; each runs to its next
    barrier or end."""
    function, b = define(module, "run_block", I32, [POINTER])
    pointer = function.args[0]
    context = Record(b, pointer, CONTEXT)
    warp_at = _warp_getter(b, context, warp_type)
    shared = offset(
        b, context.load_pointer("shared_host"), b.zext(context.load("shared_base"), I64)
    )
    _fill(
        module, b, shared, context.load("shared_bytes"), b.trunc(context.load("shared_poison"), I8)
    )
    for field in ("named_arrived", "named_expected", "vote_any", "vote_missing", "vote_count"):
        _fill(module, b, context.at(field), const(CONTEXT.fields[field][0].itemsize), const(0, I8))  # type: ignore[index]
    with counting_loop(b, context.load("warp_count")) as index:
        _reset(module, b, warp_at(index))
    release_named = _define_release_named(module, warp_type, paths)
    living, stuck = cell(b, I32), cell(b, I32)
    b.store(const(1), living)

    def one_round() -> None:
        b.store(const(0), living)
        b.store(const(0), stuck)
        with counting_loop(b, context.load("warp_count")) as turn:
            index = _in_order(b, context, turn, context.load("warp_count"))
            warp = warp_at(index)
            code = b.call(run_warp, [pointer, warp.pointer])
            with b.if_then(b.icmp_unsigned("!=", code, const(0)), likely=False):
                context.store("fault_warp", index)
                b.ret(code)
            live, waiting = warp.load("live"), warp.load("at_barrier")
            b.store(b.or_(b.load(living, typ=I32), live), living)
            b.store(b.or_(b.load(stuck, typ=I32), b.xor(live, waiting)), stuck)
        with b.if_else(b.icmp_unsigned("!=", b.load(stuck, typ=I32), const(0)), likely=False) as (
            apart,
            together,
        ):
            with apart:
                with b.if_then(b.not_(b.call(release_named, [pointer]))):
                    _blame_barrier(b, context, warp_at)
                    b.ret(context.load("fault_code"))
                if watched:
                    end_epoch(b, context)
            with together:
                if watched:
                    end_epoch(b, context)
                _release_all(b, context, warp_at, paths)

    loop_while(b, lambda: b.icmp_unsigned("!=", b.load(living, typ=I32), const(0)), one_round)
    b.ret(const(0))
    return function


def _block_count(b: ir.IRBuilder, context: Record) -> Value:
    width, height, depth = (
        b.zext(context.load(name), I64) for name in ("grid_x", "grid_y", "grid_z")
    )
    return b.mul(width, b.mul(height, depth))


def _in_order(b: ir.IRBuilder, context: Record, turn: Value, count: Value) -> Value:
    """Which of `count` has this turn: the last one first where the context says so."""
    backwards = b.sub(b.sub(count, const(1, turn.type)), turn)
    return b.select(b.icmp_unsigned("!=", context.load("reversed"), const(0)), backwards, turn)


def _release_all(
    b: ir.IRBuilder, context: Record, warp_at: Callable[[Value], Record], paths: PathFunctions
) -> None:
    """Past `__syncthreads()`; a fault where lanes of one warp came to different ones."""
    votes = _count_votes(b, context, const(BLOCK_VOTE))
    with counting_loop(b, context.load("warp_count")) as index:
        with b.if_then(_waits_at_two_barriers(b, context, warp_at(index)), likely=False):
            context.store("fault_warp", index)
            b.ret(const(FaultCode.BARRIER))
        _tell_votes(warp_at(index), votes)
        _release_warp(b, warp_at(index), paths)


def _define_release_named(
    module: ir.Module, warp_type: np.dtype, paths: PathFunctions
) -> ir.Function:
    """`i1 release_named(context)`: let those go on whose barrier with a count of its own is
    complete; false: there are none."""
    function, b = define(module, "release_named", I1, [POINTER])
    context = Record(b, function.args[0], CONTEXT)
    warp_at = _warp_getter(b, context, warp_type)
    living, any_released = cell(b, I32), cell(b, I32)
    b.store(const(0), living)
    b.store(const(0), any_released)
    with counting_loop(b, context.load("warp_count")) as index:
        lives = b.icmp_unsigned("!=", warp_at(index).load("live"), const(0))
        b.store(
            b.add(b.load(living, typ=I32), b.select(lives, const(WARP_LANES), const(0))), living
        )
    with counting_loop(b, const(NAMED_BARRIERS)) as barrier:
        arrived, asked = (
            context.load("named_arrived", barrier),
            context.load("named_expected", barrier),
        )
        expected = b.select(b.icmp_unsigned("==", asked, const(0)), b.load(living, typ=I32), asked)
        complete = b.icmp_unsigned(">=", arrived, expected)
        with b.if_then(b.and_(complete, b.icmp_unsigned("!=", arrived, const(0)))):
            context.store("named_arrived", b.sub(arrived, expected), barrier)
            votes = _count_votes(b, context, barrier)
            with counting_loop(b, context.load("warp_count")) as index:
                _release_paths(
                    b, warp_at(index), b.add(barrier, const(WAIT_NAMED)), votes, any_released, paths
                )
    b.ret(b.icmp_unsigned("!=", b.load(any_released, typ=I32), const(0)))
    return function


def _release_paths(
    b: ir.IRBuilder,
    warp: Record,
    wait: Value,
    votes: tuple[Value, Value],
    any_released: Value,
    paths: PathFunctions,
) -> None:
    with counting_loop(b, warp.load("path_count")) as slot:
        mask = warp.load("path_mask", slot)
        waits = b.icmp_unsigned("==", warp.load("path_wait", slot), wait)
        with b.if_then(b.and_(waits, b.icmp_unsigned("!=", mask, const(0)))):
            warp.store("path_wait", WAIT_NONE, slot)
            warp.store("at_named", b.and_(warp.load("at_named"), b.not_(mask)))
            _tell_votes(warp, votes)
            b.store(const(1), any_released)
    with b.if_then(b.icmp_unsigned("==", warp.load("mask"), const(0))):
        b.call(paths.next, [warp.pointer])


def _count_votes(b: ir.IRBuilder, context: Record, barrier: Value) -> tuple[Value, Value]:
    """All threads have come to a barrier: what `BAR.RED` gathered there, the count of true threads
    and the and / or of all."""
    every = b.icmp_unsigned("==", context.load("vote_missing", barrier), const(0))
    some = b.icmp_unsigned("!=", context.load("vote_any", barrier), const(0))
    wants_all = b.icmp_unsigned("==", context.load("vote_mode", barrier), const(VoteMode.ALL))
    count, truth = (
        context.load("vote_count", barrier),
        b.zext(b.select(wants_all, every, some), I32),
    )
    for field in ("vote_any", "vote_missing", "vote_count"):
        context.store(field, 0, barrier)
    return count, truth


def _tell_votes(warp: Record, votes: tuple[Value, Value]) -> None:
    for field, value in zip(("voted_count", "voted_truth"), votes, strict=True):
        warp.store(field, value)


def _waits_at_two_barriers(b: ir.IRBuilder, context: Record, warp: Record) -> Value:
    """Whether lanes of one warp wait at different `__syncthreads()`: records one that waits
    elsewhere than the first."""
    first, found = cell(b, I32), cell(b, I32)
    b.store(const(-1), first)
    b.store(const(0), found)
    with counting_loop(b, warp.load("path_count")) as slot:
        waits = b.icmp_signed("==", warp.load("path_wait", slot), const(WAIT_BLOCK))
        with b.if_then(
            b.and_(waits, b.icmp_unsigned("!=", warp.load("path_mask", slot), const(0)))
        ):
            pc, known = warp.load("path_pc", slot), b.load(first, typ=I32)
            other = b.and_(
                b.icmp_unsigned("!=", known, const(-1)), b.icmp_unsigned("!=", known, pc)
            )
            b.store(pc, first)
            with b.if_then(other, likely=False):
                b.store(const(1), found)
                context.store("fault_code", FaultCode.BARRIER)
                context.store("fault_block", pc)
                context.store("fault_lane", b.cttz(warp.load("path_mask", slot), const(0, I1)))
                context.store("fault_other", known)
    return b.icmp_unsigned("!=", b.load(found, typ=I32), const(0))


def _warp_getter(
    b: ir.IRBuilder, context: Record, warp_type: np.dtype
) -> Callable[[Value], Record]:
    def warp_at(index: Value) -> Record:
        start = b.mul(b.zext(index, I64), b.zext(context.load("warp_bytes"), I64))
        return Record(b, offset(b, context.load_pointer("warps"), start), warp_type)

    return warp_at


def _reset(module: ir.Module, b: ir.IRBuilder, warp: Record) -> None:
    """A warp at the start of a block: all its lanes at the first instruction, registers and
    predicates zero."""
    initial = warp.load("initial")
    for field in ("live", "mask"):
        warp.store(field, initial)
    assert warp.layout.fields is not None
    sizes = {name: field[0].itemsize for name, field in warp.layout.fields.items()}
    with b.if_then(b.icmp_unsigned("!=", warp.load("meetings"), const(0))):
        _fill(module, b, warp.at("met"), const(sizes["met"]), const(0, I8))
    counts = (
        "path_count",
        "path_clock",
        "meetings",
        "synced",
        "copies_committed",
        "copies_completed",
    )
    for field in ("pc", "at_barrier", "at_named", *counts):
        warp.store(field, 0)
    for field in ("registers", "uniform", "predicates", "uniform_predicates"):
        _fill(module, b, warp.at(field), const(sizes[field]), const(0, I8))


def _release_warp(b: ir.IRBuilder, warp: Record, paths: PathFunctions) -> None:
    """Past the barrier: its waiting paths can run again. A path that waits as the running one (see
    control.bar) just goes on."""
    with b.if_then(b.icmp_unsigned("!=", warp.load("at_barrier"), const(0))):
        warp.store("at_barrier", 0)
        with counting_loop(b, warp.load("path_count")) as slot:
            blocked = b.icmp_signed("==", warp.load("path_wait", slot), const(WAIT_BLOCK))
            wait = warp.load("path_wait", slot)
            warp.store("path_wait", b.select(blocked, const(WAIT_NONE), wait), slot)
        with b.if_then(b.icmp_unsigned("==", warp.load("mask"), const(0))):
            b.call(paths.next, [warp.pointer])


def _blame_barrier(b: ir.IRBuilder, context: Record, warp_at: Callable[[Value], Record]) -> None:
    """Some lanes wait at __syncthreads() for lanes that cannot come: name one of each, and the
    barrier."""
    context.store("fault_code", FaultCode.BARRIER)
    _blame_warp_barrier(b, context, warp_at)
    with counting_loop(b, context.load("warp_count")) as index:
        warp = warp_at(index)
        waiting = b.or_(warp.load("at_barrier"), warp.load("at_named"))
        with b.if_then(b.icmp_unsigned("!=", waiting, const(0))):
            context.store("fault_instruction", warp.load("barrier_instruction"))
        missing = b.xor(warp.load("live"), waiting)
        with b.if_then(b.icmp_unsigned("!=", missing, const(0))):
            context.store("fault_warp", index)
            context.store("fault_lane", b.cttz(missing, const(0, I1)))
            context.store("fault_other", warp.load("path_pc", _path_of(b, warp, missing)))


def _blame_warp_barrier(
    b: ir.IRBuilder, context: Record, warp_at: Callable[[Value], Record]
) -> None:
    """Some lanes wait for lanes of their own warp (`__syncwarp()`, a shuffle) that wait elsewhere:
    that is told first."""
    with counting_loop(b, context.load("warp_count")) as index:
        warp = warp_at(index)
        with counting_loop(b, warp.load("path_count")) as slot:
            wait, mask = warp.load("path_wait", slot), warp.load("path_mask", slot)
            here = b.or_(
                b.icmp_signed("==", wait, const(WARPSYNC_BARRIER)),
                b.icmp_signed("==", wait, const(COLLECTIVE_BARRIER)),
            )
            with b.if_then(b.and_(here, b.icmp_unsigned("!=", mask, const(0)))):
                missing = b.and_(warp.load("live"), b.not_(mask))
                context.store("fault_code", FaultCode.ABSENT_LANES)
                context.store("fault_block", warp.load("path_pc", slot))
                context.store("fault_lane", b.cttz(mask, const(0, I1)))
                context.store("fault_warp", index)
                context.store("fault_other", warp.load("path_pc", _path_of(b, warp, missing)))
                b.ret(const(FaultCode.ABSENT_LANES))


def _path_of(b: ir.IRBuilder, warp: Record, lanes: Value) -> Value:
    """The slot of a path that holds any of the lanes."""
    found = cell(b, I32)
    b.store(const(0), found)
    with counting_loop(b, warp.load("path_count")) as slot:
        holds = b.icmp_unsigned("!=", b.and_(warp.load("path_mask", slot), lanes), const(0))
        b.store(b.select(holds, slot, b.load(found, typ=I32)), found)
    return b.load(found, typ=I32)


def _fill(module: ir.Module, b: ir.IRBuilder, target: Value, size: Value, byte: Value) -> None:
    name = "llvm.memset.p0.i64"
    existing = module.globals.get(name)
    kind = ir.FunctionType(VOID, [POINTER, I8, I64, I1])
    memset = existing if existing is not None else ir.Function(module, kind, name)
    b.call(memset, [target, byte, b.zext(size, I64), const(0, I1)])
