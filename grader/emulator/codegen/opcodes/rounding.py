"""float64 arithmetic that rounds towards zero or an infinity, by the host's rounding mode."""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.small_floats import Rounding
from grader.emulator.codegen.tools import F64, VOID, Value, const, define

_HOST_MODES = {Rounding.ZERO: 0, Rounding.NEAREST: 1, Rounding.UP: 2, Rounding.DOWN: 3}
"""Arguments of `llvm.set.rounding`."""
_LANES_F64 = ir.VectorType(F64, 32)


def rounded_double(e: Emitter, name: str, arguments: list[Value], mode: Rounding) -> Value:
    """`fadd`, `fmul` or `fma` of float64 lanes, rounded once in this mode."""
    if mode is Rounding.NEAREST:
        raise ValueError("rounding to nearest needs no helper")
    function = _helper(e.function.module, name, len(arguments), mode)
    return e.b.call(function, arguments)


def _helper(module: ir.Module, name: str, count: int, mode: Rounding) -> ir.Function:
    """`v32f64 name_mode(v32f64...)`. LLVM does not move a constrained operation out from between
    the two changes of the mode."""
    helper_name = f"{name}_{mode.lower()}"
    if helper_name in module.globals:
        return module.globals[helper_name]
    function, b = define(module, helper_name, _LANES_F64, [_LANES_F64] * count)
    set_mode = _declare(module, "llvm.set.rounding", VOID, [ir.IntType(32)])
    metadata = [ir.MetaDataString(module, text) for text in ("round.dynamic", "fpexcept.strict")]
    kinds = [_LANES_F64] * count + [ir.MetaDataType()] * 2
    operation = _declare(module, f"llvm.experimental.constrained.{name}.v32f64", _LANES_F64, kinds)
    b.call(set_mode, [const(_HOST_MODES[mode])])
    result = b.call(operation, [*function.args, *metadata])
    b.call(set_mode, [const(_HOST_MODES[Rounding.NEAREST])])
    b.ret(result)
    return function


def _declare(
    module: ir.Module, name: str, result: ir.Type, arguments: list[ir.Type]
) -> ir.Function:
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments), name)
