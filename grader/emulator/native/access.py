"""Shared and global memory accesses of a warp: check every address, count, move the data.

An access is split in two: `check` (bounds, alignment, counters) and `move` (registers <-> host
memory). Counting is made cheap by remembering, for each instruction, the last pattern of lane
addresses relative to their first: wavefronts and sectors depend on nothing else (for sectors, on
the base modulo 32 too).
"""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.layout import (
    BUFFER,
    CONTEXT,
    FULL_MASK,
    SLOT,
    WARP_LANES,
    FaultCode,
    PatternKind,
)
from grader.emulator.native.counting import (
    SECTOR_BYTES,
    AccessKind,
    define_count_sectors,
    define_count_wavefronts,
    phase_mask,
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
    cell,
    const,
    counting_loop,
    define,
    each_set_bit,
    lane_bits,
    lanes,
    offset,
    splat,
)


def define_check(module: ir.Module, kind: AccessKind, *, watched: bool = False) -> ir.Function:
    """`i1 check(context, slot, addresses, upper, mask)`: whether the access may go on; counts it.

    `addresses` are the lower 32 bits per lane, `upper` the upper ones (ignored for shared memory);
    `mask` is not 0. On a fault the context says which lane and address; the caller adds instruction
    and warp. `watched`: it notes which lanes meet.
    """
    count = (define_count_sectors if kind.space == "global" else define_count_wavefronts)(
        module, kind
    )
    learn = _define_learn(module, kind, count, watched=watched)
    search = _define_search(module, kind)
    function, b = define(
        module, f"check_{kind.name}", I1, [POINTER, POINTER, LANES_I32, LANES_I32, I32]
    )
    context_pointer, slot_pointer, addresses, upper, mask = function.args
    context, slot = Record(b, context_pointer, CONTEXT), Record(b, slot_pointer, SLOT)
    active = b.bitcast(mask, ir.VectorType(I1, WARP_LANES))
    context.store_lanes("lane_addresses", addresses)
    base = context.load("lane_addresses", b.cttz(mask, const(1, I1)))
    granule = SECTOR_BYTES if kind.space == "global" else 4
    base_low = b.and_(base, const(granule - 1))
    deltas = b.select(active, b.sub(addresses, splat(b, base)), lanes([0] * WARP_LANES))
    same = _all(b, b.icmp_unsigned("==", deltas, slot.load_lanes("deltas")))
    same = b.and_(same, b.icmp_unsigned("==", mask, slot.load("mask")))
    same = b.and_(same, b.icmp_unsigned("==", base_low, slot.load("base_low")))
    with b.if_then(b.not_(same), likely=False):
        b.call(learn, [context_pointer, slot_pointer, deltas, base_low, mask])
    slot.add("requests_total", const(1, I64))
    for counter, field in (
        ("passes_total", "passes"),
        ("passes_ideal_total", "passes_ideal"),
        ("bytes_total", "bytes"),
    ):
        slot.add(counter, b.zext(slot.load(field), I64))
    start = b.zext(base, I64)
    lowest = b.add(start, b.sext(slot.load("lowest"), I64))
    end = b.add(b.add(start, b.sext(slot.load("highest"), I64)), const(kind.bounded_bytes, I64))
    inside = b.and_(
        b.icmp_signed(">=", lowest, slot.load("first")), b.icmp_signed("<=", end, slot.load("end"))
    )
    low_bits = b.or_(slot.load("low_bits"), base)
    aligned = b.icmp_unsigned("==", b.and_(low_bits, const(kind.width - 1)), const(0))
    good = b.and_(inside, aligned)
    if kind.space == "global":
        window = splat(b, context.load("global_window"))
        strays = b.and_(lane_bits(b, b.icmp_unsigned("!=", upper, window)), mask)
        good = b.and_(good, b.icmp_unsigned("==", strays, const(0)))
    with b.if_then(good, likely=True):
        b.ret(const(1, I1))
    b.ret(b.call(search, [context_pointer, slot_pointer, addresses, upper, mask]))
    return function


