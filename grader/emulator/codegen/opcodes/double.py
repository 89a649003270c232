"""float64 arithmetic: each operation rounds once. If several operands are NaN, the second takes
precedence over the third, and the third over the first.

The result is that operand, with its payload, its unmodified sign and the quiet bit; without NaN
operands, it is 0xfff8000000000000 (all observed on an H100: `double_nan.cu` of the corpus).
"""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.integer import is_nothing, is_nowhere, set_comparison
from grader.emulator.codegen.opcodes.intrinsics import (
    COMPARISONS,
    QUIET_BIT,
    f64,
    float_compare,
    intrinsic,
    set_f64,
    without_sign_changes,
)
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.opcodes.small_floats import ROUNDINGS, Rounding, rounding_of
from grader.emulator.codegen.tools import F64, VOID, Value, call_by_name, const, define
from grader.emulator.isa.decode import Decoded
from grader.emulator.timing.pipes import FLOAT64

INVALID = 0xFFF8 << 48
"""The NaN of an operation without NaN operands, such as infinity - infinity."""


def dadd(e: Emitter, i: Decoded) -> None:
    """d = a + b"""
    _arithmetic(e, i, "fadd")


def dmul(e: Emitter, i: Decoded) -> None:
    """d = a * b"""
    _arithmetic(e, i, "fmul")


def dfma(e: Emitter, i: Decoded) -> None:
    """d = a * b + c, rounded once"""
    _arithmetic(e, i, "fma")


def _arithmetic(e: Emitter, i: Decoded, name: str) -> None:
    target, *operands = i.operands
    if len(operands) != (3 if name == "fma" else 2):
        raise e.unsupported("with these operands")
    sources = [f64(e, operand) for operand in operands]
    mode = rounding_of(i)
    if mode is not Rounding.NEAREST:
        result = rounded_double(e, name, sources, mode)
    elif name == "fma":
        result = intrinsic(e, name, sources)
    else:
        left, right = sources
        result = (e.b.fadd if name == "fadd" else e.b.fmul)(left, right)
    unsigned = [f64(e, without_sign_changes(operand)) for operand in operands]
    set_f64(e, target, _with_nans(e, result, unsigned))


def _with_nans(e: Emitter, result: Value, sources: list[Value]) -> Value:
    """Replaces NaN results by the NaN that the hardware returns."""
    nan = e.const64(INVALID)
    first, *others = sources
    for source in (first, *reversed(others)):
        quieted = e.b.or_(e.b.bitcast(source, e.double_word), e.const64(QUIET_BIT))
        nan = e.b.select(e.b.fcmp_unordered("uno", source, source), quieted, nan)
    return e.b.select(e.b.fcmp_ordered("ord", result, result), result, e.b.bitcast(nan, e.double))


_HOST_MODES = {Rounding.ZERO: 0, Rounding.NEAREST: 1, Rounding.UP: 2, Rounding.DOWN: 3}
"""Arguments of `llvm.set.rounding`."""
_LANES_F64 = ir.VectorType(F64, 32)


def rounded_double(e: Emitter, name: str, arguments: list[Value], mode: Rounding) -> Value:
    """`fadd`, `fmul` or `fma` of float64 lanes, rounded once in a mode other than to nearest."""
    module, helper_name = e.function.module, f"{name}_{mode.lower()}"
    if helper_name not in module.globals:
        _define_rounded(module, name, helper_name, len(arguments), mode)
    return e.b.call(module.globals[helper_name], arguments)


def _define_rounded(
    module: ir.Module, name: str, helper_name: str, count: int, mode: Rounding
) -> None:
    """`v32f64 name_mode(v32f64...)`. LLVM does not move a constrained operation out from between
    the two changes of the mode."""
    function, b = define(module, helper_name, _LANES_F64, [_LANES_F64] * count)
    metadata = [ir.MetaDataString(module, text) for text in ("round.dynamic", "fpexcept.strict")]
    operation = f"llvm.experimental.constrained.{name}.v32f64"
    call_by_name(b, "llvm.set.rounding", VOID, [const(_HOST_MODES[mode])])
    result = call_by_name(b, operation, _LANES_F64, [*function.args, *metadata])
    call_by_name(b, "llvm.set.rounding", VOID, [const(_HOST_MODES[Rounding.NEAREST])])
    b.ret(result)


def dsetp(e: Emitter, i: Decoded) -> None:
    """P = (a cmp b) comb p, Q = (not (a cmp b)) comb p; `.MIN`, `.MAX`: P = whether a is chosen,
    Q = whether both are NaN."""
    first, second, a, b, combined = i.operands
    left, right = f64(e, a), f64(e, b)
    if not (i.has("MIN") or i.has("MAX")):
        set_comparison(e, i, float_compare(e, i, left, right), combined)
        return
    if not is_nowhere(combined) or is_nothing(combined):
        raise e.unsupported("with a predicate to combine")
    chosen, neither = _choice(e, left, right, smaller=i.has("MIN"))
    e.set_predicate(first, chosen)
    e.set_predicate(second, neither)


def _choice(e: Emitter, left: Value, right: Value, *, smaller: bool) -> tuple[Value, Value]:
    """Whether the minimum (maximum) is the left operand, and whether both are NaN; -0 is less than
    +0, and a number takes precedence over a NaN."""
    left_nan, right_nan = (e.b.fcmp_unordered("uno", value, value) for value in (left, right))
    less, more = (right, left) if not smaller else (left, right)
    zeros = e.b.fcmp_ordered("==", left, right)
    less_negative, more_negative = (
        e.b.icmp_signed("<", e.b.bitcast(value, e.double_word), e.const64(0))
        for value in (less, more)
    )
    by_sign = e.b.and_(zeros, e.b.and_(less_negative, e.b.not_(more_negative)))
    chosen = e.b.or_(e.b.fcmp_ordered("<", less, more), by_sign)
    only_right = e.b.and_(right_nan, e.b.not_(left_nan))
    return e.b.or_(chosen, only_right), e.b.and_(left_nan, right_nan)


DOUBLE: dict[str, Opcode] = {
    "DADD": row(dadd, ROUNDINGS, pipe=FLOAT64),
    "DMUL": row(dmul, ROUNDINGS, pipe=FLOAT64),
    "DFMA": row(dfma, ROUNDINGS, pipe=FLOAT64),
    "DSETP": row(dsetp, f"{COMPARISONS} MIN MAX", pipe=FLOAT64),
}
