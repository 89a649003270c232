"""A row of the opcode table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter

Emit = Callable[[Emitter, Decoded], None]


@dataclass(frozen=True)
class Opcode:
    """How one base opcode is emitted. Modifiers outside of `modifiers` are unsupported.

    `uniform`: it works on one value a warp. `ends_block`: control may go elsewhere afterwards.
    `approximate`: the hardware looks its result up in tables that are not public; ours is correctly
    rounded, and within the documented error of it.
    """

    emit: Emit
    modifiers: frozenset[str] = frozenset()
    uniform: bool = False
    ends_block: bool = False
    approximate: bool = False


def row(
    emit: Emit,
    modifiers: str = "",
    *,
    uniform: bool = False,
    ends_block: bool = False,
    approximate: bool = False,
) -> Opcode:
    """A row with its modifiers as one string of words."""
    return Opcode(emit, frozenset(modifiers.split()), uniform, ends_block, approximate)
