"""The access with the highest cost beyond its minimum, per instruction, with its addresses; and the
wavefronts of a shared-memory access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.layouts.execution import (
    BANK_BYTES,
    BANKS,
    CLUSTER_SHIFT,
    WARP_LANES,
    AccessFlag,
)

Wavefront = tuple[int, ...]
"""The lanes that a wavefront serves."""


@dataclass(frozen=True)
class WorstRequest:
    """An access of a warp. `addresses`: per lane, None if inactive; offsets in the window of global
    memory, or in the block's shared memory.

    `passes`: wavefronts (shared) or sectors (global), `passes_ideal` the fewest possible, `bytes`
    the distinct bytes; `flags`: AccessFlag bits. `block`: linear index of the block; `warp`: index
    in the block.
    """

    line: int | None
    space: str
    load: bool
    atomic: bool
    width: int
    flags: int
    addresses: tuple[int | None, ...]
    passes: int
    passes_ideal: int
    bytes: int
    block: int
    warp: int


def keep_worse(worst: np.ndarray, others: np.ndarray) -> None:
    """Replaces records of `worst` by worse records of `others`; of equal records, the lower block's
    stays."""
    same = others["rank"] == worst["rank"]
    better = (others["rank"] > worst["rank"]) | (same & (others["block"] < worst["block"]))
    worst[better] = others[better]


def make_request(
    found: np.void, line: int | None, space: str, *, load: bool, atomic: bool
) -> WorstRequest:
    """Converts a WORST record."""
    mask, window = int(found["mask"]), (1 << CLUSTER_SHIFT) - 1
    words = found["addresses"] & (window if space == "shared" else 0xFFFFFFFF)
    addresses = tuple(
        address if mask >> lane & 1 else None for lane, address in enumerate(words.tolist())
    )
    names = ("width", "flags", "passes", "passes_ideal", "bytes", "block", "warp")
    numbers = {name: int(found[name]) for name in names}
    return WorstRequest(line, space, load, atomic, addresses=addresses, **numbers)


def list_wavefronts(request: WorstRequest) -> tuple[Wavefront, ...]:
    """The wavefronts of a shared-memory access, by the rules of `count_wavefronts` in
    cpp/memory/counting.cpp. Their order on a GPU is unknown; here it is the order of lanes."""
    units = _units(request)
    phases = max(1, request.width // BANK_BYTES)
    size = WARP_LANES // phases
    banks = BANKS // phases
    parts = [range(start, start + size) for start in range(0, WARP_LANES, size)]
    plain_load = request.load and not request.atomic and not request.flags & AccessFlag.MATRIX
    if phases == 1 or not plain_load:
        found = [each for part in parts for each in _serve(units, part, banks, request.flags)]
    else:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        found = [each for pair in pairs for each in _serve_pair(units, pair, banks, request.flags)]
    return tuple(found) * (2 if request.flags & AccessFlag.TWICE else 1)


def _units(request: WorstRequest) -> dict[int, int]:
    """The index of each active lane's word or, for wider accesses, of its element."""
    bytes_each = max(request.width, BANK_BYTES)
    units = {
        lane: address // bytes_each
        for lane, address in enumerate(request.addresses)
        if address is not None
    }
    if request.flags & AccessFlag.ONE_A_BANK:
        banks = BANKS * BANK_BYTES // bytes_each
        return {lane: unit % banks for lane, unit in units.items()}
    return units


def _serve(
    units: Mapping[int, int], part: Sequence[int], banks: int, flags: int
) -> Iterator[Wavefront]:
    """The wavefronts of a phase: each delivers a unit of every bank to all lanes that request it,
    except for lanes that take turns."""
    queues: dict[int, dict[object, list[int]]] = {}
    for lane in (lane for lane in part if lane in units):
        unit = units[lane]
        turn = (unit, lane) if flags & AccessFlag.TURNS else unit
        queues.setdefault(unit % banks, {}).setdefault(turn, []).append(lane)
    rows = [list(queue.values()) for queue in queues.values()]
    for number in range(max(map(len, rows), default=0)):
        yield tuple(sorted(lane for row in rows if number < len(row) for lane in row[number]))


def _serve_pair(
    units: Mapping[int, int], pair: tuple[range, range], banks: int, flags: int
) -> Iterator[Wavefront]:
    """Two phases of a load share a wavefront if partner lanes request the same unit and no bank has
    two units."""
    lanes = range(pair[0].start, pair[1].stop)
    together = [*_serve(units, lanes, banks, flags)]
    if len(together) <= 1 and any(_partners_share(units, lanes, step) for step in (1, 2)):
        yield from together
        return
    for part in pair:
        yield from _serve(units, part, banks, flags)


def _partners_share(units: Mapping[int, int], lanes: range, step: int) -> bool:
    """Whether each active lane requests the same unit as its partner, if that is active."""
    active = [lane for lane in lanes if lane in units]
    return all(units[lane] == units.get(lane ^ step, units[lane]) for lane in active)
