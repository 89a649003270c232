"""Kinds of launches: the dominant mechanism of a launch determines the model's error, and thereby
the width of the interval around its time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from grader.emulator.layouts.execution import TraceWord
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.pipes import Kind, Unit
from grader.emulator.timing.streams import Streams

MATTERS = 0.1
"""Least fraction of a launch's time or sectors from which on a poorly modelled mechanism decides
the kind."""
SLOW_INSTRUCTIONS = 0.005
"""Least fraction of the instructions, for instructions that may take a hundred times as long as
others."""
SHORT = 0.2
"""If the fixed cost is a larger fraction of the time, the model's error is about a microsecond."""
UNEVEN = 2.0
"""Longest block over average block from which on the longest block decides the kind."""
BUSY, L2_BUSY, STORES_BUSY = 0.5, 0.4, 0.6
"""A resource with a higher use is the reason, or nearly the reason, for the waits of warps."""
BESIDE = 0.2
"""DRAM and scattered stores slow each other down from this use of DRAM on: an H200 takes 4 % longer
for a naive transpose of floats than for its stores alone, and 38 % longer for doubles, which move
twice as much (`scatter/transposed_doubles`; 13 % with a quarter of the warps)."""
FEW_WARPS = 16
"""Up to this number of resident warps, hardly any latency is hidden."""


_OF_OBJECTS = [Kind.PHASE, Kind.BULK_LOAD, Kind.BULK_STORE]
_OF_TEXTURES = [Kind.TEXTURE, Kind.SURFACE_STORE]


class LaunchKind(StrEnum):
    """Kinds in order of precedence; the values appear in messages."""

    CLUSTERS = "clusters"
    GRID = "blocks that wait for each other"
    PRODUCTS = "products of warp groups"
    TEXTURES = "textures"
    OBJECTS = "barrier objects or bulk copies"
    CALLS = "calls of the system"
    SLEEPS = "warps that sleep"
    FETCHES = "instructions that are fetched again"
    FENCES = "fences"
    PREFETCHES = "prefetches"
    SWAPS = "compare-and-swap"
    SCATTERED_ATOMICS = "scattered atomics"
    ATOMICS = "contended atomics"
    LOOKUPS = "constants at different indices"
    LOCAL = "local memory"
    LOST = "data that the L2 loses"
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
    """Properties of the instructions of some blocks. `swaps`, `lookups`, `shared`, `barriers`,
    `special`, `matrices`, `copies`: fractions of the instructions; `local`, `prefetches`: fraction
    of the requested sectors in local memory, or prefetched; `split_stores`: fraction of the stored
    sectors that a warp's store covers in part; `wavefronts`: per access to shared memory;
    `load_sectors`, `store_sectors`: per access to global memory; `strong`: fraction of the loads
    that go past the L1, to read what other blocks write; `clusters`: whether blocks wait for
    other blocks of their cluster; `grid`: for all blocks; `products`, `objects`, `textures`:
    whether there are products of warp groups, waits for barrier objects or bulk copies, and reads
    of textures."""

    swaps: float
    lookups: float
    local: float
    split_stores: float
    clusters: bool = False
    grid: bool = False
    prefetches: float = 0.0
    shared: float = 0.0
    barriers: float = 0.0
    special: float = 0.0
    strong: float = 0.0
    matrices: float = 0.0
    copies: float = 0.0
    wavefronts: float = 0.0
    load_sectors: float = 0.0
    store_sectors: float = 0.0
    products: bool = False
    objects: bool = False
    textures: bool = False


@dataclass(frozen=True)
class Facts:
    """Properties of a launch that determine its kind. `launching`, `atomics`: fractions of its time
    for the fixed cost, and for atomics in the busiest slice of the L2. `unfilled`: fraction of the
    stored sectors that no other store completes. `rows`: time to open DRAM rows relative to the
    time to move bytes. `unevenness`: longest block over average block. `from_dram`: sectors from
    DRAM per L1 miss. `warps`: resident warps of an SM. `sleeps`, `fences`, `calls`, `code`:
    fractions of the warps' cycles spent in waits for each. `waves`: waves of resident blocks;
    `floor`: the largest lower bound of the time, as a fraction of it; `dram_share`: bytes that DRAM
    can move in an SM's cycle, for each SM; `in_turns`: whether blocks work one after another;
    `lost`: part of DRAM's bytes that it reads again. The others are fractions of resources
    (LaunchModel.use).
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
    dram_share: float = 0.0
    l1_hits: float = 0.0
    warps_per_block: int = 1
    waves: float = 1.0
    floor: float = 0.0
    in_turns: bool = False
    lost: float = 0.0


def find_kind(facts: Facts) -> LaunchKind:
    """The kind of a launch: the first poorly modelled mechanism that takes enough of the time,
    otherwise the most used resource."""
    return next(kind for kind, found in _match_kinds(facts) if found)


def _match_kinds(f: Facts) -> tuple[tuple[LaunchKind, bool], ...]:
    scattered = f.habits.split_stores > BUSY
    bound = scattered and f.stores > STORES_BUSY
    return (
        (LaunchKind.CLUSTERS, f.habits.clusters),
        (LaunchKind.GRID, f.habits.grid or f.in_turns),
        (LaunchKind.PRODUCTS, f.habits.products),
        (LaunchKind.TEXTURES, f.habits.textures),
        (LaunchKind.OBJECTS, f.habits.objects),
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
        (LaunchKind.LOST, f.lost > BUSY),
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
    """The properties of the instructions of streams."""
    codes, access = streams.steps["code"], streams.steps["access"]
    executed = streams.executed.sum(axis=0)
    kinds, units = code.table["kind"], code.table["unit"]
    made = np.flatnonzero(access >= 0)
    accesses, codes = streams.accesses[access[made]], codes[made]
    touched, whole = (streams.sectors(mask, accesses) for mask in ("touched", "whole"))
    of_access = kinds[codes]
    loads, stores, shared = (of_access == each for each in (Kind.LOAD, Kind.STORE, Kind.SHARED))
    stored = touched[stores].sum()
    instructions, sectors = max(1, len(access)), max(1, touched.sum())
    return Habits(
        swaps=executed[code.swaps].sum() / instructions,
        lookups=executed[code.lookups].sum() / instructions,
        local=touched[accesses["space"] == TraceWord.LOCAL].sum() / sectors,
        split_stores=(stored - whole[stores].sum()) / max(1, stored),
        clusters=bool(executed[code.clusters].any()),
        grid=len(streams.waited) > 0,
        prefetches=touched[of_access == Kind.PREFETCH].sum() / sectors,
        shared=shared.sum() / instructions,
        barriers=executed[kinds == Kind.BARRIER].sum() / instructions,
        strong=(code.table["past_l1"][codes[loads]] == 1).sum() / max(1, loads.sum()),
        special=executed[units == Unit.SPECIAL].sum() / instructions,
        matrices=executed[code.matrices].sum() / instructions,
        copies=(of_access == Kind.COPY).sum() / instructions,
        wavefronts=accesses["wavefronts"][shared].sum() / max(1, shared.sum()),
        load_sectors=touched[loads].sum() / max(1, loads.sum()),
        store_sectors=stored / max(1, stores.sum()),
        products=bool(executed[kinds == Kind.PRODUCT].any()),
        objects=bool(executed[np.isin(kinds, _OF_OBJECTS)].any()),
        textures=bool(executed[np.isin(kinds, _OF_TEXTURES)].any()),
    )
