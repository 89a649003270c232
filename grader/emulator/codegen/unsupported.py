"""Lists everything unknown in a kernel, including code that a launch may never reach."""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.codegen.opcodes import look_up
from grader.emulator.codegen.translate import find_flow, translate
from grader.emulator.cpp import Runtime
from grader.emulator.isa.decode import Decoded, decode
from grader.emulator.isa.program import KernelCode, Unsupported


@dataclass(frozen=True)
class Unknown:
    """An unknown instruction or property. `avoidable`: a launch may end without it."""

    what: str
    line: int | None
    avoidable: bool


def find_unsupported(code: KernelCode, runtime: Runtime) -> tuple[Unknown, ...]:
    """Each unknown instruction in code order, or else why the kernel cannot be translated."""
    decoded = decode(code.instructions)
    nameless = {i.index: i.opcode for i in decoded if look_up(i) is None}
    try:
        native = translate(code, runtime)
    except Unsupported as problem:
        found = [Unknown(what, decoded[index].line, False) for index, what in nameless.items()]
        return tuple(found) or (Unknown(problem.what, problem.line, False),)
    unknown = sorted({**native.unknown, **nameless}.items())
    return tuple(
        Unknown(what, decoded[index].line, _is_avoidable(native, decoded[index]))
        for index, what in unknown
    )


def _is_avoidable(native: NativeKernel, i: Decoded) -> bool:
    return i.guard is not None or native.flow.ends_without(native.decoded, find_flow, i.index)
