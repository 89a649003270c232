"""The checked mode of a launch: the tags of its memory, its findings in the order of discovery, and
its accesses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum

import numpy as np

from grader.emulator.codegen.native_kernel import CheckedCode
from grader.emulator.layouts.checked import (
    CHECKED_STATE,
    FOUND,
    INSTRUCTION_MASK,
    INSTRUCTION_SHIFT,
    MAX_BLOCKS,
    FindingCode,
    Trait,
)
from grader.emulator.layouts.execution import WARP_LANES
from grader.emulator.run.launch import Triple, place_in
from grader.emulator.run.lazy_pages import make_zeros
from grader.emulator.run.memory import FIRST_OFFSET, DeviceMemory, Region

_WORD = 1 << 64


class HazardKind(StrEnum):
    """Kinds of findings of the checked mode."""

    RACE = "race"
    COPY_UNDER_WAY = "copy_under_way"
    ABSENT_LANES = "absent_lanes"
    OVERRUN = "overrun"
    UNWRITTEN = "unwritten"
    ABSENT_LANE_READ = "absent_lane_read"
    ENDED_BLOCK = "ended_block"


@dataclass(frozen=True)
class Party:
    """A thread at an instruction, whose byte offset in the code is `offset`. `line`: its source
    line."""

    line: int | None
    offset: int
    block: Triple
    thread: Triple
    stores: bool
    atomic: bool


@dataclass(frozen=True)
class Hazard:
    """A finding. `first` happened before `second`; they are equal if no other thread is involved.

    `certain`: it is a mistake in any case; otherwise only if the result depends on the previous
    contents of memory. `address`: in its `space`; for shared memory, relative to the block's own.
    `lanes`: the lanes for which a collective operation waits in vain. `in_warp`: both are lanes of
    a warp; if `first` and `second` are the same thread, the other lane is unknown.
    """

    kind: HazardKind
    certain: bool
    first: Party
    second: Party
    space: str | None
    address: int
    lanes: tuple[int, ...] = ()
    in_warp: bool = False


class Access(Enum):
    """Atomic accesses include volatile and scoped ones: they do not race with each other."""

    READ = "read"
    WRITE = "write"
    ATOMIC_READ = "atomic read"
    ATOMIC_WRITE = "atomic write"


Touched = Mapping[Access, np.ndarray]
"""Ascending rows of first offset and end in the window."""


def join_touched(parts: Sequence[Touched]) -> Touched:
    """The accesses of several launches."""
    if len(parts) == 1:
        return parts[0]
    return {
        access: _join_ranges(np.concatenate([part[access] for part in parts if access in part]))
        for access in dict.fromkeys(access for part in parts for access in part)
    }


def _join_ranges(rows: np.ndarray) -> np.ndarray:
    """Ascending rows without common parts, which cover the same offsets."""
    rows = rows[np.argsort(rows[:, 0])]
    ends = np.maximum.accumulate(rows[:, 1])
    apart = np.append(rows[1:, 0] > ends[:-1], True)
    starts = rows[np.append(True, apart[:-1]), 0]
    return np.stack([starts, ends[apart]], axis=1)


_MEANINGS: Mapping[int, tuple[HazardKind, str | None, bool]] = {
    FindingCode.SHARED_RACE: (HazardKind.RACE, "shared", True),
    FindingCode.WARP_RACE: (HazardKind.RACE, "shared", True),
    FindingCode.GLOBAL_RACE: (HazardKind.RACE, "global", True),
    FindingCode.ASYNC_COPY: (HazardKind.COPY_UNDER_WAY, "shared", True),
    FindingCode.SHARED_OVERRUN: (HazardKind.OVERRUN, "shared", True),
    FindingCode.ABSENT_LANES: (HazardKind.ABSENT_LANES, None, True),
    FindingCode.MAYBE_SHARED_UNWRITTEN: (HazardKind.UNWRITTEN, "shared", False),
    FindingCode.MAYBE_GLOBAL_UNWRITTEN: (HazardKind.UNWRITTEN, "global", False),
    FindingCode.MAYBE_ABSENT_LANE: (HazardKind.ABSENT_LANE_READ, None, False),
    FindingCode.CLUSTER_RACE: (HazardKind.RACE, "shared", True),
    FindingCode.ENDED_BLOCK: (HazardKind.ENDED_BLOCK, "shared", True),
}
_OF_BLOCKS = {FindingCode.GLOBAL_RACE, FindingCode.CLUSTER_RACE, FindingCode.ENDED_BLOCK}
"""Findings of two blocks."""
_PAIRS = {HazardKind.RACE, HazardKind.COPY_UNDER_WAY, HazardKind.ENDED_BLOCK}


class CheckedLaunch:
    """The tags of a launch. `memory` must track writes."""

    def __init__(
        self,
        code: CheckedCode,
        memory: DeviceMemory,
        *,
        shared_bytes: int,
        grid: Triple,
        block: Triple,
    ) -> None:
        assert memory.written is not None
        self._code, self._grid, self._block = code, grid, block
        shifts, count = code.shifts, len(code.code)
        blocks = grid[0] * grid[1] * grid[2]
        shared_granules = (shared_bytes >> shifts["shared"]) + 4
        global_granules = (len(memory.written) >> shifts["global"]) + 4
        self._reported = np.zeros(FindingCode.COUNT * count, dtype=np.uint8)
        self._found = np.zeros(FindingCode.COUNT * count, dtype=FOUND)
        self._fences = np.zeros(min(blocks, MAX_BLOCKS) + 1, dtype=np.uint16)
        self._shared = np.zeros((shared_granules, 2), dtype=np.uint64)
        sparse = memory.sparse
        self._global = make_zeros(2 * global_granules, np.uint64, sparse=sparse).reshape(-1, 2)
        self._shared_ticket_owners = np.zeros(shared_granules, dtype=np.uint32)
        self._global_ticket_owners = make_zeros(global_granules, np.uint32, sparse=sparse)
        self._shared_calm = np.zeros(shared_granules, dtype=np.uint32)
        self._global_calm = make_zeros(global_granules, np.uint8, sparse=sparse)
        self.record = np.zeros(1, dtype=CHECKED_STATE)
        record = self.record[0]
        record["shared_shift"], record["global_shift"] = shifts["shared"], shifts["global"]
        record["block"] = blocks <= MAX_BLOCKS
        record["shared_tag_bytes"] = self._shared.nbytes
        record["shared_tags"] = self._shared.ctypes.data
        before = FIRST_OFFSET >> shifts["global"]
        record["global_tags"] = (self._global.ctypes.data - 16 * before) % _WORD
        record["shared_ticket_owners"] = self._shared_ticket_owners.ctypes.data
        record["global_ticket_owners"] = (
            self._global_ticket_owners.ctypes.data - 4 * before
        ) % _WORD
        record["shared_calm"] = self._shared_calm.ctypes.data
        record["global_calm"] = (self._global_calm.ctypes.data - before) % _WORD
        record["written"] = (memory.written.ctypes.data - FIRST_OFFSET) % _WORD
        record["instructions"] = count
        record["traits"], record["lines"] = code.traits.ctypes.data, code.lines.ctypes.data
        record["extents"] = code.extents.ctypes.data
        for name in ("fences", "reported", "found"):
            record[name] = getattr(self, f"_{name}").ctypes.data

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """The findings so far."""
        found = self._found[: int(self.record[0]["found_count"])]
        names = FOUND.names or ()
        return tuple(self._describe(dict(zip(names, row, strict=True))) for row in found.tolist())

    def touched(self, regions: Iterable[Region]) -> Touched:
        """The accesses to these regions."""
        return _find_touched(self._global, self._code.traits, self._code.shifts["global"], regions)

    def _describe(self, found: Mapping[str, int]) -> Hazard:
        """The finding in a FOUND record."""
        code, block, thread = found["code"], found["block"], found["thread"]
        kind, space, certain = _MEANINGS[code]
        second = first = self._party(found["instruction"], block, thread)
        if kind in _PAIRS:
            others_block = found["other_block"] if code in _OF_BLOCKS else block
            first = self._party(found["other_instruction"], others_block, found["other_thread"])
        same_warp = thread // WARP_LANES == found["other_thread"] // WARP_LANES
        return Hazard(
            kind,
            certain,
            first,
            second,
            space,
            found["address"] - (self._code.shared_start if space == "shared" else 0),
            tuple(lane for lane in range(WARP_LANES) if found["mask"] >> lane & 1),
            in_warp=kind in _PAIRS and first.block == second.block and same_warp,
        )

    def _party(self, instruction: int, block: int, thread: int) -> Party:
        code = self._code.code[instruction]
        bits = int(self._code.traits[instruction])
        return Party(
            line=code.line,
            offset=code.offset,
            block=place_in(self._grid, block),
            thread=place_in(self._block, thread),
            stores=bool(bits & Trait.STORES),
            atomic=bool(bits & Trait.ATOMIC),
        )


def _find_touched(
    tags: np.ndarray, traits: np.ndarray, shift: int, regions: Iterable[Region]
) -> Touched:
    """The accesses to these regions. `tags`: TAGS as columns, per granule of 2**`shift` bytes; of
    several writers of a granule, the last counts."""
    found: dict[Access, list[np.ndarray]] = {}
    kinds = ((Access.WRITE, Access.ATOMIC_WRITE), (Access.READ, Access.ATOMIC_READ))
    for region in regions:
        start = region.offset - FIRST_OFFSET
        first, end = start >> shift, -(-(start + region.size_bytes) >> shift)
        for row, (plain, atomic) in zip(tags.T, kinds, strict=True):
            part = row[first:end]
            used = part != 0
            if not used.any():
                continue
            is_atomic = np.zeros(len(part), bool)
            instructions = part[used] >> INSTRUCTION_SHIFT & INSTRUCTION_MASK
            is_atomic[used] = traits[instructions] & Trait.ATOMIC != 0
            for access, chosen in ((plain, used & ~is_atomic), (atomic, is_atomic)):
                ranges = (_find_ranges(chosen) + first << shift) + FIRST_OFFSET
                found.setdefault(access, []).append(ranges)
    return {access: np.concatenate(parts) for access, parts in found.items()}


def _find_ranges(chosen: np.ndarray) -> np.ndarray:
    """Rows of start and end of the runs of True."""
    edges = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0))
    return edges.reshape(-1, 2)
