"""What differs from one GPU architecture to the next, apart from the instructions themselves.

Found in what ptxas emits: NVIDIA documents none of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LOCAL_BASE = 0x20
"""Where constant bank 0 holds the generic address of local memory's address 0."""
SHARED_BASE = 0x18
"""Where it holds that of shared memory's address 0, before sm_90 (later, `SR_SWINHI` is its upper
word)."""
STACK_POINTER = 0x28
"""Where it holds the stack pointer: one past the end of a lane's local memory, which starts at 0
here."""
DYNAMIC_SHARED, MULTIPROCESSORS = 0x2C, 0x10C
"""Where it holds `%dynamic_smem_size` and `%nsmid`."""
_DIMENSIONS = range(0x0, 0x18, 4)
_COMMON = frozenset(
    {*_DIMENSIONS, LOCAL_BASE, LOCAL_BASE + 4, STACK_POINTER, DYNAMIC_SHARED, MULTIPROCESSORS}
)
_BEFORE_90 = _COMMON | {SHARED_BASE, SHARED_BASE + 4}


@dataclass(frozen=True)
class Architecture:
    """`shared_window`: where a block's shared memory starts in its window. `system_bytes`: what the
    system keeps at the start of constant bank 0, in front of the parameters; `system_words` are the
    offsets of those of its words that are known here. `tensor_places`, `tensor_bytes`: bits below
    the largest exponent at which the tensor cores cut off what they add, and bytes of a row of A
    that one sum is of (arXiv 2511.10909, table of architectures; the H100's, on an H200, by
    tests/emulator/kernels/tensor_*.cu).
    """

    name: str
    shared_window: int
    system_bytes: int
    system_words: frozenset[int] = field(repr=False)
    tensor_places: int = 24
    tensor_bytes: int = 16


ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (
        Architecture("sm_75", 0, 0x160, _BEFORE_90),
        Architecture("sm_80", 0, 0x160, _BEFORE_90 | {0x118, 0x11C}),
        Architecture("sm_86", 0, 0x160, _BEFORE_90 | {0x118, 0x11C}),
        Architecture("sm_89", 0, 0x160, _BEFORE_90 | {0x118, 0x11C}),
        Architecture("sm_90", 0x400, 0x210, _COMMON | {0x208, 0x20C}, 25, 32),
    )
}
"""0x118 (sm_90: 0x208) is the descriptor that addresses name since sm_80; it changes nothing here.

From sm_90 on the system keeps the first KiB of a block's shared memory."""
