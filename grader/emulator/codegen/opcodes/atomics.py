"""Atomic operations on shared (ATOMS), global (ATOMG, REDG) and generic addresses (ATOM, RED).

If blocks can observe the order of global atomics, a single host thread runs the launch, block after
block (`Opcode.ordered`).
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.codegen.access import AccessKind
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.atomic_lanes import (
    AtomicKind,
    define_atomic,
    is_float_operation,
)
from grader.emulator.codegen.opcodes.generic import count_bytes_elsewhere, lanes_in
from grader.emulator.codegen.opcodes.known_access import Lanes
from grader.emulator.codegen.opcodes.load_store import (
    access,
    lane_addresses,
    lane_data,
    set_lane_data,
)
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import Value, bits_to_lanes, const
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
from grader.emulator.timing.pipes import GLOBAL_ATOMIC, SHARED_ACCESS
from grader.sass import MemoryOperation

_OPERATIONS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS", "CAST", "POPC")
_TYPES = {
    "S32": 4,
    "64": 8,
    "S64": 8,
    "128": 16,
    "F32": 4,
    "F64": 8,
    "F16x2": 4,
    "F16x4": 8,
    "F16x8": 16,
    "BF16x2": 4,
    "BF16x4": 8,
    "BF16x8": 16,
    "F32x2": 8,
    "F32x4": 16,
}


@dataclass(frozen=True)
class _Atomic:
    """The parts of an instruction. `done`: the predicate that receives whether the hardware could
    execute it at this address."""

    kind: AtomicKind
    done: Predicate | None
    target: Register | None
    address: Address
    sources: tuple[Register, ...]


def atomic_kind(i: Decoded, *, shared: bool = False) -> AtomicKind:
    """The operation of an atomic instruction."""
    operation = next((name for name in i.modifiers if name in _OPERATIONS), None)
    named = next((name for name in i.modifiers if name in _TYPES), "U32")
    flushes = named.startswith("F32")
    if (
        operation is None
        or i.has("FTZ") != flushes
        or ("F" in named and not is_float_operation(operation, named))
    ):
        raise Unsupported(f"{i.opcode} in this form", i.line)
    width = _TYPES.get(named, 4)
    kind = f"U{named}" if named.isdecimal() else named
    return AtomicKind(
        "ADD" if operation == "POPC" else operation, kind, width, shared_by_threads=not shared
    )


def shared_atomic(e: Emitter, i: Decoded) -> None:
    """ATOMS d, [a], b. `.POPC.INC` adds 1 for each lane and has no source; `.CAST.SPIN` returns
    whether it swapped, in a register or (sm_100 and sm_120) a predicate."""
    target, address, *sources = i.operands
    kind, truth = atomic_kind(i, shared=True), None
    if isinstance(target, Predicate) and kind.operation == "CAST":
        truth, target = target, Register(ZERO_REGISTER)
    atomic = _take_apart(e, kind, None, target, address, sources)
    low, high = lane_addresses(e, address)
    old = [e.const(0)] * (atomic.kind.width // 4)
    words = [e.const(1)] if i.has("POPC") else _words(e, atomic)
    results = take_turns(e, i, kind, "shared", Lanes(low, high, e.lane_mask()), words, old)
    if truth is not None:
        e.set_predicate(truth, e.b.icmp_unsigned("!=", results[0], e.const(0)))
    _write(e, atomic, results)


def global_atomic(e: Emitter, i: Decoded) -> None:
    """ATOMG P, d, [a], b"""
    done, target, address, *sources = i.operands
    if not isinstance(done, Predicate) or done.index != TRUE_PREDICATE:
        raise e.unsupported("with a predicate")
    atomic = _take_apart(e, atomic_kind(i), None, target, address, sources)
    low, high = lane_addresses(e, atomic.address)
    old = [e.const(0)] * (atomic.kind.width // 4)
    _write(
        e,
        atomic,
        take_turns(
            e,
            i,
            atomic.kind,
            "global",
            Lanes(low, high, e.lane_mask()),
            _words(e, atomic),
            old,
        ),
    )


def global_reduction(e: Emitter, i: Decoded) -> None:
    """REDG [a], b"""
    address, *sources = i.operands
    atomic = _take_apart(e, atomic_kind(i), None, None, address, sources)
    low, high = lane_addresses(e, atomic.address)
    lanes = Lanes(low, high, e.lane_mask())
    take_turns(e, i, atomic.kind, "global", lanes, _words(e, atomic), [])


def generic_atomic(e: Emitter, i: Decoded) -> None:
    """ATOM P, d, [a], b: at global or shared addresses. With a predicate P, only at global
    addresses; P = whether the lane's address is global."""
    done, target, address, *sources = i.operands
    if not isinstance(done, Predicate):
        raise e.unsupported("without a predicate")
    _generic(e, i, _take_apart(e, atomic_kind(i), done, target, address, sources))


def generic_reduction(e: Emitter, i: Decoded) -> None:
    """RED [a], b"""
    address, *sources = i.operands
    _generic(e, i, _take_apart(e, atomic_kind(i), None, None, address, sources))


