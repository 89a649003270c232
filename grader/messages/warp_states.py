"""The state of a warp in a cycle: one row for each state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.records import LineCycles, States, WarpState


@dataclass(frozen=True)
class StateWords:
    """A state in reports: its letter in bars, its name in Nsight Compute, and its meaning."""

    letter: str
    name: str
    meaning: str


STATE_WORDS: Mapping[WarpState, StateWords] = {
    WarpState.SELECTED: StateWords("I", "selected", "issues its instruction"),
    WarpState.LONG_SCOREBOARD: StateWords(
        "L", "long scoreboard", "waits for data from global or local memory"
    ),
    WarpState.LG_THROTTLE: StateWords(
        "G",
        "LG throttle",
        "wants to access global memory, and the load/store unit's queue is full",
    ),
    WarpState.SHORT_SCOREBOARD: StateWords(
        "S", "short scoreboard", "waits for shared memory, a constant or a special function"
    ),
    WarpState.MIO_THROTTLE: StateWords(
        "M",
        "MIO throttle",
        "wants to access shared memory, and the load/store unit's queue is full",
    ),
    WarpState.BARRIER: StateWords(
        "B", "barrier", "waits at a barrier for the other warps of its block"
    ),
    WarpState.WAIT: StateWords(
        "W", "wait", "waits for a register that arithmetic just before it writes"
    ),
    WarpState.BRANCH_RESOLVING: StateWords("J", "branch resolving", "waits for a jump"),
    WarpState.MEMBAR: StateWords("F", "membar", "waits for a fence"),
    WarpState.SLEEPING: StateWords("Z", "sleeping", "sleeps"),
    WarpState.NO_INSTRUCTION: StateWords(
        "C", "no instruction", "waits for instructions, which are too many for the cache"
    ),
    WarpState.MATH_PIPE_THROTTLE: StateWords(
        "P", "math pipe throttle", "wants an arithmetic pipe, which is busy"
    ),
    WarpState.DISPATCH_STALL: StateWords(
        "D",
        "dispatch stall",
        "waits for its scheduler, which reads registers of one bank one after another",
    ),
    WarpState.NOT_SELECTED: StateWords(
        "N", "not selected", "could go on, but its scheduler issues another warp's instruction"
    ),
}
"""In the order of the bars."""

LEAST_SHARE = 0.01
"""Tables leave out lines and states with a smaller fraction of all cycles."""


def order_states(states: States) -> dict[WarpState, float]:
    """The states that have cycles, in the order of bars."""
    return {state: states[state] for state in STATE_WORDS if states.get(state)}


def sum_states(lines: Iterable[LineCycles]) -> dict[WarpState, float]:
    """The cycles of all lines together, in the order of bars."""
    total: dict[WarpState, float] = {}
    for line in lines:
        for state, cycles in line.states.items():
            total[state] = total.get(state, 0.0) + cycles
    return order_states(total)


def describe_states(states: States, most: int = 3) -> str:
    """The states with the most cycles: `long scoreboard 61 %, barrier 20 %`."""
    whole = sum(states.values())
    largest = sorted(states.items(), key=lambda item: -item[1])[:most]
    shown = [(state, cycles / whole) for state, cycles in largest if cycles >= LEAST_SHARE * whole]
    return ", ".join(f"{STATE_WORDS[state].name} {100 * share:.0f} %" for state, share in shown)
