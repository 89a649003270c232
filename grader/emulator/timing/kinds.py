"""Kinds of launches: what dominates a launch decides how well the model knows its time, and so how
wide the interval around it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from grader.emulator.layouts.execution import TraceWord
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_SECTORS

_SECTORS = np.array([mask.bit_count() for mask in range(1 << LINE_SECTORS)])
"""How many sectors of a line a mask holds."""
MATTERS = 0.1
"""A mechanism that the model knows badly counts from this part of a launch's time or sectors on."""
SLOW_INSTRUCTIONS = 0.005
"""The same, as a part of the instructions, of those that may take a hundred times as long as
others."""
SHORT = 0.2
"""Where launching takes a larger part of the time, a microsecond is what the model is wrong by."""
UNEVEN = 2.0
"""How much more the longest block does than the average one where its length counts."""
BUSY, L2_BUSY, STORES_BUSY = 0.5, 0.4, 0.6
"""A resource that is used more than this is what warps wait for, or close to it."""
BESIDE = 0.2
"""DRAM that is used more than this holds up scattered stores, or they hold it up: an H200 takes 4 %
more for a naive transpose of floats than for its stores alone, 38 % for one of doubles, which moves
twice as much (`scatter/transposed_doubles`; 13 % with a quarter of the warps)."""
FEW_WARPS = 16
"""So many resident warps hide little of what one of them waits for."""


class LaunchKind(StrEnum):
    """Kinds in the order in which they are looked for, in the words that messages have."""

    UNTIMED = "barrier objects, bulk copies or clusters"
    CALLS = "calls of the system"
    SLEEPS = "warps that sleep"
    FETCHES = "instructions that are fetched again"
    FENCES = "fences"
    PREFETCHES = "prefetches"
    SWAPS = "compare-and-swap"
    SCATTERED_ATOMICS = "scattered atomics"
    ATOMICS = "atomics that meet"
    LOOKUPS = "constants at different indices"
    LOCAL = "local memory"
    PARTIAL = "sectors stored in part"
    BESIDE_DRAM = "scattered stores beside DRAM"
    SCATTERED = "scattered stores"
    SHORT = "a short launch"
    UNEVEN = "uneven blocks"
    SCATTERED_READS = "scattered reads"
    IN_L2 = "data in the L2"
    UNITS = "bound by the units of an SM"
    DRAM = "bound by DRAM"
    FEW_WARPS = "few warps that wait"
    WAITING = "warps that wait"


@dataclass(frozen=True)
class Habits:
    """What the instructions of some blocks do, whatever it costs: compare-and-swaps and look-ups of
    constants as parts of the instructions; sectors of local memory as a part of those that are
    asked for; stored sectors that a warp's store covers in part, as a part of all that are
    stored; whether there is something that the model does not follow; prefetched sectors as a part
    of those that are asked for."""

    swaps: float
    lookups: float
    local: float
    split_stores: float
    untimed: bool = False
    prefetches: float = 0.0


@dataclass(frozen=True)
class Facts:
    """What a launch's kind is told from. `launching` and `atomics` are parts of its time: the fixed
    cost, and what the busiest slice of the L2 needs for atomics. `unfilled` is the part of the
    stored sectors that no other store completes; `rows` what opening rows of DRAM adds to moving
    bytes; `unevenness` how many times as much as the average one the longest block does;
    `from_dram` how many sectors DRAM moves for one that misses the L1; `warps` are those of an SM.
    `sleeps`, `fences`, `calls` and `code` are parts of the warps' cycles, for which they wait for
    each. The others are parts of resources that are used (launch_time.Run.use).
    """

    habits: Habits
    launching: float
    atomics: float
    unfilled: float
    rows: float
    unevenness: float
    from_dram: float
    warps: int
    stores: float
    load_store: float
    instructions: float
    l2: float
    dram: float
    sleeps: float = 0.0
    fences: float = 0.0
    calls: float = 0.0
    code: float = 0.0


def find_kind(facts: Facts) -> LaunchKind:
    """The kind of a launch: first what the model knows badly, if it takes a part of the time that
    matters, then what is used most."""
    return next(kind for kind, found in _tell(facts) if found)


def _tell(f: Facts) -> tuple[tuple[LaunchKind, bool], ...]:
    scattered = f.habits.split_stores > BUSY
    bound = scattered and f.stores > STORES_BUSY
    return (
        (LaunchKind.UNTIMED, f.habits.untimed),
        (LaunchKind.CALLS, f.calls > MATTERS),
        (LaunchKind.SLEEPS, f.sleeps > MATTERS),
        (LaunchKind.FETCHES, f.code > MATTERS),
        (LaunchKind.FENCES, f.fences > MATTERS),
        (LaunchKind.PREFETCHES, f.habits.prefetches > MATTERS),
        (LaunchKind.SWAPS, f.habits.swaps > SLOW_INSTRUCTIONS),
        (LaunchKind.SCATTERED_ATOMICS, min(f.atomics, f.rows) > MATTERS),
        (LaunchKind.ATOMICS, f.atomics > MATTERS),
        (LaunchKind.LOOKUPS, f.habits.lookups > SLOW_INSTRUCTIONS),
        (LaunchKind.LOCAL, f.habits.local > MATTERS),
        (LaunchKind.PARTIAL, scattered and f.unfilled > MATTERS and f.stores > MATTERS),
        (LaunchKind.BESIDE_DRAM, bound and f.dram > BESIDE),
        (LaunchKind.SCATTERED, bound),
        (LaunchKind.SHORT, f.launching > SHORT),
        (LaunchKind.UNEVEN, f.unevenness > UNEVEN),
        (LaunchKind.SCATTERED_READS, f.rows > MATTERS),
        (LaunchKind.IN_L2, f.from_dram < BUSY and f.l2 > L2_BUSY),
        (LaunchKind.UNITS, max(f.load_store, f.instructions) > BUSY),
        (LaunchKind.DRAM, f.dram > BUSY),
        (LaunchKind.FEW_WARPS, f.warps <= FEW_WARPS),
        (LaunchKind.WAITING, True),
    )


def read_habits(streams: Streams, code: CodeTable) -> Habits:
    """What the instructions of streams do."""
    codes = streams.steps["code"]
    accessing = streams.steps["access"] >= 0
    accesses = streams.accesses[streams.steps["access"][accessing]]
    touched, whole = (_sectors_of(streams.lines[name], accesses) for name in ("touched", "whole"))
    stores = code.table["kind"][codes[accessing]] == Kind.STORE
    stored = touched[stores].sum()
    instructions = max(1, len(codes))
    return Habits(
        swaps=code.swaps[codes].sum() / instructions,
        lookups=code.lookups[codes].sum() / instructions,
        local=touched[accesses["space"] == TraceWord.LOCAL].sum() / max(1, touched.sum()),
        split_stores=(stored - whole[stores].sum()) / max(1, stored),
        untimed=bool(code.untimed[codes].any()),
        prefetches=touched[code.table["kind"][codes[accessing]] == Kind.PREFETCH].sum()
        / max(1, touched.sum()),
    )


def _sectors_of(masks: np.ndarray, accesses: np.ndarray) -> np.ndarray:
    """The sectors in the masks of each access's lines."""
    before = np.concatenate([[0], np.cumsum(_SECTORS[masks])])
    return np.asarray(before[accesses["end"]] - before[accesses["first"]])
