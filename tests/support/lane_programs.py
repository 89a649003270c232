"""Programs that store one word for every thread, and the counts of their named lines."""

from __future__ import annotations

import numpy as np

from tests.support.assembler import Run, build, launch

STORE = """
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x4,R2
    STG.E desc[UR4][R2.64],R4
    EXIT
"""
"""out[thread] = R4, with the thread in R0."""


def run(text: str, threads: int = 32, *, grid: int = 1, host_threads: int = 1) -> Run:
    """Run a program that stores a word for every thread of a block (all blocks write the same)."""
    out = np.full(threads, -1, dtype=np.int32)
    return launch(
        build(text), {"out": out}, block=(threads, 1, 1), grid=(grid, 1, 1), threads=host_threads
    )


def executed(ran: Run, text: str) -> dict[str, tuple[int, int]]:
    """Per line that ends in `# name`: how many times warps executed it, and with how many threads
    in all."""
    names = {
        number: line.partition("#")[2].strip()
        for number, line in enumerate(text.splitlines(), start=1)
        if "#" in line
    }
    return {
        names[counts.line]: (counts.executed, counts.threads)
        for counts in ran.outcome.counts
        if counts.line in names
    }