def _generic(e: Emitter, i: Decoded, atomic: _Atomic) -> None:
    low, high = lane_addresses(e, atomic.address)
    count_bytes_elsewhere(e, low, high, width=atomic.kind.width)
    lanes = e.lane_mask()
    in_shared, in_local = (lanes_in(e, space, high, lanes) for space in ("shared", "local"))
    global_only = atomic.done is not None and atomic.done.index != TRUE_PREDICATE
    elsewhere = e.b.or_(in_shared, in_local) if global_only else in_shared
    in_global = e.b.and_(lanes, e.b.not_(elsewhere))
    words = _words(e, atomic)
    old = [e.const(0)] * (atomic.kind.width // 4 if atomic.target is not None else 0)
    results = take_turns(e, i, atomic.kind, "global", Lanes(low, high, in_global), words, old)
    if global_only:
        assert atomic.done is not None
        e.set_predicate(atomic.done, bits_to_lanes(e.b, in_global))
    else:
        old = [
            e.b.select(bits_to_lanes(e.b, in_global), result, before)
            for result, before in zip(results, old, strict=True)
        ]
        elsewhere = Lanes(low, high, in_shared)
        others = take_turns(e, i, atomic.kind, "shared", elsewhere, words, old)
        results = [
            e.b.select(bits_to_lanes(e.b, in_shared), other, before)
            for other, before in zip(others, old, strict=True)
        ]
    _write(e, atomic, results)


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
    access(e, i, _access_kind(i, kind, space), lanes)
    host = e.context.load_pointer(f"{space}_host")
    e.b.call(define_atomic(e.function.module, kind), [e.context_pointer, host, lanes.mask])
    none_active = e.b.icmp_unsigned("==", lanes.mask, const(0))
    return [
        e.b.select(none_active, kept, found)
        for kept, found in zip(old, lane_data(e, len(old)), strict=True)
    ]


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
    e: Emitter,
    kind: AtomicKind,
    done: Predicate | None,
    target: Operand | None,
    address: Operand,
    sources: list[Operand],
) -> _Atomic:
    registers = tuple(source for source in sources if isinstance(source, Register))
    plain = all(
        not (r.uniform or r.negated or r.inverted or r.absolute or r.suffix) for r in registers
    )
    wanted = 2 if kind.operation in ("CAS", "CAST") else 1
    complete = len(registers) == len(sources) and (
        len(sources) == wanted or (not sources and e.instruction.has("POPC"))
    )
    if (
        not plain
        or not complete
        or not isinstance(address, Address)
        or not isinstance(target, Register | None)
    ):
        raise e.unsupported("with these operands")
    if e.instruction.base != "ATOMS" and not address.wide:  # CAS prints `[R2+0x10]` for the pair R2
        if not e.instruction.has("E") or address.uniform is not None or address.register is None:
            raise e.unsupported("with this address")
        base = Register(address.register.index, suffix="64")
        address = Address(base, None, address.offset, wide=True)
    return _Atomic(kind, done, target, address, registers)


def _words(e: Emitter, atomic: _Atomic) -> list[Value]:
    count = atomic.kind.width // 4
    return [e.register_or_zero(source, word) for source in atomic.sources for word in range(count)]


def _write(e: Emitter, atomic: _Atomic, results: list[Value]) -> None:
    if atomic.target is None or atomic.target.index == ZERO_REGISTER:
        return
    for word, value in enumerate(results):
        kept = e.register(atomic.target.index + word)
        taken = bits_to_lanes(e.b, e.lane_mask())
        e.set(Register(atomic.target.index + word), e.b.select(taken, value, kept))


def _fetches(i: Decoded) -> bool:
    """Whether it returns the old value."""
    return any(access.kind is MemoryOperation.FETCH for access in i.accesses)


def _sees_order(i: Decoded) -> bool:
    """Whether the result depends on the order of blocks."""
    return _fetches(i) or not atomic_kind(i).commutes


_SCOPES = "E STRONG WEAK GPU SM SYS CTA"
_NAMES = f"{' '.join(_OPERATIONS)} INC 32 SPIN {' '.join(_TYPES)}"

ATOMICS: dict[str, Opcode] = {
    "ATOMS": row(shared_atomic, _NAMES, pipe=SHARED_ACCESS),
    "ATOMG": row(
        global_atomic, f"{_SCOPES} {_NAMES} FTZ RN", pipe=GLOBAL_ATOMIC, ordered=_sees_order
    ),
    "REDG": row(
        global_reduction, f"{_SCOPES} {_NAMES} FTZ RN", pipe=GLOBAL_ATOMIC, ordered=_sees_order
    ),
    "ATOM": row(
        generic_atomic, f"{_SCOPES} {_NAMES} FTZ RN", pipe=GLOBAL_ATOMIC, ordered=_sees_order
    ),
    "RED": row(
        generic_reduction, f"{_SCOPES} {_NAMES} FTZ RN", pipe=GLOBAL_ATOMIC, ordered=_sees_order
    ),
}
