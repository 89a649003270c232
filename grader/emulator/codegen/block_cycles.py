"""How long a warp takes for a basic block if it is alone: the clock by which blocks take turns at
atomics and long blocks are found (cpp/warps/residents.cpp).

An estimate from the code alone: stall counts, and latencies where a scoreboard is waited for.
Whatever is under way at the end of a basic block is waited for there.
"""

from __future__ import annotations

from grader.emulator.codegen.opcodes import OPCODES
from grader.emulator.isa.flow import Block
from grader.emulator.timing.pipes import ALU, Kind
from grader.sass import read_control

_MEMORY_CYCLES = {Kind.LOAD: 300, Kind.ATOMIC: 300, Kind.COPY: 300, Kind.SHARED: 30}
"""An H100's L2 answers in about 270 cycles, DRAM in more than twice as many."""


def cycles_alone(block: Block, encoding: bytes) -> int:
    """Cycles of a basic block. `encoding` holds 16 bytes an instruction of the kernel."""
    now, boards = 0, dict[int, int]()
    for i in block.instructions:
        found, control = OPCODES.get(i.base), read_control(encoding, i.index)
        pipe = ALU if found is None else found.pipe_of(i)
        now = max([now, *(boards.get(board, 0) for board in control.waits)])
        if control.writes is not None:
            latency = _MEMORY_CYCLES.get(pipe.kind, pipe.latency_cycles)
            boards[control.writes] = max(boards.get(control.writes, 0), now + latency)
        now += max(1, control.stall_cycles)
    return max([now, *boards.values()])
