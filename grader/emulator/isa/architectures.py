"""What differs from one GPU architecture to the next, apart from the instructions themselves.

Found in what ptxas emits: NVIDIA documents none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from grader.sass import GRID_WORKSPACE

CLUSTER_WORDS = (0x0, 0x4, 0x8, 0xC, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x48)
"""Of what the system says of thread-block clusters: whether a launch has any, their extents,
reciprocals of the last two extents as float32, the clusters of the grid, blocks of a cluster."""


@dataclass(frozen=True)
class SystemWords:
    """Where constant bank 0 holds what the system tells a kernel, in bytes. `block` and `grid`:
    their three dimensions. `local` and `shared`: the generic addresses of those memories' address
    0, two words each. `stack`: the stack pointer, which is one past the end of a lane's local
    memory; that starts at 0 here. `dynamic_shared` and `multiprocessors`: `%dynamic_smem_size`
    and `%nsmid`; `grid_number` and `graph`: `%gridid` and `%current_graph_exec`, two words each.
    `constant_memory`: the generic address of `__constant__` variables, two words.
    `system_shared`: where the shared memory that the system reserves ends, then where the part of
    it starts that cooperative groups use (`%reserved_smem_offset_end`, `_1`);
    `system_shared_bytes`: its size; `all_shared`: a block's shared memory with it
    (`%aggr_smem_size`); `fixed`: words that hold the same number in all launches.
    `grid_workspace`: see GRID_WORKSPACE. `parameters`: a generic address, two words, for kernels
    that pass the address of a `__grid_constant__` parameter on: of what lies at `parameters_from`
    in bank 0. `descriptor`: what the descriptors of
    addresses are loaded from, which change nothing here. `cluster`: see CLUSTER_WORDS.
    `by_cluster`: where words lie that are read at so many bytes less 0xa0 times SR_CgaSize, which
    is 0 here.
    """

    block: int
    grid: int
    local: int
    stack: int
    dynamic_shared: int
    multiprocessors: int
    grid_workspace: int
    grid_number: int
    graph: int
    constant_memory: int
    parameters: int
    parameters_from: int = 0
    system_shared: int | None = None
    system_shared_bytes: int | None = None
    all_shared: int | None = None
    fixed: Mapping[int, int] = field(default_factory=dict)
    descriptor: int | None = None
    shared: int | None = None
    cluster: int | None = None
    by_cluster: range = range(0)

    @property
    def known(self) -> frozenset[int]:
        """The offsets of all words."""
        triples = (first + 4 * axis for first in (self.block, self.grid) for axis in range(3))
        pairs_at = (
            *(self.local, self.shared, self.descriptor, self.grid_workspace),
            *(self.grid_number, self.graph, self.constant_memory, self.system_shared),
            self.parameters,
        )
        pairs = (first + 4 * word for first in pairs_at if first is not None for word in range(2))
        singles = (
            *(self.stack, self.dynamic_shared, self.multiprocessors),
            *(self.system_shared_bytes, self.all_shared),
            *self.fixed,
        )
        clusters = () if self.cluster is None else (self.cluster + at for at in CLUSTER_WORDS)
        return frozenset((*triples, *pairs, *clusters, *(at for at in singles if at is not None)))


@dataclass(frozen=True)
class Architecture:
    """`shared_window`: where a block's shared memory starts in its window. `system_shared_bytes`:
    the shared memory that the system reserves of each block, in front of its own where that starts
    behind it, else behind its end. `shared_step`: shared memory is given in so many bytes.
    `system_bytes`: what the
    system keeps at the start of constant bank 0, in front of the parameters; `words`: those of its
    words that are known here. `tensor_places`, `tensor_bytes`: bits below the largest exponent at
    which the tensor cores cut off what they add, and bytes of a row of A that one sum is of
    (arXiv 2511.10909, table of architectures; the H100's, on an H200, by
    tests/emulator/kernels/tensor_*.cu).
    """

    name: str
    shared_window: int
    system_bytes: int
    words: SystemWords = field(repr=False)
    tensor_places: int = 24
    tensor_bytes: int = 16
    system_shared_bytes: int = 1024
    shared_step: int = 128


_ZEROS = (3, 4, 5, 7, 8, 9, *range(12, 32))
_FIXED_90 = {**{0x40 + 4 * number: 0 for number in _ZEROS}, 0x58: 1, 0x18C: 1}
"""`%envreg3` to `31`, and whether `fence.proxy.alias` need not go beyond the GPU (seen on an
H200)."""
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
"""From sm_90 on the system keeps the first KiB of a block's shared memory."""
