"""A row of the opcode table: all that is known of an opcode, but for what can be read off machine
code without the emulator (grader.sass)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow, Test, never
from grader.emulator.timing.pipes import ALU, UNIFORM, Pipe

Emit = Callable[[Emitter, Decoded], None]
PLAIN = ""
"""Stands for the modifiers that name no pipe."""


@dataclass(frozen=True)
class Opcode:
    """What one base opcode does. Modifiers outside of `modifiers` are unsupported; the first
    sentence of what `emit` says of itself is in the table of the README.

    `pipes` are those that it takes by a modifier. `uniform`: it works on one value a warp.
    `gathers`: lanes work together, which a WARPSYNC in front may name. `flow` is None where control
    always goes on to the next instruction. `ordered` tells whether the outcome depends on which
    block comes first, or blocks may wait for each other with it. An operand that is a register
    stands for up to so many `registers` in a row.
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
        """The pipe that an instruction with this opcode takes."""
        named = (self.pipes[name] for name in instruction.modifiers if name in self.pipes)
        return next(named, self.pipes[PLAIN])

    @property
    def ends_block(self) -> bool:
        """Whether control may go elsewhere behind it."""
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
    """A row with its modifiers as one string of words. Where no pipe is named, it is that of
    integers; the uniform one has no rival."""
    pipe = pipe or (UNIFORM if uniform else ALU)
    pipes = {PLAIN: pipe} if isinstance(pipe, Pipe) else pipe
    names = frozenset(modifiers.split())
    return Opcode(emit, names, pipes, uniform, gathers, flow, ordered, registers)
