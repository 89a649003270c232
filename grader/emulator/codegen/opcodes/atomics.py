"""Atomic operations on shared (ATOMS), global (ATOMG, REDG) and generic addresses (ATOM, RED).

If blocks can observe the order of global atomics, a single host thread runs the launch, block after
block (`Opcode.ordered`).
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.atomic_lanes import (
    AtomicKind,
    define_atomic,
    is_float_operation,
)
from grader.emulator.codegen.opcodes.known_access import AccessKind, Lanes
from grader.emulator.codegen.opcodes.load_store import (
    access,
    count_bytes_elsewhere,
    follow,
    lane_addresses,
    lane_data,
    lanes_in,
    set_lane_data,
)
from grader.emulator.codegen.opcodes.row import Emit, Opcode, row
from grader.emulator.codegen.tools import Value
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import (
    TRUE_PREDICATE,
    ZERO_REGISTER,
    Address,
    Operand,
    Predicate,
    Register,
)
from grader.emulator.isa.program import Unsupported
from grader.emulator.layouts.execution import Follow
from grader.emulator.timing.pipes import GLOBAL_ATOMIC, SHARED_ACCESS
from grader.sass import MemoryOperation

_OPERATIONS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS", "CAST", "POPC")
_LOCKS = {"CAS", "CAST"}
"""Operations that may take a lock. Others read what they change, but wait for no value."""
_TYPES = (
    *("S32", "64", "S64", "128", "F32", "F64", "F16x2", "F16x4", "F16x8"),
    *("BF16x2", "BF16x4", "BF16x8", "F32x2", "F32x4"),
)


@dataclass(frozen=True)
class _Atomic:
    """The parts of an instruction; `target` receives the old value."""

    kind: AtomicKind
    target: Register | None
    address: Address
    sources: tuple[Register, ...]


def atomic_kind(i: Decoded, *, shared: bool = False) -> AtomicKind:
    """The operation of an atomic instruction."""
    operation = i.first_of(_OPERATIONS)
    named = i.first_of(_TYPES) or "U32"
    flushes = named.startswith("F32")
    if (
        operation is None
        or i.has("FTZ") != flushes
        or ("F" in named and not is_float_operation(operation, named))
    ):
        raise Unsupported(f"{i.opcode} in this form", i.line)
    kind = f"U{named}" if named.isdecimal() else named
    operation = "ADD" if operation == "POPC" else operation
    return AtomicKind(operation, kind, shared_by_threads=not shared)


def shared_atomic(e: Emitter, i: Decoded) -> None:
    """ATOMS d, [a], b. `.POPC.INC` adds 1 for each lane and has no source; `.CAST.SPIN` returns
    whether it swapped, in a register or (sm_100 and sm_120) a predicate."""
    target, address, *sources = i.operands
    kind, truth = atomic_kind(i, shared=True), None
    if isinstance(target, Predicate) and kind.operation == "CAST":
        truth, target = target, Register(ZERO_REGISTER)
    atomic = _take_apart(e, kind, target, address, sources)
    low, high = lane_addresses(e, address)
    words = [e.const(1)] if i.has("POPC") else _words(e, atomic)
    lanes = Lanes(low, high, e.lane_mask())
    results = take_turns(e, i, kind, "shared", lanes, words, _zeros(e, atomic))
    if truth is not None:
        e.set_predicate(truth, e.b.icmp_unsigned("!=", results[0], e.const(0)))
    _write(e, atomic, results)


def global_atomic(e: Emitter, i: Decoded) -> None:
    """ATOMG P, d, [a], b"""
    done, target, address, *sources = i.operands
    if not isinstance(done, Predicate) or not done.is_true:
        raise e.unsupported("with a predicate")
    _at_global(e, i, _take_apart(e, atomic_kind(i), target, address, sources))


def global_reduction(e: Emitter, i: Decoded) -> None:
    """REDG [a], b"""
    address, *sources = i.operands
    _at_global(e, i, _take_apart(e, atomic_kind(i), None, address, sources))


def _at_global(e: Emitter, i: Decoded, atomic: _Atomic) -> None:
    low, high = lane_addresses(e, atomic.address)
    lanes = Lanes(low, high, e.lane_mask())
    words = _words(e, atomic)
    _write(e, atomic, take_turns(e, i, atomic.kind, "global", lanes, words, _zeros(e, atomic)))


def generic_atomic(e: Emitter, i: Decoded) -> None:
    """ATOM P, d, [a], b: at global or shared addresses. With a predicate P, only at global
    addresses; P = whether the lane's address is global."""
    done, target, address, *sources = i.operands
    if not isinstance(done, Predicate):
        raise e.unsupported("without a predicate")
    _generic(e, i, _take_apart(e, atomic_kind(i), target, address, sources), done)


def generic_reduction(e: Emitter, i: Decoded) -> None:
    """RED [a], b"""
    address, *sources = i.operands
    _generic(e, i, _take_apart(e, atomic_kind(i), None, address, sources))


_EVERYWHERE = Predicate(TRUE_PREDICATE)


