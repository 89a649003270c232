"""What the emulator does not know of a kernel, of the code that no launch may reach as well."""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.codegen.opcodes import look_up
from grader.emulator.codegen.translate import NativeKernel, find_flow, translate
from grader.emulator.cpp import Runtime
from grader.emulator.isa.decode import Decoded, decode
from grader.emulator.isa.program import KernelCode, Unsupported


@dataclass(frozen=True)
class Unknown:
    """Something that is not known, with its source line. `avoidable`: a launch may come to its end
    without it."""

    what: str
    line: int | None
    avoidable: bool


def find_unsupported(code: KernelCode, runtime: Runtime) -> tuple[Unknown, ...]:
    """Each instruction that is not known, in the order of the code; else what keeps the kernel from
    being translated, if anything does."""
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
