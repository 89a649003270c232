"""Inputs of a launch's blocks: its settings, constant bank 0, the warps of a block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.emulator.isa.architectures import CLUSTER_WORDS
from grader.emulator.isa.program import KernelCode
from grader.emulator.layouts.execution import (
    LOCAL_WINDOW,
    SHARED_HIGH,
    SHARED_POISON_BYTE,
    WARP_LANES,
    zeros_in_lines,
)
from grader.emulator.layouts.textures import NO_TEXTURES
from grader.emulator.run.memory import Region

Triple = tuple[int, int, int]
PRINT_LIMIT = 64 << 10
_SYSTEM_SHARED_USED = 288
"""Bytes at the start of the system's reserved shared memory that the system uses itself (observed
on an H200); cooperative groups use all of it."""


@dataclass(frozen=True)
class LaunchSettings:
    """A launch: sizes, dynamic shared memory in bytes, parameters as bytes, limits, host threads.

    `budget`: maximum of executed warp instructions. `processor_end`: maximum CPU time of this
    process, in seconds (time.process_time). `multiprocessors`: value of `%nsmid`. `backwards`:
    blocks and warps run in the opposite order. `shared_poison`: the byte that fills shared memory
    at the start of a block. `traced`: linear indices (ascending) of the blocks whose warps leave
    traces of up to `trace_words` words. `sample`: the only blocks to run (ascending); if empty, all
    but the blocks `left_out` (ascending) run. `checked`: the launch runs in checked mode
    (checked_launch.py). `textures`: TEXTURE records of the objects with the handles 1, 2 and so on.
    `resident`: number of blocks that are on the GPU at a time, None for all; only these can wait
    for each other.
    `workspace`: address of the memory in which a cooperative grid synchronises; 0 for other grids.
    `number`: value of `%gridid`. `print_limit`: maximum of characters that are kept of its output.
    `host_wait`: seconds for which blocks that all wait for a value wait on, because a program may
    write it meanwhile. `start_ns`: value of `%globaltimer` at its start.
    `watched`: in checked mode, the outcome lists the accesses to these regions.
    """

    grid: Triple
    block: Triple
    parameters: bytes
    dynamic_shared_bytes: int = 0
    budget: int = 10**12
    processor_end: float = 1e9
    threads: int = 1
    multiprocessors: int = 132
    backwards: bool = False
    shared_poison: int = SHARED_POISON_BYTE
    traced: tuple[int, ...] = ()
    trace_words: int = 0
    sample: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    checked: bool = False
    textures: np.ndarray = field(default_factory=lambda: NO_TEXTURES)
    resident: int | None = None
    workspace: int = 0
    number: int = 1
    print_limit: int = PRINT_LIMIT
    host_wait: float = 0.0
    start_ns: int = 0
    watched: tuple[Region, ...] = ()

    @property
    def blocks(self) -> int:
        """Number of blocks in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def together(self) -> int:
        """Number of blocks that are on the GPU at a time."""
        return self.blocks if self.resident is None else min(self.blocks, self.resident)


def place_in(extent: Triple, linear: int) -> Triple:
    """The coordinates with this linear index."""
    x, y, _ = extent
    return linear % x, linear // x % y, linear // (x * y)


def block_number(context: Any) -> int:  # noqa: ANN401 - a NumPy record
    """The linear index of a CONTEXT's block."""
    row = int(context["ctaid_y"]) + int(context["grid_y"]) * int(context["ctaid_z"])
    return int(context["ctaid_x"]) + int(context["grid_x"]) * row


def fill_constants(code: KernelCode, settings: LaunchSettings, bank_address: int) -> np.ndarray:
    """Constant bank 0: the system's words of the architecture, and the parameters from
    `parameter_base` on. `bank_address`: address of its copy in global memory, 0 without a copy."""
    bank = np.zeros(code.constant_bytes, dtype=np.uint8)
    words = bank.view(np.uint32)
    places = code.architecture.words
    parameters_address = bank_address + places.parameters_from
    contents = {
        places.block: settings.block,
        places.grid: settings.grid,
        places.local: (0, LOCAL_WINDOW),
        places.stack: (-(-code.local_bytes // 16) * 16,),
        places.dynamic_shared: (settings.dynamic_shared_bytes,),
        places.multiprocessors: (settings.multiprocessors,),
        places.grid_workspace: (settings.workspace >> 32, settings.workspace & 0xFFFFFFFF),
        places.grid_number: (settings.number, 0),
        places.constant_memory: (code.constant_address & 0xFFFFFFFF, code.constant_address >> 32),
        **{place: (word,) for place, word in places.fixed.items()},
        **_shared_words(code, settings.dynamic_shared_bytes),
        places.parameters: (parameters_address & 0xFFFFFFFF, parameters_address >> 32),
    }
    if places.cluster is not None:
        of_cluster = zip(CLUSTER_WORDS, _cluster_words(code, settings), strict=True)
        contents |= {places.cluster + place: (word,) for place, word in of_cluster}
    if places.shared is not None:
        contents[places.shared] = (0, SHARED_HIGH)
    for place, values in contents.items():
        words[place // 4 :][: len(values)] = values
    parameters = np.frombuffer(settings.parameters, dtype=np.uint8)
    bank[code.parameter_base : code.parameter_base + len(parameters)] = parameters
    return bank


def _shared_words(code: KernelCode, dynamic_bytes: int) -> dict[int, tuple[int, ...]]:
    """The system's words about the shared memory that it reserves per block, by offset."""
    places, reserved = code.architecture.words, code.architecture.system_shared_bytes
    start = code.system_shared_start(dynamic_bytes)
    everything = reserved + code.static_shared_bytes + dynamic_bytes
    contents = {
        places.system_shared: (start + _SYSTEM_SHARED_USED, start),
        places.system_shared_bytes: (reserved,),
        places.all_shared: (everything,),
    }
    return {place: words for place, words in contents.items() if place is not None}


def _cluster_words(code: KernelCode, settings: LaunchSettings) -> tuple[int, ...]:
    """The values of CLUSTER_WORDS. The reciprocals are rounded up, because kernels truncate
    products with them."""
    cluster = np.array(code.cluster)
    up = np.nextafter(np.float32(1) / cluster.astype(np.float32), np.float32(2))
    inverse = np.where(cluster == 1, np.float32(1), up).astype(np.float32).view(np.uint32)
    clusters = np.array(settings.grid) // cluster
    words = (code.cluster_blocks > 1, *cluster, *inverse[1:], *clusters, code.cluster_blocks)
    return tuple(int(word) for word in words)


def make_warps(warp_type: np.dtype, block: Triple) -> np.ndarray:
    """The warps of a block with their thread indices; lanes beyond the block are not `initial`."""
    threads = block[0] * block[1] * block[2]
    count = -(-threads // WARP_LANES)
    warps = zeros_in_lines(count, warp_type)
    linear = np.arange(count * WARP_LANES, dtype=np.uint32).reshape(count, WARP_LANES)
    warps["tid_x"] = linear % block[0]
    warps["tid_y"] = linear // block[0] % block[1]
    warps["tid_z"] = linear // (block[0] * block[1])
    bits = (linear < threads).astype(np.uint64) << np.arange(WARP_LANES, dtype=np.uint64)
    warps["initial"] = bits.sum(axis=1)
    warps["index"] = np.arange(count)
    return warps