def _define_learn(
    module: ir.Module, kind: AccessKind, count: ir.Function, *, watched: bool
) -> ir.Function:
    """`void learn(context, slot, deltas, base_low, mask)`: remember a pattern, its extent, its kind
    and its counts."""
    function, b = define(
        module, f"learn_{kind.name}", VOID, [POINTER, POINTER, LANES_I32, I32, I32]
    )
    context_pointer, slot_pointer, deltas, base_low, mask = function.args
    context, slot = Record(b, context_pointer, CONTEXT), Record(b, slot_pointer, SLOT)
    slot.store_lanes("deltas", deltas)
    slot.store("mask", mask)
    slot.store("base_low", base_low)
    lowest = cell(b, I32)
    highest = cell(b, I32)
    low_bits = cell(b, I32)
    for variable in (lowest, highest, low_bits):
        b.store(const(0), variable)  # the base itself is an active lane: its delta is 0
    with each_set_bit(b, mask) as lane:
        delta = slot.load("deltas", lane)
        low, high = b.load(lowest, typ=I32), b.load(highest, typ=I32)
        b.store(b.select(b.icmp_signed("<", delta, low), delta, low), lowest)
        b.store(b.select(b.icmp_signed(">", delta, high), delta, high), highest)
        b.store(b.or_(b.load(low_bits, typ=I32), delta), low_bits)
    slot.store("lowest", b.load(lowest, typ=I32))
    slot.store("highest", b.load(highest, typ=I32))
    slot.store("low_bits", b.load(low_bits, typ=I32))
    full = b.icmp_unsigned("==", mask, const(FULL_MASK))
    ramp = lanes(range(0, WARP_LANES * kind.width, kind.width))
    contiguous = b.and_(full, _all(b, b.icmp_unsigned("==", deltas, ramp)))
    broadcast = b.and_(full, _all(b, b.icmp_unsigned("==", deltas, lanes([0] * WARP_LANES))))
    general = b.select(broadcast, const(PatternKind.BROADCAST), const(PatternKind.GENERAL))
    slot.store("kind", b.select(contiguous, const(PatternKind.CONTIGUOUS), general))
    saved = context.load_lanes("lane_addresses")
    if watched and not kind.atomic:
        slot.store("meeting", _meeting_lanes(b, slot, deltas, mask))
    context.store_lanes("lane_addresses", b.add(deltas, splat(b, base_low)))
    b.call(count, [context_pointer, slot_pointer, mask])
    context.store_lanes("lane_addresses", saved)
    b.ret_void()
    return function


def _meeting_lanes(b: ir.IRBuilder, slot: Record, deltas: Value, mask: Value) -> Value:
    """The active lanes whose address another active lane has too."""
    meeting = cell(b, I32)
    b.store(const(0), meeting)
    with each_set_bit(b, mask) as lane:
        same = b.and_(
            lane_bits(b, b.icmp_unsigned("==", deltas, splat(b, slot.load("deltas", lane)))), mask
        )
        several = b.icmp_unsigned("!=", b.and_(same, b.sub(same, const(1))), const(0))
        b.store(b.or_(b.load(meeting, typ=I32), b.select(several, same, const(0))), meeting)
    return b.load(meeting, typ=I32)


