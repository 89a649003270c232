"""What the simulated SM holds: its resident warps and blocks, its sub-partitions, its L1, and when
each of the units that they share is free. Times are in cycles."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from grader.emulator.timing.code_table import CodeRow
from grader.emulator.timing.compiled import layout_of, make_record, make_rows
from grader.emulator.timing.expand import Access, Line, Step
from grader.emulator.timing.parameters import L1_WAYS, Parameters
from grader.emulator.timing.streams import Streams

SCOREBOARDS = 6
COPY_GROUPS = 8
SUB_PARTITIONS = 4
NEVER = 1e300
EMPTY = -1


class Warp:
    """A warp: the steps `position` to `last` are still to be issued, the next one from the cycle
    `ready` on."""

    place: int
    """Its block's, among those of the SM."""
    position: int
    last: int
    ready: float
    board: Annotated[list[float], f"{SCOREBOARDS}f8"]
    """When each scoreboard is free."""
    at_barrier: bool
    groups: Annotated[list[float], f"{COPY_GROUPS}f8"]
    """When each of the latest groups of asynchronous copies has arrived."""
    committed: int
    """Groups so far."""
    open_copy: float
    """When the copies that belong to no group yet have arrived."""


class Block:
    """A place for a block. `number` is the block's own in the order of blocks; it finds the lines
    of its streams `shift` further on."""

    number: int
    shift: int
    living: int
    arrived: int


class Partition:
    """A sub-partition: when its pipes (by Unit) and its two register banks can take another
    instruction, and the warp that issued last. Nothing can be issued before `next_ready`."""

    pipes: Annotated[list[float], "6f8"]
    even_bank: float
    odd_bank: float
    latest: int
    next_ready: float


class CacheLine:
    """A line of the L1: masks of the sectors that it holds, which have arrived at `ready`."""

    tag: int
    sectors: int
    ready: float
    used: float


class Shared:
    """When the units that all warps share are free, the parts of a sector that are still to be
    passed to DRAM, the state of the random numbers, and how many blocks started and ended."""

    lsu_free: float
    port_free: float
    l2_free: float
    store_free: float
    dram_free: float
    read_credit: float
    write_credit: float
    random: int
    started: int
    ended: int


class Statistics:
    """Of a simulation: instructions, busy cycles of the pipes (of all sub-partitions together) and
    of the units, bytes, sectors. `full_*` are of the time until the first place stays empty."""

    issued: float
    fma: float
    alu: float
    lsu: float
    l2_bytes: float
    dram_bytes: float
    store_cycles: float
    l1_sectors: float
    l1_misses: float
    cycles: float
    double: float
    special: float
    full_cycles: float
    full_issued: float
    load_sectors: float
    load_hits: float


class SM(NamedTuple):
    """An SM with all that it works on. `order` are the blocks to run, as indices into the streams;
    `ends` tells when each of them ended. Lines of the L1 lie set by set."""

    table: Sequence[CodeRow]
    first: Sequence[int]
    steps: Sequence[Step]
    accesses: Sequence[Access]
    lines: Sequence[Line]
    order: Sequence[int]
    ends: MutableSequence[float]
    warps: Sequence[Warp]
    blocks: Sequence[Block]
    partitions: Sequence[Partition]
    l1: Sequence[CacheLine]
    shared: Shared
    statistics: Statistics
    p: Parameters


def make_sm(
    table: np.ndarray, streams: Streams, order: np.ndarray, resident: int, parameters: Parameters
) -> SM:
    """An SM that runs the blocks `order`, at most `resident` at a time; nothing has started."""
    warps = make_rows(Warp, resident * streams.warps_per_block)
    warps["ready"] = NEVER
    warps["place"] = np.arange(len(warps)) // streams.warps_per_block
    partitions = make_rows(Partition, SUB_PARTITIONS)
    partitions["latest"] = -1
    l1 = make_rows(CacheLine, max(1, int(parameters.l1_lines) // L1_WAYS) * L1_WAYS)
    l1["tag"] = EMPTY
    shared = make_record(Shared)
    shared.read_credit = shared.write_credit = 0.5
    shared.random = 12345
    fields: dict[str, Any] = {
        "table": table,
        "first": streams.first,
        "steps": streams.steps,
        "accesses": streams.accesses,
        "lines": streams.lines,
        "order": order,
        "ends": np.zeros(len(order)),
        "warps": warps,
        "blocks": make_rows(Block, resident),
        "partitions": partitions,
        "l1": l1,
        "shared": shared,
        "statistics": make_record(Statistics),
        "p": np.array([tuple(vars(parameters).values())], dtype=layout_of(Parameters))[0],
    }
    return SM(**fields)
