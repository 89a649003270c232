"""The special-function unit (cpp/warps/special.cpp), and the range check of float32 division."""

from __future__ import annotations

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.convert import read_float
from grader.emulator.codegen.opcodes.load_store import lane_data, set_lane_data
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import LANES_F32, Value
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Immediate
from grader.emulator.timing.pipes import SPECIAL_UNIT

_FUNCTIONS = "RCP RSQ SQRT EX2 LG2 SIN COS TANH"
_UPPER_WORDS = "RCP64H RSQ64H"


def special_function(e: Emitter, i: Decoded) -> None:
    """d = f(a) of a float32, with denormals flushed before and after, of a half or bfloat16, or of
    the upper word of a float64."""
    target, operand = i.operands
    name = i.first_of(f"{_FUNCTIONS} {_UPPER_WORDS}".split())
    if not name:
        raise e.unsupported()
    if name in _UPPER_WORDS.split():
        # nvdisasm prints a literal as a float64; the operand is its upper word.
        if isinstance(operand, Immediate):
            word = e.const(operand.float64_bits() >> 32)
        else:
            word = e.i32(operand)
        e.set(target, _call(e, f"mufu_{name.lower()}", word))
        return
    kind = i.first_of(("F16", "BF16")) or "F32"
    value = read_float(e, operand, kind)
    single = value if value.type == LANES_F32 else e.b.fptrunc(value, e.real)
    result = _call(e, f"mufu_{name.lower()}", e.b.bitcast(single, e.word))
    if kind == "F16":
        result = _call(e, "cut_to_half", result)
    elif kind == "BF16":
        result = e.b.lshr(result, e.const(16))
    e.set(target, result)


def _call(e: Emitter, function: str, word: Value) -> Value:
    """Applies a function of the runtime to a word per lane."""
    set_lane_data(e, [word])
    e.call(function, e.context.at("lane_data"))
    return lane_data(e, 1)[0]


def check_division(e: Emitter, i: Decoded) -> None:
    """P = whether a / b needs the slow path: an operand is special, or a step of the fast path
    could leave the normal range.

    The bounds were measured on an H200 for all pairs of exponents.
    """
    target, a, b = i.operands
    words = (e.b.bitcast(e.f32(operand), e.word) for operand in (a, b))
    dividend, divisor = (e.b.and_(e.b.lshr(word, e.const(23)), e.const(255)) for word in words)
    difference = e.b.sub(dividend, divisor)
    slow = _outside(e, divisor, 2, 251)
    slow = e.b.or_(slow, _outside(e, dividend, 25, 254))
    e.set_predicate(target, e.b.or_(slow, _outside(e, difference, -124, 126)))


def _outside(e: Emitter, value: Value, lowest: int, highest: int) -> Value:
    below = e.b.icmp_signed("<", value, e.const(lowest))
    return e.b.or_(below, e.b.icmp_signed(">", value, e.const(highest)))


SPECIAL: dict[str, Opcode] = {
    "MUFU": row(special_function, f"{_FUNCTIONS} {_UPPER_WORDS} F16 BF16", pipe=SPECIAL_UNIT),
    "FCHK": row(check_division, pipe=SPECIAL_UNIT),
}