def _generic(e: Emitter, i: Decoded, atomic: _Atomic, done: Predicate = _EVERYWHERE) -> None:
    low, high = lane_addresses(e, atomic.address)
    count_bytes_elsewhere(e, low, high, width=atomic.kind.width)
    lanes = e.lane_mask()
    in_shared, in_local = (lanes_in(e, space, high, lanes) for space in ("shared", "local"))
    global_only = not done.is_true
    elsewhere = e.b.or_(in_shared, in_local) if global_only else in_shared
    in_global = e.b.and_(lanes, e.b.not_(elsewhere))
    words, old = _words(e, atomic), _zeros(e, atomic)
    results = take_turns(e, i, atomic.kind, "global", Lanes(low, high, in_global), words, old)
    if global_only:
        e.set_predicate(done, e.lanes_of(in_global))
    else:
        old = _chosen(e, in_global, results, old)
        others = Lanes(low, high, in_shared)
        results = take_turns(e, i, atomic.kind, "shared", others, words, old)
        results = _chosen(e, in_shared, results, old)
    _write(e, atomic, results)


def _chosen(e: Emitter, lanes: Value, results: list[Value], old: list[Value]) -> list[Value]:
    """The results in these lanes, the old values in the others."""
    return [
        e.b.select(e.lanes_of(lanes), result, before)
        for result, before in zip(results, old, strict=True)
    ]


def take_turns(
    e: Emitter,
    i: Decoded,
    kind: AtomicKind,
    space: str,
    lanes: Lanes,
    words: list[Value],
    old: list[Value],
) -> list[Value]:
    """Checks and counts the access (see `access`), then lets the lanes take turns. Returns the old
    values, or `old` if no lane takes part."""
    set_lane_data(e, words)
    made = _access_kind(i, kind, space)
    access(e, i, made, lanes)
    host = e.context.load_pointer(f"{space}_host")
    e.b.call(define_atomic(e.function.module, kind), [e.context_pointer, host, lanes.mask])
    if space == "global":
        uses = Follow.READS * (kind.operation in _LOCKS) | Follow.FETCHES * _fetches(i)
        follow(e, made, lanes, Follow.WRITES | Follow.STRONG | uses)
    none = e.none(lanes.mask)
    return [e.b.select(none, *each) for each in zip(old, lane_data(e, len(old)), strict=True)]


def _access_kind(i: Decoded, kind: AtomicKind, space: str) -> AccessKind:
    """The kind under which it is counted. In shared memory, lanes with equal addresses take turns,
    except for `.POPC.INC`, which adds their number, and for `.CAST.SPIN`, where a single lane per
    bank succeeds. The two operands of a compare-and-swap pass in turn (observed on an H100 and an
    H200).
    """
    shared, spins = space == "shared", kind.operation == "CAST"
    return AccessKind(
        space,
        load=False,
        width=kind.width,
        atomic=True,
        turns=shared and not spins and not i.has("POPC"),
        rounds=2 if shared and kind.operation in ("CAS", "CAST") else 1,
        one_a_bank=spins,
    )


def _take_apart(
    e: Emitter, kind: AtomicKind, target: Operand | None, address: Operand, sources: list[Operand]
) -> _Atomic:
    registers = tuple(each for each in sources if isinstance(each, Register))
    wanted = 2 if kind.operation in ("CAS", "CAST") else 1
    if not sources and e.instruction.has("POPC"):
        wanted = 0
    if (
        len(registers) != len(sources)
        or len(registers) != wanted
        or any(each != Register(each.index) for each in registers)
        or not isinstance(address, Address)
        or not isinstance(target, Register | None)
    ):
        raise e.unsupported("with these operands")
    if e.instruction.base != "ATOMS" and not address.wide:  # CAS prints `[R2+0x10]` for the pair R2
        if not e.instruction.has("E") or address.uniform is not None or address.register is None:
            raise e.unsupported("with this address")
        base = Register(address.register.index, suffix="64")
        address = Address(base, None, address.offset, wide=True)
    return _Atomic(kind, target, address, registers)


def _zeros(e: Emitter, atomic: _Atomic) -> list[Value]:
    """The words that a target receives where no lane takes part."""
    return [e.const(0)] * (atomic.kind.width // 4 if atomic.target is not None else 0)


def _words(e: Emitter, atomic: _Atomic) -> list[Value]:
    count = atomic.kind.width // 4
    return [word for source in atomic.sources for word in e.data_words(source, count)]


def _write(e: Emitter, atomic: _Atomic, results: list[Value]) -> None:
    target = atomic.target
    if target is None or target.is_zero:
        return
    for word, value in enumerate(results):
        kept = e.register(target.index + word)
        taken = e.lanes_of(e.lane_mask())
        e.set(Register(target.index + word), e.b.select(taken, value, kept))


def _sees_order(i: Decoded) -> bool:
    """Whether the result depends on the order of blocks."""
    return _fetches(i) or not atomic_kind(i).commutes


def _fetches(i: Decoded) -> bool:
    return any(access.kind is MemoryOperation.FETCH for access in i.accesses)


_NAMES = f"{' '.join(_OPERATIONS)} INC 32 SPIN {' '.join(_TYPES)}"
_GLOBAL_NAMES = f"E STRONG WEAK GPU SM SYS CTA {_NAMES} FTZ RN"


def _global_row(emit: Emit) -> Opcode:
    return row(emit, _GLOBAL_NAMES, pipe=GLOBAL_ATOMIC, ordered=_sees_order)


ATOMICS: dict[str, Opcode] = {
    "ATOMS": row(shared_atomic, _NAMES, pipe=SHARED_ACCESS),
    "ATOMG": _global_row(global_atomic),
    "REDG": _global_row(global_reduction),
    "ATOM": _global_row(generic_atomic),
    "RED": _global_row(generic_reduction),
}
