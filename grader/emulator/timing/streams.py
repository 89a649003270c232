"""Traces of warps -> what the simulation of an SM walks along: instructions in order, and what each
access asks of the memory system.

An access is described by its wavefronts in the data stage (the most distinct words in one of 32
banks, per phase of 32 lanes up to 4 bytes, 16 lanes of 8 and 8 lanes of 16: for global memory too,
which shares the banks: an H100 takes 34 cycles for a load of 32 rows that lie a power of two apart,
and 18 for two such loads of 16 rows and 2), its wavefronts in the tag stage (see _tag_bank), and
the 32-byte sectors that it touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from grader.emulator.layout import TraceWord
from grader.emulator.timing.compiled import compiled

LANES, BANKS, WORD_BYTES, SECTOR_BYTES, LINE_BYTES = 32, 32, 4, 32, 128
GLOBAL, SHARED, LOCAL = TraceWord.GLOBAL, TraceWord.SHARED, TraceWord.LOCAL
LOCAL_LINES = 1 << 40
"""Lines of local memory are numbered from here on, apart from those of global memory."""
_BLOCK, _ACCESS, _SHIFT = TraceWord.BLOCK, TraceWord.ACCESS, TraceWord.SPACE_SHIFT


@dataclass(frozen=True)
class Streams:
    """The warps of some blocks. Warp w runs `code[first[w]:first[w + 1]]`, indices of instructions;
    `access` is beside it, -1 for none.

    Of access a: `wavefronts` and `tags` in cycles, and its lines, with a mask of touched and one of
    wholly written sectors each, at `line_first[a]:line_first[a + 1]`. An instruction with two
    accesses (asynchronous copies) has the second one right behind the first. `fraction` is the part
    of the blocks' executed instructions that is here: traces may be cut off.
    """

    first: np.ndarray
    code: np.ndarray
    access: np.ndarray
    space: np.ndarray
    wavefronts: np.ndarray
    tags: np.ndarray
    line_first: np.ndarray
    lines: np.ndarray
    touched: np.ndarray
    whole: np.ndarray
    warps_per_block: int
    fraction: float

    @property
    def blocks(self) -> int:
        return (len(self.first) - 1) // self.warps_per_block


def make_streams(
    traces: Sequence[Sequence[np.ndarray]],
    executed: int,
    blocks: Sequence[range],
    widths: np.ndarray,
    barriers: np.ndarray,
    local_bytes: int,
) -> Streams:
    """Streams of the blocks' traces. `blocks` are the instructions of each basic block, `widths`
    the bytes a lane moves, by instruction."""
    starts = np.array([block.start for block in blocks], dtype=np.int64)
    sizes = np.array([len(block) for block in blocks], dtype=np.int64)
    words = (
        np.concatenate([warp for block in traces for warp in block])
        if traces
        else np.zeros(0, dtype=np.uint32)
    )
    ends = np.cumsum([0, *(len(warp) for block in traces for warp in block)])
    instructions, accesses, most_lines = _measure(words, sizes)
    first, code, access, space, wavefronts, tags, line_first, lines, touched, whole_sectors = (
        _expand(
            words,
            ends,
            starts,
            sizes,
            widths,
            local_bytes // WORD_BYTES,
            instructions,
            accesses,
            most_lines,
        )
    )
    whole = int(first[-1])
    fraction = 1.0
    if whole < executed:
        first, code, access = _cut_at_barriers(first, code, access, barriers, len(traces[0]))
        fraction = len(code) / max(1, executed)
    return Streams(
        first,
        code,
        access,
        space,
        wavefronts,
        tags,
        line_first,
        lines,
        touched,
        whole_sectors,
        warps_per_block=len(traces[0]),
        fraction=fraction,
    )


def _cut_at_barriers(
    first: np.ndarray, code: np.ndarray, access: np.ndarray, barriers: np.ndarray, warps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut traces that ran out of room so that all warps of a block end behind equally many
    barriers."""
    parts, new_first = [], [0]
    for start in range(0, len(first) - 1, warps):
        spans = [np.arange(first[w], first[w + 1]) for w in range(start, start + warps)]
        places = [span[barriers[code[span]]] for span in spans]
        common = min(len(place) for place in places)
        shortest = min(len(span) for span in spans)
        for span, place in zip(spans, places, strict=True):
            end = place[common - 1] + 1 - span[0] if common else shortest
            parts.append(span[:end])
            new_first.append(new_first[-1] + end)
    kept = np.concatenate(parts)
    return np.array(new_first, dtype=np.int64), code[kept], access[kept]


@compiled("UniTuple(i8, 3)(u4[::1], i8[::1])")
def _measure(words, sizes):  # type: ignore[no-untyped-def]
    """How many instructions, accesses and (at most) lines the traces hold."""
    position, instructions, accesses, lines = 0, 0, 0, 0
    while position < len(words):
        word = words[position]
        if (word >> 30) == (_BLOCK >> 30):
            instructions += sizes[word & 0xFFFF]
            position += 1
        else:
            accesses += 1
            if ((word >> _SHIFT) & 3) == SHARED:
                position += 3
            else:
                lines += LANES
                position += 3 + LANES
    return instructions, accesses, lines


@njit
def _tag_bank(line):  # type: ignore[no-untyped-def]
    """The bank of the tag stage that holds a line: bits of its index folded to two by exclusive or
    (fitted on te42kyfo/gpu-benches)."""
    folded: int = line ^ (line >> 2) ^ (line >> 4) ^ (line >> 6) ^ (line >> 8)
    return folded & 3


