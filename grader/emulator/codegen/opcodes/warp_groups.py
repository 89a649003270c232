"""Matrix products of a warp group of four warps (PTX ISA, `wgmma`): 64 rows, 16 per warp. The
runtime multiplies (cpp/tensor/warp_groups.cpp).

A product is computed when a thread waits for its group, from the contents of its matrices at that
time (cpp/memory/under_way.h). At the wait, the warps of a group wait for each other: a warp that
continues knows that all four have read their matrices.
"""

from __future__ import annotations

from dataclasses import replace

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.barriers import wait_for_threads
from grader.emulator.codegen.opcodes.copies import end_group, wait_for_groups
from grader.emulator.codegen.opcodes.row import Emit, Opcode, row
from grader.emulator.codegen.opcodes.tensor import is_zero, place_of
from grader.emulator.codegen.tools import I1, POINTER, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow
from grader.emulator.isa.operands import DESCRIPTORS, Operand, Predicate, Register, Special
from grader.emulator.layouts.blocks import GROUP_WARPS, NAMED_BARRIERS
from grader.emulator.layouts.execution import WARP_LANES
from grader.emulator.layouts.forms import GroupForm, WorkKind
from grader.emulator.timing.pipes import TENSOR_GROUP, WARP_GROUP
from grader.sass import OPERANDS

_ROWS, _COLUMNS, _MOST_COLUMNS = 64, 8, 256
_SUMS = _MOST_COLUMNS // 2
"""Most registers of D."""
_FLOATS = {(16, ()): "Half_Half", (16, ("BF16",)): "BFloat_BFloat", (8, ("TF32",)): "Single_Single"}
_SMALL_FLOATS = {"E4M3": "Exponents4", "E5M2": "Exponents5"}
_BYTES = ("S8", "U8")
_MARKS = {
    "tnspA": GroupForm.LEFT_TRANSPOSED,
    "tnspB": GroupForm.RIGHT_TRANSPOSED,
    "negA": GroupForm.LEFT_NEGATED,
    "negB": GroupForm.RIGHT_NEGATED,
}


def multiply_group(kind: str) -> Emit:
    """The `emit` function of a row; factors are `floats`, `bytes` or `bits`."""

    def emit(e: Emitter, i: Decoded) -> None:
        """D = A * B + C of 64 rows, 16 per warp: B in shared memory, A there or in registers;
        `!UPT`: C is zero."""
        shape, *names = i.modifiers
        rows, columns, depth = (int(size) for size in shape.split("x"))
        assert rows == _ROWS
        function, form = _KINDS[kind](e, depth, names)
        _multiply(e, i, f"group_{function}", columns, form)
        if Special("gsb0") in i.operands:
            end_group(WorkKind.PRODUCTS)(e, i)

    return emit


def _floats(e: Emitter, depth: int, names: list[str]) -> tuple[str, int]:
    result = {"F32": "Single", "F16": "Half"}.get(names[0] if names else "")
    factors = _FLOATS.get((depth, tuple(names[1:])))
    if factors is None and all(name in _SMALL_FLOATS for name in names[1:]) and len(names) == 3:
        factors = "_".join(_SMALL_FLOATS[name] for name in names[1:])
    if (
        factors is None
        or result is None
        or (result == "Half" and names[1:2] in (["BF16"], ["TF32"]))
    ):
        raise e.unsupported()
    return f"{factors}_{result}", 0


def _bytes(e: Emitter, depth: int, names: list[str]) -> tuple[str, int]:
    kinds = names[:2]
    if len(kinds) != 2 or not set(kinds) <= set(_BYTES) or names[2:] not in ([], ["SAT"]):
        raise e.unsupported()
    signs = GroupForm.LEFT_SIGNED * (kinds[0] == "S8") | GroupForm.RIGHT_SIGNED * (kinds[1] == "S8")
    return "bytes", signs | GroupForm.SATURATED * bool(names[2:])


def _bits(e: Emitter, depth: int, names: list[str]) -> tuple[str, int]:
    if names != ["AND", "POPC"]:
        raise e.unsupported()
    return "AND", 0


_KINDS = {"floats": _floats, "bytes": _bytes, "bits": _bits}


