"""What the warps of some blocks did, from their traces, as a simulation walks along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.emulator.timing.compiled import make_record, make_rows
from grader.emulator.timing.expand import (
    WORD_BYTES,
    Access,
    Line,
    Scratch,
    Step,
    Trace,
    expand,
    measure,
)


@dataclass(frozen=True)
class Streams:
    """The warps of some blocks. Warp w runs `steps[first[w]:first[w + 1]]`.

    `steps`, `accesses` and `lines` are arrays of records. `fraction` is the part of the blocks'
    executed instructions that is here: traces may be cut off.
    """

    first: np.ndarray
    steps: np.ndarray
    accesses: np.ndarray
    lines: np.ndarray
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
    warps = [warp for block in traces for warp in block]
    words: Any = np.concatenate(warps) if warps else np.zeros(0, dtype=np.uint32)
    sizes: Any = np.array([len(block) for block in blocks], dtype=np.int64)
    count, accesses, lines = measure(words, sizes)
    arrays: dict[str, Any] = {
        "ends": np.cumsum([0, *map(len, warps)]),
        "starts": np.array([block.start for block in blocks], dtype=np.int64),
        "widths": widths,
        "first": np.zeros(len(warps) + 1, dtype=np.int64),
        "steps": make_rows(Step, count),
        "accesses": make_rows(Access, accesses),
        "lines": make_rows(Line, lines),
    }
    trace = Trace(words=words, sizes=sizes, scratch=make_record(Scratch), **arrays)
    used = expand(trace, local_bytes // WORD_BYTES)
    first, steps, fraction = arrays["first"], arrays["steps"], 1.0
    if count < executed:
        first, steps = _cut_at_barriers(first, steps, barriers, len(traces[0]))
        fraction = len(steps) / max(1, executed)
    lines_of_all = arrays["lines"][:used]
    return Streams(first, steps, arrays["accesses"], lines_of_all, len(traces[0]), fraction)


def _cut_at_barriers(
    first: np.ndarray, steps: np.ndarray, barriers: np.ndarray, warps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Cut traces that ran out of room so that all warps of a block end behind equally many
    barriers."""
    parts, new_first = [], [0]
    for start in range(0, len(first) - 1, warps):
        spans = [np.arange(first[w], first[w + 1]) for w in range(start, start + warps)]
        places = [span[barriers[steps["code"][span]]] for span in spans]
        common = min(len(place) for place in places)
        shortest = min(len(span) for span in spans)
        for span, place in zip(spans, places, strict=True):
            end = place[common - 1] + 1 - span[0] if common else shortest
            parts.append(span[:end])
            new_first.append(new_first[-1] + end)
    return np.array(new_first, dtype=np.int64), steps[np.concatenate(parts)]