@njit
def _data_wavefronts(words, active, width):  # type: ignore[no-untyped-def]
    """Cycles of the data stage: the most distinct words in a bank, phase by phase. `words` are the
    lanes' first word indices."""
    per_lane = max(1, width // WORD_BYTES)
    lanes = LANES // per_lane
    total = 0
    seen = np.empty(LANES * 4, dtype=np.int64)
    counts = np.empty(BANKS, dtype=np.int64)
    for phase in range(per_lane):
        counts[:] = 0
        known = 0
        worst = 0
        for lane in range(phase * lanes, (phase + 1) * lanes):
            if not (active >> lane) & 1:
                continue
            for part in range(per_lane):
                word = words[lane] + part
                new = True
                for k in range(known - 1, -1, -1):
                    if seen[k] == word:
                        new = False
                        break
                if new:
                    seen[known] = word
                    known += 1
                    counts[word % BANKS] += 1
                    worst = max(worst, counts[word % BANKS])
        total += worst
    return max(1, total)


@njit
def _add_lines(  # type: ignore[no-untyped-def]
    words, position, mask, width, local, local_line, lines, touched, covered, used, lane_words
):
    """Append the lines of an access whose record is at `position`: their sectors, and their bytes
    that are covered, by words."""
    start = used
    for lane in range(LANES):
        address = np.int64(words[position + 3 + lane])
        if local:
            address = (address // WORD_BYTES) * LINE_BYTES + lane * WORD_BYTES
        lane_words[lane] = address // WORD_BYTES
        if not (mask >> lane) & 1:
            continue
        line = address // LINE_BYTES
        if local:
            line += LOCAL_LINES + local_line
        found = -1
        for k in range(used - 1, start - 1, -1):
            if lines[k] == line:
                found = k
                break
        if found < 0:
            found = used
            lines[used] = line
            touched[used] = 0
            covered[used - start] = 0
            used += 1
        touched[found] |= 1 << ((address % LINE_BYTES) // SECTOR_BYTES)
        # By words of 4 bytes: narrower stores never cover a sector here, which they seldom do.
        for part in range(max(1, width // WORD_BYTES) if width >= WORD_BYTES else 0):
            covered[found - start] |= 1 << ((address % LINE_BYTES) // WORD_BYTES + part)
    return used


@compiled(
    "Tuple((i8[::1], i4[::1], i4[::1], i1[::1], i4[::1], i4[::1], i8[::1], i8[::1], i1[::1],"
    " i1[::1]))(u4[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8, i8, i8, i8)"
)
def _expand(words, ends, starts, sizes, widths, local_words, instructions, accesses, max_lines):  # type: ignore[no-untyped-def]
    first = np.zeros(len(ends), dtype=np.int64)
    code = np.empty(instructions, dtype=np.int32)
    access = np.full(instructions, -1, dtype=np.int32)
    space = np.empty(accesses, dtype=np.int8)
    wavefronts = np.empty(accesses, dtype=np.int32)
    tags = np.zeros(accesses, dtype=np.int32)
    line_first = np.zeros(accesses + 1, dtype=np.int64)
    lines = np.empty(max_lines, dtype=np.int64)
    touched = np.empty(max_lines, dtype=np.int8)
    whole = np.empty(max_lines, dtype=np.int8)
    lane_words = np.empty(LANES, dtype=np.int64)
    covered = np.empty(LANES, dtype=np.int64)
    n, a, used = 0, 0, 0  # instructions, accesses, lines
    for warp in range(len(ends) - 1):
        place = n
        position = ends[warp]
        while position < ends[warp + 1]:
            word = words[position]
            if (word >> 30) == (_BLOCK >> 30):
                block = word & 0xFFFF
                place = n
                for index in range(sizes[block]):
                    code[n] = starts[block] + index
                    n += 1
                position += 1
                continue
            here = (word >> _SHIFT) & 3
            instruction = np.int64(word & 0xFFFF)
            mask = np.int64(words[position + 1])
            space[a] = here
            wavefronts[a] = max(1, np.int64(words[position + 2]))
            while place < n and code[place] != instruction:
                place += 1
            if place < n and access[place] < 0:
                access[place] = a
            if here == SHARED:
                position += 3
                a += 1
                line_first[a] = used
                continue
            width = widths[instruction]
            start = used
            used = _add_lines(
                words,
                position,
                mask,
                width,
                here == LOCAL,
                warp * local_words,
                lines,
                touched,
                covered,
                used,
                lane_words,
            )
            whole[start:used] = 0
            banks = np.zeros(4, dtype=np.int64)
            for k in range(start, used):
                banks[_tag_bank(lines[k])] += 1
                for sector in range(4):
                    if (covered[k - start] >> (8 * sector)) & 0xFF == 0xFF:
                        whole[k] |= 1 << sector
            tags[a] = max(1, banks.max())
            wavefronts[a] = 1 if here == LOCAL else _data_wavefronts(lane_words, mask, width)
            position += 3 + LANES
            a += 1
            line_first[a] = used
        first[warp + 1] = n
    return (
        first,
        code,
        access,
        space,
        wavefronts,
        tags,
        line_first,
        lines[:used],
        touched[:used],
        whole[:used],
    )