def _define_search(module: ir.Module, kind: AccessKind) -> ir.Function:
    """`i1 search(context, slot, addresses, upper, mask)`: the careful check, lane by lane; records
    the first bad lane.

    Remembers the last lane's buffer in the slot, so that the next access near it takes the fast
    path.
    """
    function, b = define(
        module, f"search_{kind.name}", I1, [POINTER, POINTER, LANES_I32, LANES_I32, I32]
    )
    context_pointer, slot_pointer, addresses, upper, mask = function.args
    context, slot = Record(b, context_pointer, CONTEXT), Record(b, slot_pointer, SLOT)
    lows, highs = cell(b, LANES_I32), cell(b, LANES_I32)
    b.store(addresses, lows)
    b.store(upper, highs)
    found = cell(b, I1)
    bounds, alignment = (
        (FaultCode.GLOBAL_BOUNDS, FaultCode.GLOBAL_ALIGNMENT)
        if kind.space == "global"
        else (FaultCode.SHARED_BOUNDS, FaultCode.SHARED_ALIGNMENT)
    )
    with each_set_bit(b, mask) as lane:
        low = b.load(b.gep(lows, [lane], source_etype=I32), typ=I32)
        high = (
            b.load(b.gep(highs, [lane], source_etype=I32), typ=I32)
            if kind.space == "global"
            else const(0)
        )
        misaligned = b.icmp_unsigned("!=", b.and_(low, const(kind.width - 1)), const(0))
        with b.if_then(misaligned, likely=False):
            _record_fault(b, context, alignment, lane, low, high)
            b.ret(const(0, I1))
        b.store(const(0, I1), found)
        start = b.zext(low, I64)
        end = b.add(start, const(kind.bounded_bytes, I64))
        if kind.space == "global":
            with counting_loop(b, context.load("buffer_count")) as index:
                buffer = Record(
                    b,
                    offset(
                        b,
                        context.load_pointer("buffers"),
                        b.mul(b.zext(index, I64), const(BUFFER.itemsize, I64)),
                    ),
                    BUFFER,
                )
                first, past = buffer.load("first"), buffer.load("end")
                within = b.and_(
                    b.icmp_unsigned(">=", start, first), b.icmp_unsigned("<=", end, past)
                )
                within = b.and_(within, b.icmp_unsigned("==", high, context.load("global_window")))
                with b.if_then(within):
                    b.store(const(1, I1), found)
                    slot.store("first", first)
                    slot.store("end", past)
        else:
            first = b.zext(context.load("shared_base"), I64)
            past = b.add(first, b.zext(context.load("shared_bytes"), I64))
            b.store(
                b.and_(b.icmp_unsigned(">=", start, first), b.icmp_unsigned("<=", end, past)), found
            )
            slot.store("first", first)
            slot.store("end", past)
        with b.if_then(b.not_(b.load(found, typ=I1)), likely=False):
            _record_fault(b, context, bounds, lane, low, high)
            b.ret(const(0, I1))
    b.ret(const(1, I1))
    return function


def _record_fault(
    b: ir.IRBuilder, context: Record, code: int, lane: Value, low: Value, high: Value
) -> None:
    context.store("fault_code", code)
    context.store("fault_lane", lane)
    context.store(
        "fault_address", b.or_(b.zext(low, I64), b.shl(b.zext(high, I64), const(32, I64)))
    )


def define_check_local(module: ir.Module, kind: AccessKind) -> ir.Function:
    """`i1 check(context, slot, addresses, upper, mask)` for local memory: each lane has its own,
    one after another. Not counted."""
    function, b = define(
        module, f"check_{kind.name}", I1, [POINTER, POINTER, LANES_I32, LANES_I32, I32]
    )
    context = Record(b, function.args[0], CONTEXT)
    addresses, mask = function.args[2], function.args[4]
    size = context.load("local_bytes")
    context.store_lanes(
        "lane_addresses", b.add(addresses, b.mul(lanes(range(WARP_LANES)), splat(b, size)))
    )
    last = splat(b, b.sub(size, const(kind.width)))
    too_small = b.icmp_unsigned("<", size, const(kind.width))
    outside = b.select(
        too_small, const(FULL_MASK), lane_bits(b, b.icmp_unsigned(">", addresses, last))
    )
    uneven = lane_bits(
        b,
        b.icmp_unsigned(
            "!=", b.and_(addresses, splat(b, const(kind.width - 1))), lanes([0] * WARP_LANES)
        ),
    )
    for wrong, code in ((outside, FaultCode.LOCAL_BOUNDS), (uneven, FaultCode.LOCAL_ALIGNMENT)):
        lanes_wrong = b.and_(wrong, mask)
        with b.if_then(b.icmp_unsigned("!=", lanes_wrong, const(0)), likely=False):
            lane = b.cttz(lanes_wrong, const(0, I1))
            context.store("fault_code", code)
            context.store("fault_lane", lane)
            b.store(addresses, context.at("lane_data", 0), align=4)
            context.store("fault_address", b.zext(context.load("lane_data", lane), I64))
            b.ret(const(0, I1))
    b.ret(const(1, I1))
    return function


