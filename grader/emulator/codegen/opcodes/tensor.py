"""Tensor cores, and the 8 by 8 matrices of halves that warps load and store for them. The runtime
multiplies (cpp/tensor/tensor.cpp, cpp/tensor/tensor_exact.cpp) and moves (cpp/tensor/matrices.cpp).

All 32 lanes must be on the path; results for a part of a warp are undefined (PTX ISA).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.known_access import AccessKind, Lanes
from grader.emulator.codegen.opcodes.load_store import access, lane_addresses
from grader.emulator.codegen.opcodes.row import PLAIN, Emit, Opcode, row
from grader.emulator.codegen.tools import POINTER, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Operand, Register
from grader.emulator.timing.pipes import (
    MATRIX_MOVE,
    SHARED_ACCESS,
    TENSOR_DOUBLES,
    TENSOR_FAST,
    TENSOR_SLOW,
    TENSOR_SMALL,
    Pipe,
)

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


def move_rows(*, load: bool) -> Emit:
    """The `emit` function of a row that loads or stores matrices."""

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

    return load_matrices if load else store_matrices


def transpose(e: Emitter, i: Decoded) -> None:
    """d = an 8 by 8 matrix of halves, transposed (`movmatrix`)."""
    target, source = i.operands
    if not i.has("MT88") or is_zero(target):
        raise e.unsupported()
    mask = e.lane_mask()
    for function, operand, transposed in (("collect_rows", source, 0), ("spread_rows", target, 1)):
        facts = (mask, place_of(e, operand), const(1), const(transposed))
        e.try_call(function, e.context_pointer, e.index, *facts)


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
_SLOW_FLOATS = dict.fromkeys(("16816", "16832", "TF32"), TENSOR_SLOW) | {"1684": TENSOR_FAST}
_SLOW_BYTES = dict.fromkeys(("16832", "16864"), TENSOR_SLOW) | {"8816": TENSOR_SMALL}
_SLOW_BITS = {"88128": TENSOR_SMALL, "168256": TENSOR_SLOW}


def _product(emit: Emit, modifiers: str, pipes: Mapping[str, Pipe]) -> Opcode:
    return row(emit, modifiers, gathers=True, pipe={PLAIN: TENSOR_FAST, **pipes})


TENSOR: dict[str, Opcode] = {
    "HMMA": _product(multiply_floats, _FLOAT_NAMES, _SLOW_FLOATS),
    "IMMA": _product(multiply_bytes, _BYTE_NAMES, _SLOW_BYTES),
    "BMMA": _product(multiply_bits, "88128 168128 168256 AND XOR POPC", _SLOW_BITS),
    "DMMA": row(
        multiply_doubles,
        " ".join(TENSOR_DOUBLES),
        gathers=True,
        registers=_MOST_OF_DOUBLES,
        pipe={**TENSOR_DOUBLES, PLAIN: TENSOR_SLOW},
    ),
    "LDSM": row(move_rows(load=True), "16 M88 MT88 2 4", gathers=True, pipe=SHARED_ACCESS),
    "STSM": row(move_rows(load=False), "16 M88 MT88 2 4", gathers=True, pipe=SHARED_ACCESS),
    "MOVM": row(transpose, "16 MT88", gathers=True, pipe=MATRIX_MOVE),
}
