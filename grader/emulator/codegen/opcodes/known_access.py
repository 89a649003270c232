"""Kinds of memory accesses, and the fast path of an access.

The runtime has a function per kind that checks, counts and moves the data
(cpp/memory/accesses.h). The fast path is for a whole warp whose access repeats the previous
pattern of its instruction. The step compares the lanes' addresses with the pattern that the runtime
remembers, adds the access's costs, and moves adjacent data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.tools import (
    I16,
    I32,
    I64,
    POINTER,
    VOID,
    Record,
    Value,
    call_by_name,
    const,
    offset,
)
from grader.emulator.layouts.execution import (
    CACHE_LINE,
    COSTS,
    FULL_MASK,
    PATTERN,
    SECTOR_BYTES,
    SLOT,
    WARP_LANES,
    AccessFlag,
    PatternKind,
)


@dataclass(frozen=True)
class AccessKind:
    """A kind of access: `space` is `shared`, `global` or `local`, `width` in bytes.

    `part`: only the first byte is certainly accessed. `copied`: one of the two accesses of an
    asynchronous copy, which are counted together; its store happens later. For atomics in shared
    memory, `turns`: lanes with equal addresses take turns; `rounds`: passes of the data, two for a
    compare-and-swap; `one_a_bank`: of the lanes that use a bank, only the first passes. `matrix`:
    the data of each eight lanes are a matrix.
    """

    space: str
    load: bool
    width: int
    atomic: bool = False
    part: bool = False
    copied: bool = False
    turns: bool = False
    rounds: int = 1
    matrix: bool = False
    one_a_bank: bool = False

    @property
    def words(self) -> int:
        """32-bit words of a lane's data, at least 1."""
        return max(1, self.width // 4)

    @property
    def function(self) -> str:
        """Name of the runtime's function for such accesses, without prefix."""
        verb = "atomic" if self.atomic else "load" if self.load else "store"
        return f"{verb}_{self.space}_{self.width}"

    @property
    def later(self) -> bool:
        """Whether the data moves after the access is counted."""
        return self.copied and not self.load

    @property
    def flags(self) -> int:
        """Its AccessFlag bits."""
        return (
            AccessFlag.PART * self.part
            | AccessFlag.COPIED * self.copied
            | AccessFlag.LATER * self.later
            | AccessFlag.TURNS * self.turns
            | AccessFlag.TWICE * (self.rounds == 2)
            | AccessFlag.MATRIX * self.matrix
            | AccessFlag.ONE_A_BANK * self.one_a_bank
        )


_WORD_BYTES = 4
_WARP_BYTES = _WORD_BYTES * WARP_LANES
_TOTALS, _COST = ir.VectorType(I64, COSTS), ir.VectorType(I16, COSTS)
_COST_BYTES = 2 * COSTS
_OFTEN = (1000, 1)


@dataclass(frozen=True)
class Lanes:
    """A mask of lanes, and the lower and upper 32 bits of every lane's address."""

    low: Value
    high: Value
    mask: Value


@dataclass(frozen=True)
class RuntimeCalls:
    """Calls of the runtime: `move` moves data of an access that is counted, `access` does all."""

    move: Callable[[], None]
    access: Callable[[], None]


def has_fast_path(e: Emitter, kind: AccessKind) -> bool:
    """Whether a step executes accesses of this kind itself."""
    return e.converged and not kind.atomic and not kind.part and kind.space != "local"


def emit_fast_path(
    e: Emitter, kind: AccessKind, lanes: Lanes, *, slot: Value, words: Value, calls: RuntimeCalls
) -> None:
    """Emits an access, with data from or to address `words`; `slot` is the address of its SLOT."""
    record, base = Record(e.b, slot, SLOT), e.b.extract_element(lanes.low, const(0))
    pattern = Record(e.b, record.at("patterns", record.load("current")), PATTERN)
    careful = e.new_block("careful")
    done = e.new_block("done")
    cost = _cost_place(e, pattern, base)
    for condition in _conditions(e, kind, lanes, pattern, base=base, cost=cost):
        known = e.new_block("known")
        e.b.cbranch(condition, known, careful).set_weights(_OFTEN)
        e.b.position_at_end(known)
    if not kind.copied:
        add_cost(e, record, cost)
    if not kind.later:
        _move(e, kind, pattern, base, words=words, done=done)
    calls.move()
    e.b.branch(done)
    e.b.position_at_end(careful)
    calls.access()
    e.b.branch(done)
    e.b.position_at_end(done)


def _cost_place(e: Emitter, pattern: Record, base: Value) -> Value:
    row = e.b.zext(e.b.and_(base, const(SECTOR_BYTES - 1)), I64)
    return offset(e.b, pattern.at("costs"), e.b.mul(row, const(_COST_BYTES, I64)))


def _conditions(
    e: Emitter, kind: AccessKind, lanes: Lanes, pattern: Record, *, base: Value, cost: Value
) -> Iterator[Value]:
    """Conditions of the fast path: a whole warp's access that is neither traced nor checked, and
    that repeats the pattern at a counted and valid base (`count_known` of patterns.h)."""
    b = e.b
    yield b.icmp_unsigned(">=", e.warp.load("trace"), e.warp.load("trace_end"))
    yield b.not_(e.is_checked())
    yield b.icmp_unsigned("==", b.and_(lanes.mask, pattern.load("mask")), const(FULL_MASK))
    yield b.icmp_unsigned("!=", b.load(cost, typ=I16), const(0, I16))
    yield b.icmp_unsigned("==", b.and_(base, const(kind.width - 1)), const(0))
    behind = b.sub(b.zext(base, I64), pattern.load("first_base"))
    yield b.icmp_unsigned("<=", behind, pattern.load("more_bases"))
    deltas = b.sub(lanes.low, e.splat(base))
    differing = b.xor(deltas, pattern.load_lanes("deltas"))
    if kind.space == "global":
        window = e.splat(e.context.load("global_window"))
        differing = b.or_(differing, b.xor(lanes.high, window))
    some = b.icmp_unsigned("!=", differing, e.splat(const(0)))
    yield b.icmp_unsigned("==", e.mask_of(some), const(0))


def add_cost(e: Emitter, slot: Record, cost: Value) -> None:
    """Adds a cost to the slot's totals, which are in the order of Cost."""
    totals = slot.at("requests_total")
    added = e.b.zext(e.b.load(cost, typ=_COST, align=2), _TOTALS)
    e.b.store(e.b.add(e.b.load(totals, typ=_TOTALS, align=8), added), totals, align=8)


def _move(
    e: Emitter, kind: AccessKind, pattern: Record, base: Value, *, words: Value, done: ir.Block
) -> None:
    """Moves data that is adjacent in memory, and branches to `done`."""
    pattern_kind = pattern.load("kind")
    host = e.b.add(e.context.load(f"{kind.space}_host"), e.b.zext(base, I64))
    place = e.b.inttoptr(host, POINTER)

    def move_if(wanted: int, move: Callable[[], None]) -> None:
        holds = e.b.icmp_unsigned("==", pattern_kind, const(wanted))
        with e.b.if_then(holds):
            move()
            e.b.branch(done)

    def move_row() -> None:
        source, target = (place, words) if kind.load else (words, place)
        e.b.store(e.load_lanes(source), target, align=4)
        if kind.space == "global":
            _prefetch_behind(e, place)

    def spread() -> None:
        for word in range(kind.words):
            value = e.b.load(offset(e.b, place, _WORD_BYTES * word), typ=I32)
            there = offset(e.b, words, _WARP_BYTES * word)
            e.b.store(e.splat(value), there, align=4)

    # for stores to global memory, the runtime prefetches the likely place of the next store
    if kind.width == _WORD_BYTES and (kind.load or kind.space == "shared"):
        move_if(PatternKind.CONTIGUOUS, move_row)
    if kind.width >= _WORD_BYTES and kind.load:
        move_if(PatternKind.BROADCAST, spread)


def _prefetch_behind(e: Emitter, place: Value) -> None:
    """Prefetches the bytes after a row: see `prefetch_next` in moves.h."""
    for byte in range(_WARP_BYTES, 2 * _WARP_BYTES, CACHE_LINE):
        read, near, data = const(0), const(3), const(1)
        arguments = [offset(e.b, place, byte), read, near, data]
        call_by_name(e.b, "llvm.prefetch.p0", VOID, arguments)
