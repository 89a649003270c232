"""The exact rules of the checked mode for one lane after another: is what looked suspicious to
shadow.py a mistake?

Ordered, and so no race, are accesses of one thread; of lanes of a warp that have waited for each
other since (`__syncwarp()`: CUDA C++ Programming Guide, "Independent Thread Scheduling"; that they
are on one path, or exchange values by shuffles and votes, "does not imply a memory barrier"); of
threads with a `__syncthreads()` between (the epoch differs); of blocks where the first one has
fenced and the second one has acquired (an atomic operation or a volatile read) since. Who draws a
value from where others have drawn (a ticket) comes behind all that they did there up to then.
Atomic and volatile accesses do not race among themselves. Storing the value that is already there
harms nobody, nor do lanes that store the same value to one address in one instruction; which one of
different values stays is undefined. A plain read in front of a compare-and-swap, a minimum or a
maximum belongs to the usual loop around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from llvmlite import ir

from grader.emulator.layout import CONTEXT, WARP_LANES
from grader.emulator.native.counting import AccessKind
from grader.emulator.native.shadow_layout import (
    DETAIL_MASK,
    DETAIL_SHIFT,
    FLAG_SHIFT,
    FOUND,
    INSTRUCTION_MASK,
    INSTRUCTION_SHIFT,
    OWNER_SHIFT,
    THREAD_MASK,
    WATCH,
    FindingCode,
    Trait,
)
from grader.emulator.native.tools import (
    I1,
    I8,
    I16,
    I32,
    I64,
    LANES_I32,
    POINTER,
    VOID,
    Record,
    Value,
    cell,
    const,
    define,
    each_set_bit,
    lane_bits,
    loop_while,
    offset,
    splat,
)


@dataclass(frozen=True)
class Rules:
    """Which access the rules are for; see `shadow.Watched`."""

    kind: AccessKind
    shift: int
    asynchronous: bool
    strong: bool

    @property
    def plain(self) -> bool:
        return not (self.kind.atomic or self.strong)

    @property
    def name(self) -> str:
        return f"judge_{self.kind.name}_{self.shift}{'_async' if self.asynchronous else ''}{'_strong' if self.strong else ''}"


class _Tag:
    """The fields of a tag."""

    def __init__(self, b: ir.IRBuilder, value: Value) -> None:
        self.value = value
        self.thread = b.trunc(b.and_(value, const(THREAD_MASK, I64)), I32)
        self.instruction = b.trunc(
            b.and_(b.lshr(value, const(INSTRUCTION_SHIFT, I64)), const(INSTRUCTION_MASK, I64)), I32
        )
        self.detail = b.trunc(
            b.and_(b.lshr(value, const(DETAIL_SHIFT, I64)), const(DETAIL_MASK, I64)), I32
        )
        self.flag = b.trunc(b.lshr(value, const(FLAG_SHIFT, I64)), I1)
        self.owner = b.lshr(value, const(OWNER_SHIFT, I64))


class _Judge:
    """Emits the rules for one lane; `b` writes into the function made by `define_judge`."""

    def __init__(
        self, b: ir.IRBuilder, function: ir.Function, warp_type: np.dtype, rules: Rules
    ) -> None:
        self.b = b
        self.rules = rules
        self.warp_type = warp_type
        self.context, self.warp = (
            Record(b, function.args[0], CONTEXT),
            Record(b, function.args[1], warp_type),
        )
        self.instruction = function.args[2]
        self.watch = Record(b, self.context.load_pointer("watch"), WATCH)

    def judge(self, lane: Value) -> None:
        b, kind = self.b, self.rules.kind
        own = _Tag(b, b.load(self.watch.at("own_tags", lane), typ=I64))
        address = b.zext(self.context.load("lane_addresses", lane), I64)
        changes = self._changes(lane, address)
        for granule in range(max(1, kind.width >> self.rules.shift)):
            self._judge_granule(lane, own, address, granule, changes)
        if kind.space == "global" and (kind.load or kind.atomic):
            place = b.add(self.watch.load("written"), address)
            for byte in range(kind.bounded_bytes):
                mark = b.load(offset(b, b.inttoptr(place, POINTER), byte), typ=I8)
                with b.if_then(b.icmp_unsigned("==", mark, const(0, I8))):
                    self._report(
                        FindingCode.MAYBE_GLOBAL_UNWRITTEN,
                        own,
                        own,
                        b.add(address, const(byte, I64)),
                    )

    def _changes(self, lane: Value, address: Value) -> Value:
        """Whether a plain store changes what is in memory."""
        b, kind = self.b, self.rules.kind
        if kind.load or kind.atomic:
            return const(1, I1)
        host = offset(b, self.context.load_pointer(f"{kind.space}_host"), address)
        narrow = ir.IntType(8 * min(kind.width, 4))
        changed = const(0, I1)
        for word in range(max(1, kind.width // 4)):
            new = self.context.load("lane_data", b.add(lane, const(word * WARP_LANES)))
            old = b.load(offset(b, host, 4 * word), typ=narrow, align=1)
            new = b.trunc(new, narrow) if kind.width < 4 else new
            changed = b.or_(changed, b.icmp_unsigned("!=", new, old))
        return changed

    def _judge_granule(
        self, lane: Value, own: _Tag, address: Value, granule: int, changes: Value
    ) -> None:
        b, kind = self.b, self.rules.kind
        place = b.add(address, const(granule << self.rules.shift, I64))
        writer = self._tag(place, "writers")
        if kind.space == "shared" and (kind.load or kind.atomic):
            with b.if_then(b.icmp_unsigned("==", writer.value, const(0, I64))):
                self._report(FindingCode.MAYBE_SHARED_UNWRITTEN, own, own, place)
            with b.if_then(b.and_(writer.flag, self._under_way(writer))):
                self._report(FindingCode.ASYNC_COPY, own, writer, place)
        self._judge_pair(lane, own, writer, place, changes, after_read=False)
        if not kind.load:
            self._judge_pair(
                lane, own, self._tag(place, "readers"), place, changes, after_read=True
            )

    def _judge_pair(
        self, lane: Value, own: _Tag, other: _Tag, place: Value, changes: Value, *, after_read: bool
    ) -> None:
        b, kind = self.b, self.rules.kind
        shared = kind.space == "shared"
        unordered = (
            self._unordered_shared(own, other, after_read=after_read)
            if shared
            else self._unordered_global(own, other)
        )
        traits = self._traits(other.instruction)
        if not self.rules.plain:
            unordered = b.and_(unordered, b.not_(_has(b, traits, Trait.ATOMIC)))
        else:
            unordered = b.and_(
                unordered, b.not_(b.and_(_has(b, traits, Trait.CHANGES), self._drew_last(place)))
            )
        if kind.load and self.rules.plain:
            retried = b.and_(
                _has(b, traits, Trait.RETRIED), self._in_front(self.instruction, other.instruction)
            )
            unordered = b.and_(unordered, b.not_(retried))
        if kind.atomic and after_read:
            own_traits = self._traits(self.instruction)
            retried = b.and_(
                _has(b, own_traits, Trait.RETRIED),
                self._in_front(other.instruction, self.instruction),
            )
            unordered = b.and_(unordered, b.not_(retried))
        in_warp = self._of_own_warp(other)
        code = (
            b.select(in_warp, const(FindingCode.WARP_RACE), const(FindingCode.SHARED_RACE))
            if shared
            else const(FindingCode.GLOBAL_RACE)
        )
        with b.if_then(b.and_(unordered, changes)):
            self._report(code, own, other, place)

    def _of_own_warp(self, other: _Tag) -> Value:
        return self.b.icmp_unsigned(
            "==", self.b.lshr(other.thread, const(5)), self.warp.load("index")
        )

    def _unordered_shared(self, own: _Tag, other: _Tag, *, after_read: bool) -> Value:
        b = self.b
        now = b.and_(
            b.icmp_unsigned("==", other.owner, own.owner),
            b.icmp_unsigned("!=", other.value, const(0, I64)),
        )
        another = b.icmp_unsigned("!=", other.thread, own.thread)
        another = b.or_(another, other.flag) if after_read else b.and_(another, b.not_(other.flag))
        return b.and_(
            now,
            b.or_(b.not_(self._of_own_warp(other)), b.and_(another, self._unsynced(own, other))),
        )

    def _unsynced(self, own: _Tag, other: _Tag) -> Value:
        """Whether a lane of the own warp has not been waited for; of more meetings than a tag can
        count nothing is known."""
        b = self.b
        lane, others_lane = (b.and_(tag.thread, const(WARP_LANES - 1)) for tag in (own, other))
        known = self.warp.load("met", b.add(b.mul(lane, const(WARP_LANES)), others_lane))
        synced = self.warp.load("synced")
        first = b.select(b.icmp_unsigned(">", known, synced), known, synced)
        countable = b.icmp_unsigned("!=", other.detail, const(DETAIL_MASK))
        return b.and_(countable, b.icmp_unsigned(">=", other.detail, first))

    def _drew_last(self, place: Value) -> Value:
        """Whether the granule's last atomic operation was the own block's (in shared memory, the
        own warp's), and gave it a value."""
        b, space = self.b, self.rules.kind.space
        pointer = self._granule(place, "drawers", size_shift=2)
        return b.icmp_unsigned(
            "==", b.load(pointer, typ=I32), drawer_number(b, self.watch, self.warp, space)
        )

    def _unordered_global(self, own: _Tag, other: _Tag) -> Value:
        b = self.b
        foreign = b.and_(
            b.icmp_unsigned("!=", other.owner, own.owner),
            b.icmp_unsigned("!=", other.value, const(0, I64)),
        )
        fences = offset(b, self.watch.load_pointer("fences"), b.mul(other.owner, const(2, I64)))
        fenced = b.icmp_unsigned(">", b.zext(b.load(fences, typ=I16), I32), other.detail)
        acquired = b.icmp_unsigned("!=", self.watch.load("acquired"), const(0))
        return b.and_(foreign, b.not_(b.and_(fenced, acquired)))

    def _under_way(self, writer: _Tag) -> Value:
        """Whether an asynchronous copy may not have arrived: its thread has not waited for its
        group."""
        b = self.b
        index = b.zext(b.lshr(writer.thread, const(5)), I64)
        start = b.mul(index, b.zext(self.context.load("warp_bytes"), I64))
        warp = Record(b, offset(b, self.context.load_pointer("warps"), start), self.warp_type)
        return b.icmp_unsigned(
            ">=", writer.detail, b.and_(warp.load("copies_completed"), const(DETAIL_MASK))
        )

    def _tag(self, place: Value, role: str) -> _Tag:
        return _Tag(self.b, self.b.load(self._granule(place, role, size_shift=3), typ=I64))

    def _granule(self, place: Value, role: str, *, size_shift: int) -> Value:
        """Where the shadow keeps a granule's entry."""
        b, space = self.b, self.rules.kind.space
        if space == "shared":
            place = b.sub(place, b.zext(self.context.load("shared_base"), I64))
        index = b.lshr(place, const(self.rules.shift, I64))
        return b.inttoptr(
            b.add(b.shl(index, const(size_shift, I64)), self.watch.load(f"{space}_{role}")), POINTER
        )

    def _traits(self, instruction: Value) -> Value:
        return self.b.load(
            offset(self.b, self.watch.load_pointer("traits"), self.b.zext(instruction, I64)), typ=I8
        )

    def _in_front(self, instruction: Value, other: Value) -> Value:
        """Whether an instruction's source line is not behind another one's; so it is where a line
        is not known."""
        b = self.b
        lines = (
            offset(b, self.watch.load_pointer("lines"), b.mul(b.zext(each, I64), const(4, I64)))
            for each in (instruction, other)
        )
        first, second = (b.load(line, typ=I32) for line in lines)
        unknown = b.icmp_unsigned("==", second, const(0))
        return b.or_(unknown, b.icmp_unsigned("<=", first, second))

    def _report(self, code: int | Value, own: _Tag, other: _Tag, place: Value) -> None:
        report(self.b, self.context, code, self.instruction, own, other, place)


def report(
    b: ir.IRBuilder,
    context: Record,
    code: int | Value,
    instruction: Value,
    own: _Tag,
    other: _Tag,
    place: Value,
    mask: Value | None = None,
) -> None:
    """Note a finding, the first one of its code at this instruction."""
    code = const(code) if isinstance(code, int) else code
    watch = Record(b, context.load_pointer("watch"), WATCH)
    number = b.add(b.mul(code, watch.load("instructions")), instruction)
    seen = offset(b, watch.load_pointer("reported"), b.zext(number, I64))
    with b.if_then(b.icmp_unsigned("==", b.load(seen, typ=I8), const(0, I8)), likely=False):
        b.store(const(1, I8), seen)
        count = watch.load("found_count")
        watch.store("found_count", b.add(count, const(1)))
        found = Record(
            b,
            offset(
                b,
                watch.load_pointer("found"),
                b.mul(b.zext(count, I64), const(FOUND.itemsize, I64)),
            ),
            FOUND,
        )
        found.store("code", code)
        found.store("instruction", instruction)
        found.store("other_instruction", other.instruction)
        found.store("thread", own.thread)
        found.store("other_thread", other.thread)
        found.store("block", _block_number(b, context))
        others_block = b.trunc(other.owner, I32)
        known = b.icmp_unsigned("!=", others_block, const(0))
        found.store(
            "other_block", b.select(known, b.sub(others_block, const(1)), _block_number(b, context))
        )
        found.store("mask", const(0) if mask is None else mask)
        found.store("address", place)


def report_lanes(
    b: ir.IRBuilder,
    context: Record,
    warp: Record,
    code: int,
    instruction: int | Value,
    lane: Value,
    mask: Value,
    place: Value | None = None,
) -> None:
    """Note something about lanes of a warp: that they are absent (`lane` is one that needs them),
    or where they are (`lane` at `place`)."""
    thread = b.zext(b.add(b.mul(warp.load("index"), const(WARP_LANES)), lane), I64)
    own = _Tag(b, thread)
    instruction = const(instruction) if isinstance(instruction, int) else instruction
    report(b, context, code, instruction, own, own, const(0, I64) if place is None else place, mask)


def drawer_number(b: ir.IRBuilder, watch: Record, warp: Record, space: str) -> Value:
    """Who draws, see shadow_layout."""
    return (
        b.add(warp.load("index"), const(1))
        if space == "shared"
        else b.trunc(watch.load("block"), I32)
    )


def define_judge(module: ir.Module, warp_type: np.dtype, rules: Rules) -> ir.Function:
    """`void judge(context, warp, instruction, lanes)`: report what these lanes do wrong."""
    function, b = define(module, rules.name, VOID, [POINTER, POINTER, I32, I32])
    judge = _Judge(b, function, warp_type, rules)
    with each_set_bit(b, function.args[3]) as lane:
        judge.judge(lane)
    b.ret_void()
    return function


def define_collide(module: ir.Module, kind: AccessKind) -> ir.Function:
    """`void collide(context, instruction, lanes)`: report lanes of one store that leave different
    values at one address."""
    name = f"collide_{kind.space}_{kind.width}"
    if name in module.globals:
        return module.globals[name]
    function, b = define(module, name, VOID, [POINTER, I32, I32])
    context, instruction = Record(b, function.args[0], CONTEXT), function.args[1]
    watch = Record(b, context.load_pointer("watch"), WATCH)
    remaining = cell(b, I32)
    b.store(function.args[2], remaining)

    def one_address() -> None:
        left = b.load(remaining, typ=I32)
        lane = b.cttz(left, const(1, I1))
        address = context.load("lane_addresses", lane)
        there = b.and_(
            left,
            lane_bits(
                b, b.icmp_unsigned("==", context.load_lanes("lane_addresses"), splat(b, address))
            ),
        )
        others = b.and_(there, _lanes_with_other_data(b, context, lane, kind.width))
        with b.if_then(b.icmp_unsigned("!=", others, const(0)), likely=False):
            first, second = (
                _Tag(b, b.load(watch.at("own_tags", each), typ=I64))
                for each in (lane, b.cttz(others, const(1, I1)))
            )
            code = FindingCode.WARP_RACE if kind.space == "shared" else FindingCode.GLOBAL_RACE
            report(b, context, code, instruction, second, first, b.zext(address, I64))
        b.store(b.xor(left, there), remaining)

    loop_while(b, lambda: b.icmp_unsigned("!=", b.load(remaining, typ=I32), const(0)), one_address)
    b.ret_void()
    return function


def _lanes_with_other_data(b: ir.IRBuilder, context: Record, lane: Value, width: int) -> Value:
    """The lanes that store something else than this one."""
    others = const(0)
    stored = const((1 << 8 * min(width, 4)) - 1)
    for word in range(max(1, width // 4)):
        mine = context.load("lane_data", b.add(lane, const(word * WARP_LANES)))
        theirs = b.load(context.at("lane_data", word * WARP_LANES), typ=LANES_I32, align=4)
        differing = b.and_(b.xor(theirs, splat(b, mine)), splat(b, stored))
        others = b.or_(others, lane_bits(b, b.icmp_unsigned("!=", differing, splat(b, const(0)))))
    return others


def _has(b: ir.IRBuilder, traits: Value, trait: int) -> Value:
    return b.icmp_unsigned("!=", b.and_(traits, const(trait, I8)), const(0, I8))


def _block_number(b: ir.IRBuilder, context: Record) -> Value:
    row = b.add(context.load("ctaid_y"), b.mul(context.load("grid_y"), context.load("ctaid_z")))
    return b.add(context.load("ctaid_x"), b.mul(context.load("grid_x"), row))
