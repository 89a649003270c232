"""Traces of warps -> what the simulation of an SM walks along: instructions in order, and what each
access asks of the memory system.

An access is described by its wavefronts in the data stage (the most distinct words in one of 32
banks, per phase of 32 lanes up to 4 bytes, 16 lanes of 8 and 8 lanes of 16: for global memory too,
which shares the banks: an H100 takes 34 cycles for a load of 32 rows that lie a power of two apart,
and 18 for two such loads of 16 rows and 2), its wavefronts in the tag stage (see _tag_wavefronts),
and the 32-byte sectors that it touches.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from typing import Annotated, NamedTuple, cast

import numpy as np

from grader.emulator.layout import TraceWord
from grader.emulator.timing.compiled import compiled, step

LANES, BANKS, WORD_BYTES, SECTOR_BYTES, LINE_BYTES = 32, 32, 4, 32, 128
LINE_SECTORS, SECTOR_WORDS = LINE_BYTES // SECTOR_BYTES, SECTOR_BYTES // WORD_BYTES
TAG_BANKS = 4
GLOBAL, SHARED, LOCAL = map(int, (TraceWord.GLOBAL, TraceWord.SHARED, TraceWord.LOCAL))
BLOCK, SPACE_SHIFT = int(TraceWord.BLOCK), int(TraceWord.SPACE_SHIFT)
LOCAL_LINES = 1 << 40
"""Lines of local memory are numbered from here on, apart from those of global memory."""
signed = cast(Callable[[int], int], np.int64)
"""Compiled code gets words of traces as unsigned integers."""


class Step:
    """An instruction that a warp executes: its index in the code, and that of its access, -1 for
    none."""

    code: Annotated[int, "i4"]
    access: Annotated[int, "i4"]


class Access:
    """What an access asks for: `wavefronts` and `tags` in cycles, and the lines `first` to `end`.

    An instruction with two accesses (asynchronous copies) has the second one right behind the
    first.
    """

    first: int
    end: int
    wavefronts: Annotated[int, "i4"]
    tags: Annotated[int, "i4"]
    space: Annotated[int, "i1"]


class Line:
    """A line of an access, with masks of the sectors that it touches, and that it writes whole."""

    number: int
    touched: Annotated[int, "i1"]
    whole: Annotated[int, "i1"]


class Scratch:
    """Room for one access, as compiled code allocates nothing.

    `lane_words` are the first word that each lane accesses; `covered` are the words of each line
    that are written, as masks; `seen` are distinct words, and `counts` how many are in each bank.
    """

    lane_words: Annotated[list[int], f"{LANES}i8"]
    covered: Annotated[list[int], f"{LANES}i8"]
    seen: Annotated[list[int], f"{LANES}i8"]
    counts: Annotated[list[int], f"{BANKS}i8"]


class Trace(NamedTuple):
    """The `words` of all warps, warp after warp (see native.tracing), and what they are expanded
    to. `ends` has a 0 in front of the ends of warps; `starts` and `sizes` are of basic blocks."""

    words: Sequence[Annotated[int, "u4"]]
    ends: Sequence[int]
    starts: Sequence[int]
    sizes: Sequence[int]
    widths: Sequence[int]
    first: MutableSequence[int]
    steps: Sequence[Step]
    accesses: Sequence[Access]
    lines: Sequence[Line]
    scratch: Scratch


@step
def _is_block(word: int) -> bool:
    """Whether a record is of a basic block, else it is of an access."""
    return (word >> 30) == (BLOCK >> 30)


@step
def _space_of(word: int) -> int:
    return (word >> SPACE_SHIFT) & 3


@step
def _length_of(word: int) -> int:
    """Words of a record."""
    if _is_block(word):
        return 1
    return 3 if _space_of(word) == SHARED else 3 + LANES


@step
def _add_block(trace: Trace, block: int, n: int) -> int:
    """Append the instructions of a basic block to the steps."""
    for index in range(trace.sizes[block]):
        trace.steps[n + index].code = trace.starts[block] + index
        trace.steps[n + index].access = -1
    return n + trace.sizes[block]


@step
def _add_access(trace: Trace, position: int, a: int, used: int, local_line: int) -> int:
    """Fill access `a` from the record at a position, and append its lines; returns their number so
    far. `local_line` is the first line of the warp's local memory."""
    access, word, lane_words = trace.accesses[a], trace.words[position], trace.scratch.lane_words
    mask = signed(trace.words[position + 1])
    access.space = _space_of(word)
    access.first = used
    access.wavefronts = max(1, signed(trace.words[position + 2]))
    if access.space != SHARED:
        local = access.space == LOCAL
        for lane in range(LANES):
            lane_words[lane] = signed(trace.words[position + 3 + lane]) // WORD_BYTES
            if local:  # interleaved: a word of each lane to a line
                lane_words[lane] = (LOCAL_LINES + local_line + lane_words[lane]) * BANKS + lane
        width = trace.widths[word & 0xFFFF]
        used = _add_lines(trace.lines, trace.scratch, used, mask, width)
        access.tags = _tag_wavefronts(trace.lines, trace.scratch.counts, access.first, used)
        access.wavefronts = 1 if local else _data_wavefronts(trace.scratch, mask, width)
    access.end = used
    return used