def _multiply(e: Emitter, i: Decoded, function: str, columns: int, form: int) -> None:
    """Calls the runtime's function with the places of D, A and C, and the descriptors of A and B,
    which are four consecutive uniform registers."""
    target, *sources = (each for each in i.operands if each != Special("gsb0"))
    left = sources.pop(0) if _is_lanes(sources[0]) else None
    matrices, third, *scale = sources
    marks = matrices.suffix.split(".") if isinstance(matrices, Register) else []
    if marks[:1] != [DESCRIPTORS] or not set(marks[1:]) <= set(_MARKS):
        raise e.unsupported("with these operands")
    if is_zero(target):
        return  # a group without products
    form |= sum(_MARKS[mark] for mark in marks[1:])
    if left is None:
        form |= GroupForm.LEFT_SHARED
    elif isinstance(left, Register) and left.negated:
        left, form = replace(left, negated=False), form | GroupForm.LEFT_NEGATED
    nothing = ir.Constant(POINTER, None)
    places = [
        place_of(e, target),
        nothing if left is None else place_of(e, left),
        _addend(e, third, scale),
    ]
    rule = (e.data("tensor places"), e.data("tensor bytes"))
    slots = (e.data("slot matrices"), e.data(f"slot {OPERANDS}"))
    facts = (e.context_pointer, e.warp_pointer, e.index, e.lane_mask(), *slots)
    shape = (const(columns), const(form))
    words = _words(e, matrices)
    arguments = (*facts, *rule, *shape, *places, *words)
    e.try_call(f"multiply_{function}", *arguments)


def _is_lanes(operand: Operand) -> bool:
    return isinstance(operand, Register) and not operand.uniform


def _addend(e: Emitter, third: Operand, scale: list[Operand]) -> Value:
    """Place of C; null if it is zero."""
    if len(scale) > 1 or not all(isinstance(each, Predicate) and each.uniform for each in scale):
        raise e.unsupported("with these operands")
    place = place_of(e, third)
    if not scale:
        return place
    with e.as_uniform(True):
        counts = e.predicate(scale[0])
    return e.b.select(counts, place, ir.Constant(POINTER, None))


def _words(e: Emitter, descriptors: Operand) -> list[Value]:
    assert isinstance(descriptors, Register)
    first = Register(descriptors.index, uniform=True)
    return [e.scalar_i32(replace(first, index=first.index + word)) for word in range(4)]


def synchronise_group(e: Emitter, i: Decoded) -> None:
    """`.ARRIVE` orders earlier accesses before products; at `.DEPBAR.LE`, which waits for products,
    the four warps wait for each other."""
    if i.has("ARRIVE") and not i.operands:
        e.go_to(e.following)
        return
    if not i.has("DEPBAR") or i.guard is not None:
        raise e.unsupported()
    wait_for_groups(e, WorkKind.PRODUCTS, i.operands[-1])
    group = e.b.udiv(e.warp.load("index"), const(GROUP_WARPS))
    number = e.b.add(group, const(NAMED_BARRIERS))
    wait_for_threads(e, i, number, const(GROUP_WARPS * WARP_LANES))


def set_most_registers(e: Emitter, i: Decoded) -> None:
    """Warps release or acquire registers (`setmaxnreg`): here each always has all registers."""
    if i.has("TRY_ALLOC"):
        (truth, _) = i.operands
        e.set_predicate(truth, const(1, I1))


def _shapes(*depths: int) -> str:
    widths = range(_COLUMNS, _MOST_COLUMNS + 1, _COLUMNS)
    return " ".join(f"{_ROWS}x{width}x{depth}" for depth in depths for width in widths)


def _product(kind: str, modifiers: str) -> Opcode:
    return row(multiply_group(kind), modifiers, pipe=TENSOR_GROUP, registers=_SUMS)


WARP_GROUPS: dict[str, Opcode] = {
    "HGMMA": _product("floats", f"{_shapes(8, 16)} F32 F16 BF16 TF32"),
    "QGMMA": _product("floats", f"{_shapes(32)} F32 F16 E4M3 E5M2"),
    "IGMMA": _product("bytes", f"{_shapes(32)} S8 U8 SAT"),
    "BGMMA": _product("bits", f"{_shapes(256)} AND POPC"),
    "USETMAXREG": row(set_most_registers, "TRY_ALLOC DEALLOC CTAPOOL", uniform=True),
    "WARPGROUP": row(synchronise_group, "ARRIVE DEPBAR LE", pipe=WARP_GROUP, flow=ControlFlow()),
}
