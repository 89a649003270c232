"""Cycles of a basic block for a warp that runs alone. This clock orders the atomics of blocks and
finds long blocks (cpp/warps/residents.cpp).

An estimate from the code alone: stall counts, and latencies where an instruction waits for a
scoreboard. All pending results are waited for at the end of the basic block.

Also the reads with which a loop may wait for another thread, per basic block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.emulator.codegen.opcodes import OPCODES
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Block, Flow
from grader.emulator.timing.pipes import ALU, Kind
from grader.sass import read_control

_MEMORY_CYCLES = {Kind.LOAD: 300, Kind.ATOMIC: 300, Kind.COPY: 300, Kind.SHARED: 30}
"""The L2 of an H100 answers in about 270 cycles, DRAM takes more than twice as long."""


def cycles_alone(block: Block, encoding: bytes) -> int:
    """Cycles of a basic block. `encoding`: the kernel's code, 16 bytes per instruction."""
    now, boards = _run(block.instructions, encoding)
    return max([now, *boards.values()])


def cycles_behind(block: Block, encoding: bytes, index: int) -> int:
    """Cycles of a basic block from the start of the instruction with this index on."""
    before = [i for i in block.instructions if i.index < index]
    waits = read_control(encoding, index).waits
    now, boards = _run(before, encoding)
    start = max([now, *(boards.get(board, 0) for board in waits)])
    return cycles_alone(block, encoding) - start


def _run(instructions: Sequence[Decoded], encoding: bytes) -> tuple[int, dict[int, int]]:
    """The cycle behind the instructions, and those at which scoreboards are free."""
    now, boards = 0, dict[int, int]()
    for i in instructions:
        found, control = OPCODES.get(i.base), read_control(encoding, i.index)
        pipe = ALU if found is None else found.pipe_of(i)
        now = max([now, *(boards.get(board, 0) for board in control.waits)])
        if control.writes is not None:
            latency = _MEMORY_CYCLES.get(pipe.kind, pipe.latency_cycles)
            boards[control.writes] = max(boards.get(control.writes, 0), now + latency)
        now += max(1, control.stall_cycles)
    return now, boards


_FENCES = {"MEMBAR", "NANOSLEEP", "CCTL"}
"""With one of them in the code, any read may be repeated to get new values."""


def describe_blocks(flow: Flow) -> Iterator[tuple[int, int, bool]]:
    """The CODE_BLOCK of each basic block. In shared memory, volatile and other reads are the same
    instruction."""
    fenced = any(i.base in _FENCES for block in flow.blocks for i in block.instructions)
    for block in flow.blocks:
        reads = [(i, access) for i in block.instructions for access in i.accesses if access.load]
        sure = [i for i, access in reads if access.atomic or fenced or i.has("STRONG")]
        likely = sure or [i for i, access in reads if access.space == "shared"]
        yield len(block.instructions), likely[0].index + 1 if likely else 0, bool(sure)
