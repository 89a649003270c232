"""What the emulator does not know of a kernel: all of it at once, where a translation stops at the
first."""

from __future__ import annotations

from grader.emulator.decode import decode
from grader.emulator.opcodes import find_opcode
from grader.emulator.program import KernelCode, Unsupported
from grader.emulator.runtime import Runtime
from grader.emulator.translate import translate


def find_unsupported(code: KernelCode, runtime: Runtime) -> tuple[tuple[str, int | None], ...]:
    """Each instruction that is not known, with its source line, in the order of the code; else what
    keeps the kernel from being translated, if anything does."""
    found = []
    for instruction in code.instructions:
        try:
            find_opcode(*decode((instruction,)))
        except Unsupported as problem:
            found.append((instruction.opcode, problem.line))
    if found:
        return tuple(found)
    try:
        translate(code, runtime)
    except Unsupported as problem:
        return ((problem.what, problem.line),)
    return ()
