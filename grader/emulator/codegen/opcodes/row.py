"""A row of the opcode table: all properties of an opcode, except those that machine code shows
without the emulator (grader.sass)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow, Test, never
from grader.emulator.timing.pipes import ALU, UNIFORM, Pipe

Emit = Callable[[Emitter, Decoded], None]
PLAIN = ""
"""Key of the pipe for instructions whose modifiers name no other pipe."""


@dataclass(frozen=True)
class Opcode:
    """A base opcode. Modifiers outside of `modifiers` are unsupported; the first paragraph of
    `emit`'s docstring appears in docs/reference/opcodes.md.

    `pipes`: by modifier. `uniform`: it computes per-warp values. `gathers`: a collective operation,
    whose lanes an earlier WARPSYNC may name. `flow`: None if the next instruction always follows.
    `ordered`: whether the result depends on the order of blocks, or blocks may wait for each other
    at it. `registers`: most consecutive registers that a register operand may name.
    """

    emit: Emit
    modifiers: frozenset[str]
    pipes: Mapping[str, Pipe]
    uniform: bool = False
    gathers: bool = False
    flow: ControlFlow | None = None
    ordered: Test = never
    registers: int = 4

    def pipe_of(self, instruction: Decoded) -> Pipe:
        """The pipe of an instruction with this opcode."""
        named = (name for name in instruction.modifiers if name in self.pipes)
        return self.pipes[next(named, PLAIN)]

    @property
    def ends_block(self) -> bool:
        """Whether a basic block ends behind it."""
        return self.flow is not None and self.flow.ends_block


def row(
    emit: Emit,
    modifiers: str = "",
    *,
    pipe: Pipe | Mapping[str, Pipe] | None = None,
    uniform: bool = False,
    gathers: bool = False,
    flow: ControlFlow | None = None,
    ordered: Test = never,
    registers: int = 4,
) -> Opcode:
    """A row; `modifiers` is a space-separated list. The default pipe is the integer pipe, or for
    uniform opcodes the uniform pipe."""
    pipe = pipe or (UNIFORM if uniform else ALU)
    pipes = {PLAIN: pipe} if isinstance(pipe, Pipe) else pipe
    names = frozenset(modifiers.split())
    return Opcode(emit, names, pipes, uniform, gathers, flow, ordered, registers)
