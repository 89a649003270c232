"""The stall breakdown of a launch: modelled cycles of warps by state and machine instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from grader.records.bounds import LineNumber
from grader.sass import Control


class WarpState(StrEnum):
    """The state of a resident warp in a cycle, by Nsight Compute's names: it issues an instruction
    (SELECTED), or its next instruction stalls."""

    SELECTED = "selected"
    WAIT = "wait"
    BRANCH_RESOLVING = "branch_resolving"
    LONG_SCOREBOARD = "long_scoreboard"
    SHORT_SCOREBOARD = "short_scoreboard"
    BARRIER = "barrier"
    LG_THROTTLE = "lg_throttle"
    MIO_THROTTLE = "mio_throttle"
    MATH_PIPE_THROTTLE = "math_pipe_throttle"
    DISPATCH_STALL = "dispatch_stall"
    NOT_SELECTED = "not_selected"
    MEMBAR = "membar"
    SLEEPING = "sleeping"
    NO_INSTRUCTION = "no_instruction"


States = Mapping[WarpState, float]
"""Cycles by state; a missing state has 0 cycles."""


@dataclass(frozen=True)
class InstructionCycles:
    """The cycles that warps spend at the instruction with this index, by state in the order of
    WarpState. `awaited`: the cycles that warps wait at other instructions for its result."""

    index: int
    cycles: tuple[int, ...]
    awaited: int


@dataclass(frozen=True)
class WarpCycles:
    """The cycles of all warps of the blocks that were simulated for a launch, on one SM at
    `clock_mhz`. The sum over `instructions` is `resident_cycles`, from the start of each warp to
    its last instruction. The launch executes `scale` times the instructions of these `blocks`; the
    SM took `sm_cycles`.

    `spans`, on request, have times: seven numbers each, the warp's place on the SM, the number of
    its block, the first cycle, the number of cycles, the instruction, the instruction that it waits
    for (-1: none), and the state. They are complete up to the cycle `complete_until`.
    """

    instructions: tuple[InstructionCycles, ...]
    resident_cycles: int
    scale: float
    sm_cycles: int
    clock_mhz: float
    blocks: int
    spans: tuple[int, ...] = ()
    complete_until: int = 0


SPAN_NUMBERS = 7


@dataclass(frozen=True)
class CodeInstruction:
    """A machine instruction with its counts and cycles in all launches of its kernel.

    `text` is in nvdisasm's form, with its guard. `waits_for` are the indices of the instructions
    that set the scoreboards it waits for, as far as the order of the code determines them.
    `executed` counts warps; None where nothing was counted. `states` are modelled cycles of all
    warps of the launches; `awaited`: the cycles that warps wait elsewhere for its result.
    """

    offset: int
    text: str
    line: int | None
    control: Control
    waits_for: tuple[int, ...] = ()
    executed: int | None = None
    states: States = field(default_factory=dict)
    awaited: float = 0.0

    @property
    def opcode(self) -> str:
        """The opcode with its modifiers, without the guard."""
        return next(part for part in self.text.split() if not part.startswith("@"))

    @property
    def cycles(self) -> float:
        """Modelled cycles that warps spend at it."""
        return sum(self.states.values())


@dataclass(frozen=True)
class CodeListing:
    """The machine code of a kernel; `launches` is None where it was only compiled."""

    kernel: str
    instructions: tuple[CodeInstruction, ...]
    launches: int | None = None


@dataclass(frozen=True)
class LineCycles:
    """The modelled cycles of all warps at the instructions of a source line."""

    line: LineNumber
    states: States
    """Cycles of all warps by their state, as Nsight Compute names it."""

    @property
    def cycles(self) -> float:
        return sum(self.states.values())


@dataclass(frozen=True)
class SimulatedLaunch:
    """A simulated launch with times; `kernel` names its listing, and `cycles` has spans."""

    kernel: str
    cycles: WarpCycles


@dataclass(frozen=True)
class MachineWork:
    """The work of machine code, on request. `listings` are of the launched kernels, counted at
    `sizes`; `lines` are the modelled cycles by source line, at `modelled_sizes`: empty, like
    `simulated`, where nothing was modelled."""

    listings: tuple[CodeListing, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[LineCycles, ...] = ()
    modelled_sizes: Mapping[str, int] = field(default_factory=dict)
    simulated: tuple[SimulatedLaunch, ...] = ()
