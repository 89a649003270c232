"""What several families of opcodes share: LLVM intrinsics and the NaN of the hardware."""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.emitter import Emitter
from grader.emulator.native.tools import F32, I32, LANES_F32, LANES_I32, Value

CANONICAL_NAN = 0x7FFFFFFF
"""The NaN that float32 arithmetic of NVIDIA GPUs returns (PTX ISA, "Floating-Point Instructions": NaN results are canonical)."""

_SUFFIXES = {I32: "i32", LANES_I32: "v32i32", F32: "f32", LANES_F32: "v32f32"}


def canonical(e: Emitter, value: Value) -> Value:
    """A float32 result with every NaN replaced by the one that the hardware returns."""
    ordered = e.b.fcmp_ordered("ord", value, value)
    nan = e.b.bitcast(e.const(CANONICAL_NAN), e.real)
    return e.b.select(ordered, value, nan)


def intrinsic(e: Emitter, name: str, arguments: list[Value]) -> Value:
    """An LLVM intrinsic of the arguments' type, returning that type."""
    kind = arguments[0].type
    return call_external(e, f"llvm.{name}.{_SUFFIXES[kind]}", kind, arguments)


def call_external(e: Emitter, name: str, result: ir.Type, arguments: list[Value]) -> Value:
    """Call a function by its name, declaring it on first use."""
    module = e.function.module
    callee = module.globals.get(name)
    if callee is None:
        callee = ir.Function(module, ir.FunctionType(result, [argument.type for argument in arguments]), name)
    return e.b.call(callee, arguments)