def define_gather(module: ir.Module, width: int, *, signed: bool) -> ir.Function:
    """`i1 gather(context, bank, size, offsets, mask)`: a constant per lane into `lane_data`; false
    when one lies beyond the bank."""
    name = f"gather_{width}{'_signed' if signed else ''}"
    function, b = define(module, name, I1, [POINTER, POINTER, I32, LANES_I32, I32])
    context = Record(b, function.args[0], CONTEXT)
    bank, size, offsets, mask = function.args[1:]
    context.store_lanes("lane_addresses", offsets)
    with each_set_bit(b, mask) as lane:
        start = context.load("lane_addresses", lane)
        end = b.add(b.zext(start, I64), const(width, I64))
        misplaced = b.or_(
            b.icmp_unsigned(">", end, b.zext(size, I64)),
            b.icmp_unsigned("!=", b.and_(start, const(width - 1)), const(0)),
        )
        with b.if_then(misplaced, likely=False):
            _record_fault(b, context, FaultCode.CONSTANT_BOUNDS, lane, start, const(0))
            b.ret(const(0, I1))
        place = offset(b, bank, b.zext(start, I64))
        for word in range(max(1, width // 4)):
            _move_word(
                b,
                context,
                offset(b, place, 4 * word),
                b.add(lane, const(word * WARP_LANES)),
                width,
                load=True,
                signed=signed,
            )
    b.ret(const(1, I1))
    return function


def define_move(module: ir.Module, width: int, *, load: bool, signed: bool = False) -> ir.Function:
    """`void move(context, slot, host, mask)`: move the data of an access that was checked.

    `host` is the host address of the space's address 0; lane addresses lie in the context, data
    words in `lane_data`, 32 lanes a word. Of several lanes that write one address, an H100 lets the
    lowest win within each phase (32 lanes up to 4 bytes, 16 lanes of 8 bytes, 8 lanes of 16), and
    later phases overwrite earlier ones: probed for shared and global memory at all widths. PTX
    leaves it undefined.
    """
    name = f"move_{'load' if load else 'store'}_{width}{'_signed' if signed else ''}"
    function, b = define(module, name, VOID, [POINTER, POINTER, POINTER, I32])
    context, slot = Record(b, function.args[0], CONTEXT), Record(b, function.args[1], SLOT)
    host, mask = function.args[2], function.args[3]
    words = max(1, width // 4)
    kind = slot.load("kind")
    if width == 4:
        with b.if_then(b.icmp_unsigned("==", kind, const(PatternKind.CONTIGUOUS))):
            _move_contiguous(b, context, host, load=load)
            b.ret_void()
    if load and width >= 4:
        with b.if_then(b.icmp_unsigned("==", kind, const(PatternKind.BROADCAST))):
            source = offset(b, host, b.zext(context.load("lane_addresses", 0), I64))
            for word in range(words):
                value = b.load(offset(b, source, 4 * word), typ=I32, align=4)
                b.store(splat(b, value), context.at("lane_data", word * WARP_LANES), align=4)
            b.ret_void()
    phases = 1 if load else words
    for phase in range(phases):
        lanes_of_phase = b.and_(mask, const(phase_mask(phase, WARP_LANES // phases)))
        with each_set_bit(b, lanes_of_phase, highest_first=not load) as lane:
            place = offset(b, host, b.zext(context.load("lane_addresses", lane), I64))
            for word in range(words):
                _move_word(
                    b,
                    context,
                    offset(b, place, 4 * word),
                    b.add(lane, const(word * WARP_LANES)),
                    width,
                    load=load,
                    signed=signed,
                )
    b.ret_void()
    return function


def _move_contiguous(b: ir.IRBuilder, context: Record, host: Value, *, load: bool) -> None:
    place = offset(b, host, b.zext(context.load("lane_addresses", 0), I64))
    data = context.at("lane_data", 0)
    source, target = (place, data) if load else (data, place)
    b.store(b.load(source, typ=LANES_I32, align=4), target, align=4)


def _move_word(
    b: ir.IRBuilder,
    context: Record,
    place: Value,
    index: Value,
    width: int,
    *,
    load: bool,
    signed: bool,
) -> None:
    narrow = ir.IntType(8 * min(width, 4))
    if load:
        value = b.load(place, typ=narrow, align=1)
        if width < 4:
            value = b.sext(value, I32) if signed else b.zext(value, I32)
        context.store("lane_data", value, index)
    else:
        value = context.load("lane_data", index)
        b.store(b.trunc(value, narrow) if width < 4 else value, place, align=1)


def _all(b: ir.IRBuilder, condition: Value) -> Value:
    return b.icmp_unsigned("==", lane_bits(b, condition), const(FULL_MASK))
