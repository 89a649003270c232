"""The checked mode in native code: every access of a warp is compared with the tags of
shadow_layout, and leaves its own.

The whole warp is compared at once; only lanes whose granule looks suspicious go through the exact
rules (suspects.py). Warps run one after another up to a barrier, and blocks one after another: the
first reader of an epoch is enough to find every write of another warp that should have waited for
one; of the warp's own reads the last one is kept, and whether it was alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from llvmlite import ir

from grader.emulator.layout import CONTEXT, SLOT, WARP_LANES, PatternKind
from grader.emulator.native.counting import AccessKind
from grader.emulator.native.shadow_layout import (
    DETAIL_MASK,
    DETAIL_SHIFT,
    FLAG_SHIFT,
    INSTRUCTION_SHIFT,
    OWNER_SHIFT,
    THREAD_MASK,
    WATCH,
)
from grader.emulator.native.suspects import Rules, define_collide, define_judge, drawer_number
from grader.emulator.native.tools import (
    I1,
    I8,
    I16,
    I32,
    I64,
    LANES_I1,
    LANES_I64,
    POINTER,
    VOID,
    Record,
    Value,
    bits_to_lanes,
    cell,
    const,
    define,
    lane_bits,
    lanes,
    offset,
    splat,
)

_LANES_POINTER = ir.VectorType(POINTER, WARP_LANES)


@dataclass(frozen=True)
class Watched:
    """A kind of access in the checked mode. `shift`: log2 of the granule; `asynchronous`: a copy
    that arrives later.

    `draws`: an atomic operation that may give its value to the thread.
    """

    kind: AccessKind
    shift: int
    asynchronous: bool = False
    strong: bool = False
    draws: bool = False

    @property
    def granules(self) -> int:
        return max(1, self.kind.width >> self.shift)

    @property
    def name(self) -> str:
        flags = (("async", self.asynchronous), ("strong", self.strong), ("draws", self.draws))
        return "_".join(
            [self.kind.name, str(self.shift), *(name for name, present in flags if present)]
        )


def define_watch(module: ir.Module, warp_type: np.dtype, watched: Watched) -> ir.Function:
    """`void watch(context, warp, slot, instruction, mask)`: an access that may go on, its data of a
    store in `lane_data`."""
    judge = define_judge(
        module, warp_type, Rules(watched.kind, watched.shift, watched.asynchronous, watched.strong)
    )
    function, b = define(
        module, f"watch_{watched.name}", VOID, [POINTER, POINTER, POINTER, I32, I32]
    )
    context, warp = Record(b, function.args[0], CONTEXT), Record(b, function.args[1], warp_type)
    slot, instruction, mask = Record(b, function.args[2], SLOT), function.args[3], function.args[4]
    watch = Record(b, context.load_pointer("watch"), WATCH)
    suspects = cell(b, I32)
    b.store(const(0), suspects)
    own = _own_tags(b, watch, warp, watched, instruction)
    b.store(own, watch.at("own_tags"), align=8)
    looked_at = mask
    if (
        watched.kind.load and watched.kind.width >= 4
    ):  # all lanes read one place: the lowest one stands for them
        same = b.icmp_unsigned("==", slot.load("kind"), const(PatternKind.BROADCAST))
        looked_at = b.select(same, b.and_(mask, b.neg(mask)), mask)
    addresses = b.zext(context.load_lanes("lane_addresses"), LANES_I64)
    meeting = slot.load("meeting") if not watched.kind.atomic else None
    for granule in range(watched.granules):
        found = _look(
            b, context, watch, watched, addresses, granule, looked_at, _Own(b, warp, own, meeting)
        )
        b.store(b.or_(b.load(suspects, typ=I32), found), suspects)
    if watched.kind.space == "global":
        found = _look_at_written(b, watch, watched, addresses, looked_at)
        b.store(b.or_(b.load(suspects, typ=I32), found), suspects)
    some = b.load(suspects, typ=I32)
    with b.if_then(b.icmp_unsigned("!=", some, const(0)), likely=False):
        b.call(judge, [function.args[0], function.args[1], instruction, some])
    if not (watched.kind.load or watched.kind.atomic):
        together = b.and_(meeting, mask)
        with b.if_then(b.icmp_unsigned("!=", together, const(0)), likely=False):
            b.call(define_collide(module, watched.kind), [function.args[0], instruction, together])
    if watched.kind.space == "global":
        _mark_written(b, watch, watched, addresses, mask)
    if not watched.kind.load:
        for granule in range(watched.granules):
            pointers = _tag_pointers(b, context, watch, watched, addresses, granule, "writers")
            leaving = b.and_(
                mask,
                b.not_(
                    _first_atomics(b, watch, watched, pointers, mask, _Own(b, warp, own, meeting))
                ),
            )
            _scatter(b, own, pointers, leaving, alignment=8)
            if watched.kind.atomic:
                drawers = _granule_pointers(
                    b, context, watch, watched, addresses, granule, "drawers", size_shift=2
                )
                drawer = (
                    drawer_number(b, watch, warp, watched.kind.space) if watched.draws else const(0)
                )
                _scatter(b, splat(b, drawer), drawers, mask, alignment=4)
    b.ret_void()
    return function


def _own_tags(
    b: ir.IRBuilder, watch: Record, warp: Record, watched: Watched, instruction: Value
) -> Value:
    if watched.kind.space == "shared":
        owner, flag = watch.load("epoch"), const(int(watched.asynchronous), I64)
        detail = b.zext(
            warp.load("copies_committed") if watched.asynchronous else _meetings(b, warp), I64
        )
    else:
        owner, flag = watch.load("block"), const(1, I64)
        count = b.load(
            offset(b, watch.load_pointer("fences"), b.mul(owner, const(2, I64))), typ=I16
        )
        detail = b.zext(count, I64)
    detail = b.and_(detail, const(DETAIL_MASK, I64))
    common = b.shl(owner, const(OWNER_SHIFT, I64))
    common = b.or_(common, b.shl(flag, const(FLAG_SHIFT, I64)))
    common = b.or_(common, b.shl(detail, const(DETAIL_SHIFT, I64)))
    common = b.or_(common, b.shl(b.zext(instruction, I64), const(INSTRUCTION_SHIFT, I64)))
    common = b.or_(common, b.mul(b.zext(warp.load("index"), I64), const(WARP_LANES, I64)))
    return b.or_(splat(b, common), lanes(range(WARP_LANES), I64))


def _meetings(b: ir.IRBuilder, warp: Record) -> Value:
    """How often lanes of the warp have waited for each other, as far as a tag can hold that."""
    count = warp.load("meetings")
    return b.select(b.icmp_unsigned("<", count, const(DETAIL_MASK)), count, const(DETAIL_MASK))


class _Own:
    """The access that is being looked at: its tags, and the lanes that meet another one at their
    address (None: they take turns)."""

    def __init__(self, b: ir.IRBuilder, warp: Record, tags: Value, meeting: Value | None) -> None:
        self.tags = tags
        self.meeting = meeting
        self.first_unsynced = b.shl(b.zext(warp.load("synced"), I64), const(DETAIL_SHIFT, I64))


def _look(
    b: ir.IRBuilder,
    context: Record,
    watch: Record,
    watched: Watched,
    addresses: Value,
    granule: int,
    mask: Value,
    own: _Own,
) -> Value:
    """The lanes whose granule somebody else may have touched without waiting; a load leaves its tag
    where it is the first reader."""
    kind = watched.kind
    writers = _gather(
        b,
        LANES_I64,
        _tag_pointers(b, context, watch, watched, addresses, granule, "writers"),
        mask,
        8,
    )
    found = _foreign(b, watch, watched, writers, own, _Role.WRITER)
    if kind.space == "shared" and (kind.load or kind.atomic):
        found = b.or_(found, b.icmp_unsigned("==", writers, splat(b, const(0, I64))))
    reader_pointers = _tag_pointers(b, context, watch, watched, addresses, granule, "readers")
    readers = _gather(b, LANES_I64, reader_pointers, mask, 8)
    if kind.load:
        leaving, tags = (
            _reading(b, readers, own)
            if kind.space == "shared"
            else (_is_zero(b, readers), own.tags)
        )
        first = b.and_(lane_bits(b, leaving), mask)
        with b.if_then(b.icmp_unsigned("!=", first, const(0))):
            _scatter(b, tags, reader_pointers, first, alignment=8)
    else:
        found = b.or_(found, _foreign(b, watch, watched, readers, own, _Role.READER))
    return b.and_(lane_bits(b, found), mask)


class _Role(Enum):
    """What a tag says of its granule."""

    WRITER = auto()
    READER = auto()


def _foreign(
    b: ir.IRBuilder, watch: Record, watched: Watched, tags: Value, own: _Own, role: _Role
) -> Value:
    """Per lane, whether a tag is not surely ordered before this access."""
    if watched.kind.space == "global":
        return b.and_(
            _is_set(b, tags, -1),
            b.icmp_unsigned("!=", _owners(b, tags), splat(b, watch.load("block"))),
        )
    found = _Shared(b, tags, own)
    late = _is_set(b, tags, 1 << FLAG_SHIFT)
    if role is _Role.WRITER:
        return b.or_(
            b.and_(
                found.now,
                b.or_(found.of_another_warp, b.and_(found.of_another_lane, found.unsynced)),
            ),
            late,
        )
    return b.and_(
        found.now,
        b.or_(found.of_another_warp, b.and_(b.or_(found.of_another_lane, late), found.unsynced)),
    )


class _Shared:
    """What tells tags of shared memory from those of an access, per lane; `unsynced` holds for tags
    of its own warp."""

    def __init__(self, b: ir.IRBuilder, tags: Value, own: _Own) -> None:
        others = b.xor(tags, own.tags)
        self.now = _is_zero(b, _owners(b, others))
        self.of_another_warp = _is_set(b, others, THREAD_MASK & -WARP_LANES)
        self.of_another_lane = _is_set(b, others, THREAD_MASK)
        details = b.and_(tags, splat(b, const(DETAIL_MASK << DETAIL_SHIFT, I64)))
        self.unsynced = b.icmp_unsigned(">=", details, splat(b, own.first_unsynced))


def _reading(b: ir.IRBuilder, readers: Value, own: _Own) -> tuple[Value, Value]:
    """Which lanes of a load from shared memory leave a tag, and which ones.

    Another warp's tag stays while its epoch lasts; one of the own warp that lanes have not waited
    for is marked once others read too.
    """
    found = _Shared(b, readers, own)
    meeting = bits_to_lanes(b, own.meeting)
    recent = b.and_(b.and_(found.now, b.not_(found.of_another_warp)), found.unsynced)
    marked = _is_set(b, readers, 1 << FLAG_SHIFT)
    alone = b.not_(b.or_(found.of_another_lane, meeting))
    stays = b.or_(b.and_(found.now, found.of_another_warp), b.and_(recent, b.or_(marked, alone)))
    several = b.or_(meeting, b.and_(recent, found.of_another_lane))
    mark = b.select(several, splat(b, const(1 << FLAG_SHIFT, I64)), splat(b, const(0, I64)))
    return b.not_(stays), b.or_(own.tags, mark)


def _is_set(b: ir.IRBuilder, values: Value, bits: int) -> Value:
    return b.icmp_unsigned(
        "!=", b.and_(values, splat(b, const(bits, I64))), splat(b, const(0, I64))
    )


def _is_zero(b: ir.IRBuilder, values: Value) -> Value:
    return b.icmp_unsigned("==", values, splat(b, const(0, I64)))


def _first_atomics(
    b: ir.IRBuilder, watch: Record, watched: Watched, pointers: Value, mask: Value, own: _Own
) -> Value:
    """The lanes of an atomic operation whose granule keeps an earlier writer's tag: who reads it
    next may not have waited for that one."""
    if not watched.kind.atomic:
        return const(0)
    return lane_bits(
        b, _foreign(b, watch, watched, _gather(b, LANES_I64, pointers, mask, 8), own, _Role.WRITER)
    )


def _owners(b: ir.IRBuilder, tags: Value) -> Value:
    return b.lshr(tags, splat(b, const(OWNER_SHIFT, I64)))


def _look_at_written(
    b: ir.IRBuilder, watch: Record, watched: Watched, addresses: Value, mask: Value
) -> Value:
    """The lanes that read bytes which nobody wrote."""
    if not (watched.kind.load or watched.kind.atomic):
        return const(0)
    missing = const(0)
    for place, width in _parts(watched.kind):
        kind = ir.VectorType(ir.IntType(8 * width), WARP_LANES)
        ones = ir.Constant(ir.IntType(8 * width), int.from_bytes(b"\1" * width, "little"))
        pointers = _written_pointers(b, watch, addresses, place)
        marks = _gather(b, kind, pointers, mask, 1)
        missing = b.or_(missing, lane_bits(b, b.icmp_unsigned("!=", marks, splat(b, ones))))
    return b.and_(missing, mask)


def _mark_written(
    b: ir.IRBuilder, watch: Record, watched: Watched, addresses: Value, mask: Value
) -> None:
    if watched.kind.load:
        return
    for place, width in _parts(watched.kind):
        ones = ir.Constant(ir.IntType(8 * width), int.from_bytes(b"\1" * width, "little"))
        _scatter(
            b, splat(b, ones), _written_pointers(b, watch, addresses, place), mask, alignment=1
        )


def _parts(kind: AccessKind) -> list[tuple[int, int]]:
    """Pieces of an access that a vector holds: (byte offset, width)."""
    width = kind.bounded_bytes
    return [(place, min(8, width)) for place in range(0, width, 8)]


def _written_pointers(b: ir.IRBuilder, watch: Record, addresses: Value, place: int) -> Value:
    base = b.add(watch.load("written"), const(place, I64))
    return b.inttoptr(b.add(addresses, splat(b, base)), _LANES_POINTER)


def _tag_pointers(
    b: ir.IRBuilder,
    context: Record,
    watch: Record,
    watched: Watched,
    addresses: Value,
    granule: int,
    role: str,
) -> Value:
    return _granule_pointers(b, context, watch, watched, addresses, granule, role, size_shift=3)


def _granule_pointers(
    b: ir.IRBuilder,
    context: Record,
    watch: Record,
    watched: Watched,
    addresses: Value,
    granule: int,
    role: str,
    *,
    size_shift: int,
) -> Value:
    base = watch.load(f"{watched.kind.space}_{role}")
    if watched.kind.space == "shared":
        addresses = b.sub(addresses, splat(b, b.zext(context.load("shared_base"), I64)))
    index = b.add(
        b.lshr(addresses, splat(b, const(watched.shift, I64))), splat(b, const(granule, I64))
    )
    return b.inttoptr(
        b.add(b.shl(index, splat(b, const(size_shift, I64))), splat(b, base)), _LANES_POINTER
    )


def _gather(
    b: ir.IRBuilder, kind: ir.VectorType, pointers: Value, mask: Value, alignment: int
) -> Value:
    name = f"llvm.masked.gather.v32i{kind.element.width}.v32p0"
    callee = _declare(b, name, ir.FunctionType(kind, [_LANES_POINTER, I32, LANES_I1, kind]))
    nothing = (
        ir.Constant(kind, ir.Undefined) if kind.element.width < 64 else splat(b, const(0, I64))
    )
    return b.call(callee, [pointers, const(alignment), bits_to_lanes(b, mask), nothing])


def _scatter(
    b: ir.IRBuilder, values: Value, pointers: Value, mask: Value, *, alignment: int
) -> None:
    name = f"llvm.masked.scatter.v32i{values.type.element.width}.v32p0"
    callee = _declare(b, name, ir.FunctionType(VOID, [values.type, _LANES_POINTER, I32, LANES_I1]))
    b.call(callee, [values, pointers, const(alignment), bits_to_lanes(b, mask)])


def _declare(b: ir.IRBuilder, name: str, kind: ir.FunctionType) -> ir.Function:
    known = b.module.globals.get(name)
    return known if known is not None else ir.Function(b.module, kind, name)


# --- where threads meet ---------------------------------------------------------------------------


def start_block(b: ir.IRBuilder, context: Record, linear: Value) -> None:
    """Forget the last block's shared memory."""
    watch = Record(b, context.load_pointer("watch"), WATCH)
    size = b.zext(watch.load("shared_tag_bytes"), I64)
    memset = _declare(b, "llvm.memset.p0.i64", ir.FunctionType(VOID, [POINTER, I8, I64, I1]))
    for tags in ("shared_writers", "shared_readers"):
        b.call(memset, [watch.load_pointer(tags), const(0, I8), size, const(0, I1)])
    numbered = b.icmp_unsigned("!=", watch.load("block"), const(0, I64))
    watch.store("block", b.select(numbered, b.add(linear, const(1, I64)), const(0, I64)))
    watch.store("acquired", 0)
    end_epoch(b, context)


def end_epoch(b: ir.IRBuilder, context: Record) -> None:
    """What all threads of the block have done so far is ordered before what any of them does from
    here on."""
    watch = Record(b, context.load_pointer("watch"), WATCH)
    watch.add("epoch", const(1, I64))


def pass_fence(b: ir.IRBuilder, context: Record) -> None:
    """The block's writes so far are visible to whoever sees what it writes from here on."""
    watch = Record(b, context.load_pointer("watch"), WATCH)
    place = offset(b, watch.load_pointer("fences"), b.mul(watch.load("block"), const(2, I64)))
    count = b.load(place, typ=I16)
    more = b.icmp_unsigned("<", count, const(DETAIL_MASK, I16))
    b.store(b.select(more, b.add(count, const(1, I16)), count), place)


def acquire(b: ir.IRBuilder, context: Record) -> None:
    """The block has read what other blocks may have told it."""
    Record(b, context.load_pointer("watch"), WATCH).store("acquired", 1)
