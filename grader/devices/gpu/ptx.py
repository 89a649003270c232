"""The grader's own kernels in PTX: a digest of buffers, and copies that measure the memory's
bandwidth.

The driver compiles PTX in milliseconds: the worker needs no nvcc, and no toolkit is too new for the
driver.
"""

from __future__ import annotations

import numpy as np

DIGEST_BLOCK = 256
WORD_BYTES = 8
GOLDEN, FIRST_MIX, SECOND_MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
2014)."""

COPY_BLOCK = 256
COPY_QUADS = (1, 2, 4, 8)
"""Numbers of 16-byte words that a thread of a copy kernel loads before it stores the first: the
best number differs between GPUs."""

HEADER = ".version 6.3\n.target sm_75\n.address_size 64\n"

# for (i = thread; i < count; i += threads) sum += mix(words[i] ^ (i + 1) * GOLDEN);  sums[thread] =
# sum;
DIGEST = f"""
.visible .entry digest(.param .u64 words, .param .u64 count, .param .u64 sums)
{{
    .reg .pred %more;
    .reg .b32 %block, %size, %lane, %blocks;
    .reg .b64 %i, %step, %count, %address, %stride, %sums, %sum, %weyl, %skip, %z, %high;

    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %lane, %tid.x;
    mov.u32 %blocks, %nctaid.x;
    cvt.u64.u32 %z, %lane;
    mad.wide.u32 %i, %block, %size, %z;
    mul.wide.u32 %step, %blocks, %size;
    ld.param.u64 %count, [count];
    ld.param.u64 %address, [words];
    ld.param.u64 %sums, [sums];
    mad.lo.u64 %address, %i, {WORD_BYTES}, %address;
    mad.lo.u64 %sums, %i, {WORD_BYTES}, %sums;
    mul.lo.u64 %stride, %step, {WORD_BYTES};
    mad.lo.u64 %weyl, %i, {GOLDEN:#x}, {GOLDEN:#x};
    mul.lo.u64 %skip, %step, {GOLDEN:#x};
    mov.u64 %sum, 0;
    bra check;
next:
    ld.global.u64 %z, [%address];
    xor.b64 %z, %z, %weyl;
    shr.u64 %high, %z, 30;
    xor.b64 %z, %z, %high;
    mul.lo.u64 %z, %z, {FIRST_MIX:#x};
    shr.u64 %high, %z, 27;
    xor.b64 %z, %z, %high;
    mul.lo.u64 %z, %z, {SECOND_MIX:#x};
    shr.u64 %high, %z, 31;
    xor.b64 %z, %z, %high;
    add.u64 %sum, %sum, %z;
    add.u64 %i, %i, %step;
    add.u64 %address, %address, %stride;
    add.u64 %weyl, %weyl, %skip;
check:
    setp.lt.u64 %more, %i, %count;
    @%more bra next;
    st.global.u64 [%sums], %sum;
    ret;
}}
"""


def copy_ptx(quads: int) -> str:
    """A kernel `copyN` whose block copies COPY_BLOCK * N consecutive 16-byte words, each thread N
    words at a distance of COPY_BLOCK."""
    offsets = [16 * COPY_BLOCK * quad for quad in range(quads)]
    words = [f"{{%a{n}, %b{n}, %c{n}, %d{n}}}" for n in range(quads)]
    loads = "\n".join(
        f"    ld.global.v4.u32 {word}, [%from + {offset}];"
        for word, offset in zip(words, offsets, strict=True)
    )
    stores = "\n".join(
        f"    st.global.v4.u32 [%to + {offset}], {word};"
        for word, offset in zip(words, offsets, strict=True)
    )
    return f"""
.visible .entry copy{quads}(.param .u64 to, .param .u64 from)
{{
    .reg .b32 %block, %lane, %a<{quads}>, %b<{quads}>, %c<{quads}>, %d<{quads}>;
    .reg .b64 %to, %from, %offset, %first;

    mov.u32 %block, %ctaid.x;
    mov.u32 %lane, %tid.x;
    mul.wide.u32 %offset, %lane, 16;
    mul.wide.u32 %first, %block, {16 * COPY_BLOCK * quads};
    add.u64 %offset, %offset, %first;
    ld.param.u64 %to, [to];
    ld.param.u64 %from, [from];
    add.u64 %to, %to, %offset;
    add.u64 %from, %from, %offset;
{loads}
{stores}
    ret;
}}
"""


PTX = HEADER + DIGEST + "".join(map(copy_ptx, COPY_QUADS))


def digest_on_host(contents: np.ndarray) -> int:
    """The kernel's digest, computed by NumPy: contents are uint64 words."""
    weyl = np.arange(1, contents.size + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    z = contents.reshape(-1) ^ weyl
    z = (z ^ z >> np.uint64(30)) * np.uint64(FIRST_MIX)
    z = (z ^ z >> np.uint64(27)) * np.uint64(SECOND_MIX)
    return int(np.bitwise_xor(z, z >> np.uint64(31)).sum(dtype=np.uint64))
