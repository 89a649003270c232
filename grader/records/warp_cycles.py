"""Where the modelled cycles of a launch's warps go, and the machine code that they go to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from grader.records.bounds import LineNumber
from grader.sass import Control


class WarpState(StrEnum):
    """What a resident warp does in a cycle, as Nsight Compute names the states: it issues an
    instruction (SELECTED), or something keeps its next one from being issued."""

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
"""Cycles by what warps do in them; what is not there has none."""


@dataclass(frozen=True)
class InstructionCycles:
    """Of the instruction with this index: the cycles that warps are at it, by state in the order of
    WarpState, and those that warps wait for what it does, at others."""

    index: int
    cycles: tuple[int, ...]
    awaited: int


@dataclass(frozen=True)
class WarpCycles:
    """The cycles of all warps of the blocks that were simulated for a launch, on one SM at
    `clock_mhz`: `instructions` has those at which warps were. Their sum are the `resident_cycles`,
    from the start of each warp to its last instruction. The launch executes `scale` times the
    instructions of these `blocks`; the SM took `sm_cycles`.

    `spans` tell the same in time, as far as that was asked for: seven numbers each, the warp's
    place on the SM, the number of its block, the first cycle, how many, the instruction, the one
    that it waits for (-1: none), and the state. They are all there up to the cycle `told_until`.
    """

    instructions: tuple[InstructionCycles, ...]
    resident_cycles: int
    scale: float
    sm_cycles: int
    clock_mhz: float
    blocks: int
    spans: tuple[int, ...] = ()
    told_until: int = 0


SPAN_NUMBERS = 7


@dataclass(frozen=True)
class CodeInstruction:
    """One machine instruction with what it did in all launches of its kernel.

    `text` is as nvdisasm prints it, with its guard. `waits_for` are the instructions that set the
    scoreboards it waits for, by their indices, as far as the order of the code tells. `executed`
    counts warps; None where nothing was counted. `states` are modelled cycles of all warps of the
    launches; `awaited` are those that warps wait for its result elsewhere.
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
        """Modelled cycles that warps are at it."""
        return sum(self.states.values())


@dataclass(frozen=True)
class CodeListing:
    """The machine code of a kernel, launched so many times; `launches` None: it was only
    compiled."""

    kernel: str
    instructions: tuple[CodeInstruction, ...]
    launches: int | None = None


@dataclass(frozen=True)
class LineCycles:
    """The modelled cycles of all warps at the instructions of one source line."""

    line: LineNumber
    states: States
    """Cycles of all warps by their state, as Nsight Compute names it."""

    @property
    def cycles(self) -> float:
        return sum(self.states.values())


@dataclass(frozen=True)
class SimulatedLaunch:
    """A launch whose simulation is told in time; `kernel` names its listing, and `cycles` has
    spans."""

    kernel: str
    cycles: WarpCycles


@dataclass(frozen=True)
class MachineWork:
    """What machine code did, where that was asked for. `listings` are of the kernels that were
    launched, counted at `sizes`; `lines` are where modelled cycles go, at `modelled_sizes`: empty,
    as `simulated`, where nothing was modelled."""

    listings: tuple[CodeListing, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[LineCycles, ...] = ()
    modelled_sizes: Mapping[str, int] = field(default_factory=dict)
    simulated: tuple[SimulatedLaunch, ...] = ()
