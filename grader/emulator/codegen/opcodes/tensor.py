"""Tensor cores, and the 8 by 8 matrices of halves that warps load and store for them. The runtime
multiplies (cpp/tensor/tensor.cpp, cpp/tensor/tensor_exact.cpp) and moves (cpp/tensor/matrices.cpp).
All 32 lanes must be on the path; results for a part of a warp are undefined (PTX ISA).

Also matrix products of a warp group of four warps (PTX ISA, `wgmma`): 64 rows, 16 per warp
(cpp/tensor/warp_groups.h). Such a product is computed when a thread waits for its group, from the
contents of its matrices at that time (cpp/memory/under_way.h). At the wait, the warps of a group
wait for each other: a warp that continues knows that all four have read their matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.barriers import wait_for_threads
from grader.emulator.codegen.opcodes.copies import end_group, wait_for_groups
from grader.emulator.codegen.opcodes.known_access import AccessKind, Lanes
from grader.emulator.codegen.opcodes.load_store import access, lane_addresses
from grader.emulator.codegen.opcodes.row import PLAIN, Emit, Opcode, row
from grader.emulator.codegen.tools import I1, POINTER, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow
from grader.emulator.isa.operands import (
    DESCRIPTORS,
    GROUP_END,
    Operand,
    Predicate,
    Register,
)
from grader.emulator.layouts.blocks import GROUP_WARPS, NAMED_BARRIERS
from grader.emulator.layouts.execution import WARP_LANES
from grader.emulator.layouts.forms import GroupForm, WorkKind
from grader.emulator.timing import pipes
from grader.sass import OPERANDS

_SHAPES = {
    ("16816", ""): "Half_16",
    ("1688", ""): "Half_8",
    ("16816", "BF16"): "BFloat_16",
    ("1688", "BF16"): "BFloat_8",
    ("1688", "TF32"): "Single_8",
    ("1684", "TF32"): "Single_4",
}
"""The runtime's name of an HMMA's shape and format: 16 rows, 8 columns, and the last number."""
_PRESENT = {"16832": "16816", "16816": "1688", "1688": "1684"}
"""Shape of a product with a sparse A -> shape of the stored half of A."""
_BYTE_SHAPES = (("8816", "16816", "16832"), ("16832", "16864"))
"""Shapes of dense products, and of products with a sparse A."""
_ROWS, _ROW_BYTES = 8, 16
_MOST_OF_DOUBLES = 16
"""Registers of an A with 16 rows and columns."""


def multiply_floats(e: Emitter, i: Decoded) -> None:
    """D = A * B + C of matrices: exact products, truncated at a common place and added (arXiv
    2511.10909).

    C and D are float32, or halves (`.F16`). `.SP`: A is sparse, and only half of it is stored.
    """
    shape = _shape(i)
    kind = next((name for name in ("BF16", "TF32") if i.has(name)), "")
    name = _SHAPES.get((_PRESENT.get(shape, "") if i.has("SP") else shape, kind))
    result = "Half" if i.has("F16") else "Single"
    if name is None or i.has("F16") == i.has("F32") or (result == "Half" and kind):
        raise e.unsupported()
    rule = (e.data("tensor places"), e.data("tensor bytes"))
    _multiply(e, i, f"{name}_{result}", i.operands, rule)


def multiply_bytes(e: Emitter, i: Decoded) -> None:
    """D = A * B + C of matrices of bytes, in 32-bit integers: exact, modulo 2^32; `.SAT`:
    saturated; `.SP`: A is sparse, and only half of it is stored."""
    target, left, right, *others = i.operands
    shape = _shape(i)
    kinds = [name for name in i.modifiers if name in ("S8", "U8")]
    if shape not in _BYTE_SHAPES[i.has("SP")] or len(kinds) != 2:
        raise e.unsupported()
    form = (kinds[0] == "S8") | (kinds[1] == "S8") << 1 | i.has("SAT") << 2
    operands = [target, _plain(e, left, "ROW"), _plain(e, right, "COL"), *others]
    _multiply(e, i, f"bytes_{shape}", operands, (const(form),))


def multiply_bits(e: Emitter, i: Decoded) -> None:
    """D = A * B + C of matrices of bits; a product counts the bits that are set in both factors, or
    (`.XOR`) in only a single factor."""
    target, left, right, third = i.operands
    shape, *names = i.modifiers
    if names not in (["AND", "POPC"], ["XOR", "POPC"]):
        raise e.unsupported()
    operands = [target, _plain(e, left, "ROW"), _plain(e, right, "COL"), third]
    _multiply(e, i, f"{names[0]}_{shape}", operands, (const(0),))


def _shape(i: Decoded) -> str:
    return next((name for name in i.modifiers if name.isdecimal()), "")


def _plain(e: Emitter, operand: Operand, order: str) -> Operand:
    """A register without the suffix for the order of its matrix, which must be `order`."""
    if not isinstance(operand, Register) or operand.suffix != order:
        raise e.unsupported("with this operand")
    return replace(operand, suffix="")


def multiply_doubles(e: Emitter, i: Decoded) -> None:
    """D = A * B + C of float64 matrices: each element is a chain of fused multiply-adds."""
    if len(i.modifiers) != 1:
        raise e.unsupported()
    _multiply(e, i, f"doubles_{i.modifiers[0]}", i.operands, (const(0),))


def _multiply(
    e: Emitter, i: Decoded, name: str, operands: Sequence[Operand], rule: tuple[Value, ...]
) -> None:
    """Calls the runtime's function with the places of the registers of D, A, B and C. For a sparse
    A, two more arguments follow: its metadata register, and the lanes that hold it."""
    registers = list(operands)
    last = registers.pop() if i.has("SP") else None
    if len(registers) != (5 if i.has("SP") else 4) or is_zero(registers[0]):
        raise e.unsupported("with these operands")
    places = [place_of(e, operand) for operand in registers]
    if last is not None:
        name, places = f"sparse_{name}", [*places, e.scalar_i32(last)]
    facts = (e.context_pointer, e.index, e.lane_mask(), *rule)
    e.try_call(f"multiply_{name}", *facts, *places)


def place_of(e: Emitter, operand: Operand) -> Value:
    """Address of a register of all lanes; null for RZ."""
    if not isinstance(operand, Register) or operand.suffix or operand != Register(operand.index):
        raise e.unsupported("with this operand")
    if is_zero(operand):
        return ir.Constant(POINTER, None)
    return e.registers.place_of(operand.index)


def is_zero(operand: Operand) -> bool:
    return isinstance(operand, Register) and operand.is_zero


def load_matrices(e: Emitter, i: Decoded) -> None:
    """d = a matrix, or two (`.2`) or four (`.4`), of 8 by 8 halves from shared memory; lanes
    hold the addresses of the rows (`ldmatrix`).

    `.MT88`: transposed.
    """
    target, address = i.operands
    _access_rows(e, i, address, load=True)
    _call(e, i, "spread_rows", place_of(e, target))


def store_matrices(e: Emitter, i: Decoded) -> None:
    """A matrix, or two (`.2`) or four (`.4`), in shared memory = d (`stmatrix`)."""
    address, source = i.operands
    _call(e, i, "collect_rows", place_of(e, source))
    _access_rows(e, i, address, load=False)


def transpose(e: Emitter, i: Decoded) -> None:
    """d = an 8 by 8 matrix of halves, transposed (`movmatrix`)."""
    target, source = i.operands
    if not i.has("MT88") or is_zero(target):
        raise e.unsupported()
    mask = e.lane_mask()
    for function, operand, transposed in (("collect_rows", source, 0), ("spread_rows", target, 1)):
        facts = (e.context_pointer, e.index, mask, place_of(e, operand))
        e.try_call(function, *facts, const(1), const(transposed))


def _matrices(i: Decoded) -> int:
    return next((int(name) for name in ("2", "4") if i.has(name)), 1)


def _call(e: Emitter, i: Decoded, function: str, registers: Value) -> None:
    facts = (e.context_pointer, e.index, e.lane_mask(), registers)
    shape = (const(_matrices(i)), const(i.has("MT88")))
    e.try_call(function, *facts, *shape)


def _access_rows(e: Emitter, i: Decoded, address: Operand, *, load: bool) -> None:
    """Moves rows to or from `lane_data`; the first lanes, eight per matrix, hold the addresses."""
    low, high = lane_addresses(e, address)
    naming = const((1 << _ROWS * _matrices(i)) - 1)
    lanes = Lanes(low, high, e.b.and_(e.lane_mask(), naming))
    access(e, i, AccessKind("shared", load=load, width=_ROW_BYTES, matrix=True), lanes)


_BYTE_NAMES = "8816 16816 16832 16864 S8 U8 SAT SP"
_FLOAT_NAMES = "16816 1688 1684 16832 F32 F16 BF16 TF32 SP"
_FLOAT_PIPES = dict.fromkeys(("16816", "16832", "TF32"), pipes.TENSOR_SLOW) | {
    "1684": pipes.TENSOR_FAST
}
_BYTE_PIPES = dict.fromkeys(("16832", "16864"), pipes.TENSOR_SLOW) | {"8816": pipes.TENSOR_SMALL}
_BIT_PIPES = {"88128": pipes.TENSOR_SMALL, "168256": pipes.TENSOR_SLOW}


def _product(emit: Emit, modifiers: str, named: Mapping[str, pipes.Pipe]) -> Opcode:
    return row(emit, modifiers, gathers=True, pipe={PLAIN: pipes.TENSOR_FAST, **named})


TENSOR: dict[str, Opcode] = {
    "HMMA": _product(multiply_floats, _FLOAT_NAMES, _FLOAT_PIPES),
    "IMMA": _product(multiply_bytes, _BYTE_NAMES, _BYTE_PIPES),
    "BMMA": _product(multiply_bits, "88128 168128 168256 AND XOR POPC", _BIT_PIPES),
    "DMMA": row(
        multiply_doubles,
        " ".join(pipes.TENSOR_DOUBLES),
        gathers=True,
        registers=_MOST_OF_DOUBLES,
        pipe={**pipes.TENSOR_DOUBLES, PLAIN: pipes.TENSOR_SLOW},
    ),
    "LDSM": row(load_matrices, "16 M88 MT88 2 4", gathers=True, pipe=pipes.SHARED_ACCESS),
    "STSM": row(store_matrices, "16 M88 MT88 2 4", gathers=True, pipe=pipes.SHARED_ACCESS),
    "MOVM": row(transpose, "16 MT88", gathers=True, pipe=pipes.MATRIX_MOVE),
}


_GROUP_ROWS, _COLUMNS, _MOST_COLUMNS = 64, 8, 256
_SUMS = _MOST_COLUMNS // 2
"""Most registers of D."""
_GROUP_FLOATS = {
    (16, ()): "Half_Half",
    (16, ("BF16",)): "BFloat_BFloat",
    (8, ("TF32",)): "Single_Single",
}
_SMALL_FLOATS = {"E4M3": "Exponents4", "E5M2": "Exponents5"}
_BYTES = ("S8", "U8")
_MARKS = {
    "tnspA": GroupForm.LEFT_TRANSPOSED,
    "tnspB": GroupForm.RIGHT_TRANSPOSED,
    "negA": GroupForm.LEFT_NEGATED,
    "negB": GroupForm.RIGHT_NEGATED,
}


def multiply_group(e: Emitter, i: Decoded) -> None:
    """D = A * B + C of 64 rows, 16 per warp: B in shared memory, A there or in registers;
    `!UPT`: C is zero."""
    shape, *names = i.modifiers
    rows, columns, depth = (int(size) for size in shape.split("x"))
    assert rows == _GROUP_ROWS
    function, form = _FACTORS[i.base](e, depth, names)
    _multiply_group(e, i, f"group_{function}", columns, form)
    if GROUP_END in i.operands:
        end_group(WorkKind.PRODUCTS)(e, i)


def _floats(e: Emitter, depth: int, names: list[str]) -> tuple[str, int]:
    result = {"F32": "Single", "F16": "Half"}.get(names[0] if names else "")
    factors = _GROUP_FLOATS.get((depth, tuple(names[1:])))
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


_FACTORS = {"HGMMA": _floats, "QGMMA": _floats, "IGMMA": _bytes, "BGMMA": _bits}


def _multiply_group(e: Emitter, i: Decoded, function: str, columns: int, form: int) -> None:
    """Calls the runtime's function with the places of D, A and C, and the descriptors of A and B,
    which are four consecutive uniform registers."""
    target, *sources = (each for each in i.operands if each != GROUP_END)
    first = sources[0]
    left = sources.pop(0) if isinstance(first, Register) and not first.uniform else None
    matrices, third, *scale = sources
    if not isinstance(matrices, Register):
        raise e.unsupported("with these operands")
    kind, *marks = matrices.suffix.split(".")
    if kind != DESCRIPTORS or not set(marks) <= set(_MARKS):
        raise e.unsupported("with these operands")
    if is_zero(target):
        return  # a group without products
    form |= sum(_MARKS[mark] for mark in marks)
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
    words = [e.scalar_i32(Register(matrices.index + word, uniform=True)) for word in range(4)]
    arguments = (*facts, *rule, *shape, *places, *words)
    e.try_call(f"multiply_{function}", *arguments)


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
    return " ".join(f"{_GROUP_ROWS}x{width}x{depth}" for depth in depths for width in widths)


def _group_product(modifiers: str) -> Opcode:
    times = {PLAIN: pipes.NO_PIPE, **pipes.GROUP_PRODUCTS}  # other shapes never execute
    return row(multiply_group, modifiers, pipe=times, registers=_SUMS)


WARP_GROUPS: dict[str, Opcode] = {
    "HGMMA": _group_product(f"{_shapes(8, 16)} F32 F16 BF16 TF32"),
    "QGMMA": _group_product(f"{_shapes(32)} F32 F16 E4M3 E5M2"),
    "IGMMA": _group_product(f"{_shapes(32)} S8 U8 SAT"),
    "BGMMA": _group_product(f"{_shapes(256)} AND POPC"),
    "USETMAXREG": row(set_most_registers, "TRY_ALLOC DEALLOC CTAPOOL", uniform=True),
    "WARPGROUP": row(
        synchronise_group,
        "ARRIVE DEPBAR LE",
        pipe={PLAIN: pipes.NO_PIPE, "DEPBAR": pipes.PRODUCTS_DEPEND},
        flow=ControlFlow(),
    ),
}