@step
def _add_lines(lines: Sequence[Line], scratch: Scratch, used: int, mask: int, width: int) -> int:
    """Append the lines that the lanes of a mask touch; returns the number of lines so far."""
    start, covered = used, scratch.covered
    for lane in range(LANES):
        if not (mask >> lane) & 1:
            continue
        number, word = scratch.lane_words[lane] // BANKS, scratch.lane_words[lane] % BANKS
        place = _find_line(lines, start, used, number)
        if place == used:
            used += 1
            lines[place].number = number
            covered[place - start] = 0
        lines[place].touched |= 1 << (word // SECTOR_WORDS)
        # By words of 4 bytes: narrower stores never cover a sector here, which they seldom do.
        for part in range(width // WORD_BYTES):
            covered[place - start] |= 1 << (word + part)
    for place in range(start, used):
        for sector in range(LINE_SECTORS):
            if (covered[place - start] >> (SECTOR_WORDS * sector)) & 0xFF == 0xFF:
                lines[place].whole |= 1 << sector
    return used


@step
def _find_line(lines: Sequence[Line], start: int, end: int, number: int) -> int:
    """Where a line is among those of an access, else their end. Neighbours share lines: from the
    latest one on."""
    for place in range(end - 1, start - 1, -1):
        if lines[place].number == number:
            return place
    return end


@step
def _tag_wavefronts(lines: Sequence[Line], counts: list[int], start: int, end: int) -> int:
    """Cycles of the tag stage: the most lines in one of its banks, whose number is the line's,
    folded to two bits by exclusive or (fitted on te42kyfo/gpu-benches)."""
    for bank in range(TAG_BANKS):
        counts[bank] = 0
    most = 1
    for place in range(start, end):
        line = lines[place].number
        bank = (line ^ (line >> 2) ^ (line >> 4) ^ (line >> 6) ^ (line >> 8)) & (TAG_BANKS - 1)
        counts[bank] += 1
        most = max(most, counts[bank])
    return most


@step
def _data_wavefronts(scratch: Scratch, active: int, width: int) -> int:
    """Cycles of the data stage: the most distinct words in a bank, phase by phase."""
    counts, seen = scratch.counts, scratch.seen
    per_lane = max(1, width // WORD_BYTES)
    lanes = LANES // per_lane
    total = 0
    for phase in range(per_lane):
        known, most = 0, 0
        for bank in range(BANKS):
            counts[bank] = 0
        for lane in range(phase * lanes, (phase + 1) * lanes):
            if not (active >> lane) & 1:
                continue
            for word in range(scratch.lane_words[lane], scratch.lane_words[lane] + per_lane):
                if not _is_among(seen, known, word):
                    seen[known] = word
                    known += 1
                    counts[word % BANKS] += 1
                    most = max(most, counts[word % BANKS])
        total += most
    return max(1, total)


@step
def _is_among(seen: list[int], known: int, word: int) -> bool:
    k = known - 1
    while k >= 0 and seen[k] != word:
        k -= 1
    return k >= 0


@compiled(Sequence[Annotated[int, "u4"]], Sequence[int])
def measure(words: Sequence[int], sizes: Sequence[int]) -> tuple[int, int, int]:
    """How many instructions, accesses and (at most) lines the traces hold."""
    position, instructions, accesses, lines = 0, 0, 0, 0
    while position < len(words):
        word = words[position]
        if _is_block(word):
            instructions += sizes[word & 0xFFFF]
        else:
            accesses += 1
            lines += 0 if _space_of(word) == SHARED else LANES
        position += _length_of(word)
    return instructions, accesses, lines


@compiled(Trace, int)
def expand(trace: Trace, local_words: int) -> int:
    """Fill the steps, accesses and lines; returns the number of lines. `local_words`: of a lane's
    local memory."""
    n, a, used = 0, 0, 0  # steps, accesses, lines
    for warp in range(len(trace.ends) - 1):
        place = n  # of the last step that made an access
        position = trace.ends[warp]
        while position < trace.ends[warp + 1]:
            word = trace.words[position]
            if _is_block(word):
                place = n
                n = _add_block(trace, word & 0xFFFF, n)
            else:
                while place < n and trace.steps[place].code != word & 0xFFFF:
                    place += 1
                if place < n and trace.steps[place].access < 0:
                    trace.steps[place].access = a
                used = _add_access(trace, position, a, used, warp * local_words)
                a += 1
            position += _length_of(word)
        trace.first[warp + 1] = n
    return used
