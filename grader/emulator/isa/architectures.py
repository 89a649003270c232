"""Differences between GPU architectures, apart from the instructions themselves.

Derived from the output of ptxas, because NVIDIA does not document them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grader.sass import GRID_WORKSPACE

CLUSTER_WORDS = (0x0, 0x4, 0x8, 0xC, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x48)
"""Offsets of words about thread-block clusters: whether a launch has clusters, the cluster's
extents, the reciprocals of the last two extents as float32, the clusters of the grid, the blocks of
a cluster."""


@dataclass(frozen=True)
class SystemWords:
    """Offsets, in bytes, of the words of constant bank 0 that the system writes.

    A pair is two words: the lower, then the upper half of 64 bits.
    """

    block: int  # three dimensions
    grid: int  # three dimensions
    local: int  # pair: the generic address of local memory's address 0
    # the stack pointer: the end of a lane's local memory, which starts at address 0 here
    stack: int
    dynamic_shared: int  # %dynamic_smem_size
    multiprocessors: int  # %nsmid
    grid_workspace: int  # pair: see GRID_WORKSPACE
    grid_number: int  # pair: %gridid
    graph: int  # pair: %current_graph_exec
    constant_memory: int  # pair: the generic address of `__constant__` variables
    # pair: the generic address of offset `parameters_from` of bank 0, for kernels that pass the
    # address of a `__grid_constant__` parameter to a function
    parameters: int
    parameters_from: int = 0
    # the end of the shared memory that the system reserves, then the start of the part that
    # cooperative groups use (`%reserved_smem_offset_end`, `_1`)
    system_shared: int | None = None
    system_shared_bytes: int | None = None  # size of the reserved shared memory
    all_shared: int | None = None  # %aggr_smem_size: a block's, with the reserved part
    fixed: Mapping[int, int] = field(default_factory=dict)  # words that are equal in all launches
    descriptor: int | None = None  # pair: source of address descriptors; they have no effect here
    shared: int | None = None  # pair: the generic address of shared memory's address 0
    cluster: int | None = None  # see CLUSTER_WORDS
    # kernels read these words at an offset reduced by 0xa0 * SR_CgaSize; SR_CgaSize is 0 here
    by_cluster: range = range(0)

    @property
    def known(self) -> frozenset[int]:
        """The offsets of all words."""
        firsts = {
            3: (self.block, self.grid),
            2: (
                *(self.local, self.shared, self.descriptor, self.grid_workspace, self.parameters),
                *(self.grid_number, self.graph, self.constant_memory, self.system_shared),
            ),
            1: (
                *(self.stack, self.dynamic_shared, self.multiprocessors),
                *(self.system_shared_bytes, self.all_shared, *self.fixed),
            ),
        }
        clusters = () if self.cluster is None else (self.cluster + at for at in CLUSTER_WORDS)
        groups = ((first, count) for count, group in firsts.items() for first in group)
        found = (at + 4 * word for at, count in groups if at is not None for word in range(count))
        return frozenset((*found, *clusters))


@dataclass(frozen=True)
class Architecture:
    """The memory layout and the tensor cores of an architecture.

    Sources of `tensor_places` and `tensor_bytes`: arXiv 2511.10909 (table of architectures), and
    for the H100 tests/emulator/kernels/tensor_*.cu on an H200.
    """

    name: str
    shared_window: int  # offset of a block's own shared memory in the shared window
    system_bytes: int  # size of the system's part of constant bank 0; the parameters follow it
    words: SystemWords = field(repr=False)  # the known words of that part
    # tensor cores drop bits that lie more than this number of places below the largest exponent
    tensor_places: int = 24
    tensor_bytes: int = 16  # bytes of a row of A that a tensor core adds in one sum
    # shared memory that the system reserves per block: before the block's own memory where
    # `shared_window` is not 0, otherwise behind it
    system_shared_bytes: int = 1024
    shared_step: int = 128  # allocation unit of shared memory, in bytes


_ZEROS = (3, 4, 5, 7, 8, 9, *range(12, 32))
_FIXED_90 = {**{0x40 + 4 * number: 0 for number in _ZEROS}, 0x58: 1, 0x18C: 1}
"""`%envreg3` to `%envreg31`, and whether the GPU itself is a sufficient scope for
`fence.proxy.alias` (observed on an H200)."""
_75 = SystemWords(
    block=0x0,
    grid=0xC,
    local=0x20,
    stack=0x28,
    dynamic_shared=0x2C,
    multiprocessors=0x10C,
    grid_workspace=GRID_WORKSPACE["sm_75"],
    grid_number=0x30,
    graph=0x120,
    constant_memory=0x50,
    parameters=0x40,
    shared=0x18,
)
_80 = replace(
    _75,
    grid_workspace=GRID_WORKSPACE["sm_80"],
    descriptor=0x118,
    graph=0x130,
    system_shared=0x120,
    system_shared_bytes=0x114,
)
# The upper word of `shared` is SR_SWINHI.
_90 = replace(
    _75,
    grid_workspace=GRID_WORKSPACE["sm_90"],
    descriptor=0x208,
    shared=None,
    cluster=0x140,
    graph=0x190,
    constant_memory=0xD0,
    system_shared=0x68,
    system_shared_bytes=0x114,
    all_shared=0x13C,
    fixed=_FIXED_90,
    parameters=0x198,
    parameters_from=0x210,
)
_100 = SystemWords(
    block=0x360,
    grid=0x370,
    local=0x2F8,
    stack=0x37C,
    dynamic_shared=0x2AC,
    multiprocessors=0x2D0,
    grid_workspace=GRID_WORKSPACE["sm_100"],
    grid_number=0x140,
    graph=0x2E8,
    constant_memory=0x120,
    system_shared=0x278,
    system_shared_bytes=0x16C,
    all_shared=0x2BC,
    parameters=0x348,
    parameters_from=0x380,
    descriptor=0x358,
    by_cluster=range(0x200, 0x2F8),
)
ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (
        Architecture("sm_75", 0, 0x160, _75, system_shared_bytes=0, shared_step=256),
        Architecture("sm_80", 0, 0x160, _80),
        Architecture("sm_86", 0, 0x160, _80),
        Architecture("sm_89", 0, 0x160, _80),
        Architecture("sm_90", 0x400, 0x210, _90, 25, 32),
        Architecture("sm_100", 0x400, 0x380, _100, 25, 32),
        Architecture("sm_120", 0x400, 0x380, _100, 25, 32),
    )
}
"""From sm_90 on, the system reserves the first KiB of a block's shared memory."""
