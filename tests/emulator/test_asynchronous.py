"""Stores and reductions that arrive at barrier objects of other blocks; the corpus has more."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.emulator import FaultKind
from grader.records import Execution
from tests.emulator.test_clusters import BUFFERS, LIMITS
from tests.support.device_plans import make_ready

HEAD = """#include <cooperative_groups.h>
// launch: k<<<2, 32>>>(y)
__device__ unsigned there(const void* p) {
    unsigned mapped, mine = __cvta_generic_to_shared(p);
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(mapped) : "r"(mine), "r"(cooperative_groups::this_cluster().block_rank() ^ 1));
    return mapped;
}
__global__ void __cluster_dims__(2) k(int* y) {
    __shared__ alignas(128) int s[32];
    __shared__ unsigned long long object;
    const unsigned at = __cvta_generic_to_shared(&object), to = there(s), i = threadIdx.x;
    const unsigned other = blockIdx.x ^ 1;
    s[i] = START;
    if (i == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                     :: "r"(at), "r"(BYTES) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cooperative_groups::this_cluster().sync();
"""
TAIL = """
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
                 " @!p bra again; }" :: "r"(at) : "memory");
    y[32 * blockIdx.x + i] = s[i];
    cooperative_groups::this_cluster().sync();
}
"""
STORE = """
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :: "r"(to + PLACE), "r"(1000 * other + i), "r"(there(&object)) : "memory");
"""
REDUCE = """
    asm volatile("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.OPERATION"
                 " [%0], %1, [%2];" :: "r"(to), "r"(17 * i + (i % 3 == 0 ? 0x80000000 : 0) + other),
                 "r"(there(&object)) : "memory");
"""
ASK = """
    unsigned over = 0, asked = 0;
    if (blockIdx.x == 0) for (int k = 0; k < 1000; ++k) asm volatile("" :: "r"(k));
    STORE
    while (!over) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;"
                     " selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at) : "memory");
        ++asked;
    }
    s[i] = asked;
"""


def run(body: str, *, start: str = "-1", size_bytes: int = 128) -> tuple[Execution, list[int]]:
    device = EmulatedDevice(threads=1)
    source = HEAD.replace("START", start).replace("BYTES", str(size_bytes)) + body + TAIL
    program = make_ready(source, BUFFERS, {}, device.info).as_program()
    execution, arrays = device.run(program, {}, limits=LIMITS)
    return execution, arrays["y"].tolist() if "y" in arrays else []


def test_stores_reach_the_other_block_and_let_it_go_on() -> None:
    execution, got = run(STORE.replace("PLACE", "4 * (i ^ 3)"))
    assert execution.failure is None
    assert got == [1000 * block + (i ^ 3) for block in range(2) for i in range(32)]


def test_stores_count_as_instructions_and_as_nothing_else() -> None:
    execution, _ = run(STORE.replace("PLACE", "4 * i"))
    counters = execution.launches[0].counters
    assert (counters.shared_store_instructions, counters.global_store_bytes) == (2, 256)


def operands(block: int) -> list[int]:
    """The values that lanes of the other block send to this block, as unsigned words."""
    return [17 * i + (0 if i % 3 else 1 << 31) + block for i in range(32)]


def signed(word: int) -> int:
    return (word + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.parametrize(
    ("operation", "combined"),
    [
        ("add.u32", lambda words: signed(sum(words) + 50)),
        ("add.s32", lambda words: signed(sum(words) + 50)),
        ("min.u32", lambda words: min(50, *words)),
        ("min.s32", lambda words: min(map(signed, words))),
        ("max.u32", lambda words: signed(max(words))),
        ("max.s32", lambda words: max(50, *map(signed, words))),
        ("or.b32", lambda words: signed(functools.reduce(operator.or_, words, 50))),
        ("xor.b32", lambda words: signed(functools.reduce(operator.xor, words, 50))),
    ],
)
def test_reductions_meet_at_one_word(operation: str, combined: Callable[[list[int]], int]) -> None:
    execution, got = run(REDUCE.replace("OPERATION", operation), start="50")
    assert execution.failure is None
    assert [got[0], got[32]] == [combined(operands(block)) for block in range(2)]
    assert set(got[1:32]) == {50}


def test_expected_bytes_that_never_arrive_stall_the_wait() -> None:
    execution, _ = run(STORE.replace("PLACE", "4 * i"), size_bytes=132)
    assert FaultKind.ENDLESS_WAIT.value in str(execution.failure)


def test_a_store_behind_the_other_blocks_memory_is_reported() -> None:
    execution, _ = run(STORE.replace("PLACE", "4096 + 4 * i"))
    assert FaultKind.OUT_OF_BOUNDS.value in str(execution.failure)


def test_a_query_of_a_phase_lets_other_blocks_continue() -> None:
    execution, got = run(ASK.replace("STORE", STORE.replace("PLACE", "4 * i")))
    assert execution.failure is None
    assert max(got) < 100


TOKENS = """
// launch: k<<<1, 32>>>(y)
__global__ void k(int* y) {
    __shared__ unsigned long long object;
    const unsigned at = __cvta_generic_to_shared(&object);
    unsigned long long token = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 200;" :: "r"(at));
    __syncwarp();
    if (threadIdx.x % 4)
        asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
                     : "=l"(token) : "r"(at), "r"(COUNT) : "memory");
    y[threadIdx.x] = token;
    y[32 + threadIdx.x] = token >> 32;
}
"""


def test_lanes_that_arrive_together_get_different_tokens() -> None:
    """The words of the first lanes are an H200's results for such an object."""
    device = EmulatedDevice(threads=1)
    source = TOKENS.replace("COUNT", "3")
    program = make_ready(source, BUFFERS, {}, device.info).as_program()
    _, arrays = device.run(program, {}, limits=LIMITS)
    words = arrays["y"].tolist()
    assert words[1:5] == [signed(0xEEEEEEEE)] * 3 + [0]
    assert [word - 0x7FF9C000 for word in words[33:36]] == [0, 3 << 11, 6 << 11]
    assert words[37] - 0x7FF9C000 == 9 << 11
