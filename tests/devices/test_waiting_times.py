"""Modelled times of launches whose blocks wait for each other. Measured times are an H200's
(benchmarks/kernels/turns and waits)."""

from __future__ import annotations

import pytest

from grader.records import LaunchResult, Modelled, ModelledMode, Unmodelled
from tests.devices.test_waiting import WARPS, run

HEAD = r"""
__device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = 1.01f * x + 0.5f;
    return x;
}

__device__ unsigned arrived;
__device__ void sync_grid()
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned own = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
        unsigned before, now;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
                     : "=r"(before) : "l"(&arrived), "r"(own) : "memory");
        do
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(&arrived) : "memory");
        while (((before ^ now) & 0x80000000u) == 0);
    }
    __syncthreads();
}
"""
BARRIERS = """
// launch: k<<<BLOCKS, 128>>>(out, ROUNDS)
__global__ void k(int *out, int rounds)
{
    float x = threadIdx.x;
    for (int phase = 0; phase < 8; phase++) {
        if (blockIdx.x % SHARE == phase % SHARE)
            x = work(x, rounds);
        sync_grid();
    }
    out[(blockIdx.x * 128 + threadIdx.x) % 1024] = x;
}
"""
CHAIN = """
__device__ volatile int flags[BLOCKS];
// launch: k<<<BLOCKS, 128>>>(out, ROUNDS)
__global__ void k(int *out, int rounds)
{
    if (threadIdx.x == 0 && FIRST)
        while (flags[BEFORE] == 0)
            ;
    __syncthreads();
    float x = work(threadIdx.x, rounds);
    out[(blockIdx.x * 128 + threadIdx.x) % 1024] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}
"""
UP = CHAIN.replace("FIRST", "blockIdx.x > 0").replace("BEFORE", "blockIdx.x - 1")
DOWN = CHAIN.replace("FIRST", "blockIdx.x < BLOCKS - 1").replace("BEFORE", "blockIdx.x + 1")
LARGE = UP.replace("flags[BLOCKS]", "flags[BLOCKS + (9 << 20)]")
HALVES = (  # a flag's upper half is read
    UP.replace("int flags[BLOCKS]", "long long flags[BLOCKS]")
    .replace("flags[blockIdx.x] = 1", "flags[blockIdx.x] = 1ll << 32")
    .replace("flags[blockIdx.x - 1] == 0", "((volatile int *)flags)[2 * blockIdx.x - 1] == 0")
)
MANY = UP.replace(  # the flags are behind more words than have records
    "volatile int flags[BLOCKS];",
    "volatile int many[4600 * 4096];\n#define flags (many + 4500 * 4096)",
).replace(
    "    if (threadIdx.x == 0 && blockIdx.x > 0)",
    "    for (int k = threadIdx.x; k < 4200; k += 128)\n        many[k * 4096] = 1;\n"
    "    if (threadIdx.x == 0 && blockIdx.x > 0)",
)
PLAIN = UP.replace("flags[blockIdx.x] = 1", "((int *)flags)[blockIdx.x] = 1")
FENCED = PLAIN.replace(
    "while (flags[blockIdx.x - 1] == 0)\n            ;",
    "do __threadfence(); while (((int *)flags)[blockIdx.x - 1] == 0);",
)
ATOMIC = UP.replace("flags[blockIdx.x] = 1", "atomicAdd((int *)flags + blockIdx.x, 1)").replace(
    "flags[blockIdx.x - 1] == 0", "atomicAdd((int *)flags + blockIdx.x - 1, 0) == 0"
)
HANDED_OVER = """
__device__ volatile int flag;
// launch: k<<<BLOCKS, 128>>>(out, 64 * ROUNDS)
__global__ void k(int *out, int rounds)
{
    if (blockIdx.x > 0 && threadIdx.x == 0)
        while (flag == 0)
            ;
    __syncthreads();
    float x = work(threadIdx.x, rounds);
    out[(blockIdx.x * 128 + threadIdx.x) % 1024] = x;
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        __threadfence();
        *(int *)&flag = 1;
    }
}
"""
LOCK = """
__device__ int lock;
// launch: k<<<BLOCKS, 128>>>(out, ROUNDS)
__global__ void k(int *out, int rounds)
{
    if (threadIdx.x == 0)
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
    __syncthreads();
    float x = work(threadIdx.x, rounds);
    out[(blockIdx.x * 128 + threadIdx.x) % 1024] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&lock, 0);
    }
}
"""
TICKETS = """
__device__ int counter;
__device__ volatile int turn;
// launch: k<<<BLOCKS, 128>>>(out, ROUNDS)
__global__ void k(int *out, int rounds)
{
    if (threadIdx.x == 0) {
        const int own = atomicAdd(&counter, 1);
        while (turn != own)
            ;
    }
    __syncthreads();
    float x = work(threadIdx.x, rounds);
    out[(blockIdx.x * 128 + threadIdx.x) % 1024] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        turn = turn + 1;
    }
}
"""


def launch_of(text: str, blocks: int, share: int = 1) -> LaunchResult:
    text = text.replace("BLOCKS", str(blocks)).replace("SHARE", str(share))
    text = text.replace("ROUNDS", "2000" if "sync_grid" in text else "500")
    execution, _ = run(HEAD + text, mode=ModelledMode(3), gpu="h200")
    assert execution.failure is None, execution.failure
    (launch,) = execution.launches
    return launch


def time_of(text: str, blocks: int, share: int = 1) -> Modelled | Unmodelled:
    launch = launch_of(text, blocks, share)
    found = launch.modelled or launch.unmodelled
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "blocks", "share", "measured_ms"),
    [
        (BARRIERS, 132, 1, 0.0486),
        (BARRIERS, 264, 2, 0.0495),
        (UP, 132, 1, 0.241),
        (UP, 528, 1, 0.956),
        (DOWN, 132, 1, 0.240),
        (LARGE, 132, 1, 0.241),
        (HALVES, 132, 1, 0.241),
        (PLAIN, 132, 1, 0.242),
        (FENCED, 132, 1, 0.258),
        (HANDED_OVER, 132, 1, 0.151),
        (LOCK, 132, 1, 0.238),
        (TICKETS, 132, 1, 0.258),
    ],
    ids=[
        "barriers",
        "in_halves",
        "chain",
        "long_chain",
        "chain_backwards",
        "large",
        "halves",
        "plain",
        "fenced",
        "handed_over",
        "lock",
        "tickets",
    ],
)
def test_blocks_that_wait_take_as_long_as_on_an_h200(
    text: str, blocks: int, share: int, measured_ms: float
) -> None:
    found = time_of(text, blocks, share)
    assert isinstance(found, Modelled)
    assert found.time_ms == pytest.approx(measured_ms, rel=0.25)
    assert found.kind == "blocks that wait for each other"


@pytest.mark.parametrize("text", [UP, PLAIN, ATOMIC], ids=["strong", "plain", "atomic"])
def test_counts_of_a_chain_have_no_value_though_no_block_waits_here(text: str) -> None:
    """On a GPU its blocks read the flags again and again."""
    assert launch_of(text, 132).waited


def test_a_chain_by_atomics_takes_as_long_as_one_by_flags() -> None:
    flags, atomics = time_of(UP, 132), time_of(ATOMIC, 132)
    assert isinstance(flags, Modelled)
    assert isinstance(atomics, Modelled)
    assert atomics.time_ms == pytest.approx(flags.time_ms, rel=0.25)


def test_ranks_by_atomics_are_no_waits() -> None:
    """Blocks that run later here get other numbers on a GPU, at once."""
    text = """
__device__ int counts[256];
// launch: k<<<1056, 256>>>(out)
__global__ void k(int *out)
{
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += atomicAdd(&counts[(threadIdx.x * 37 + i * blockIdx.x) % 256], 1);
    out[(blockIdx.x * 256 + threadIdx.x) % 1024] = sum;
}
"""
    launch = launch_of(text, 1)
    assert not launch.waited
    assert launch.modelled is not None


def test_large_outputs_that_are_written_past_the_caches_are_no_waits() -> None:
    text = """
__device__ volatile int from[17 << 20], to[17 << 20];
// launch: k<<<17 << 10, 1024>>>(out)
__global__ void k(int *out) { int i = blockIdx.x * 1024 + threadIdx.x; to[i] = from[i] + 1; }
"""
    launch = launch_of(text, 1)
    assert not launch.waited
    assert launch.modelled is not None


def test_the_last_block_of_a_sum_does_not_wait() -> None:
    """It reads what the others stored before they counted themselves."""
    text = """
__device__ int sums[1 << 10];
__device__ unsigned ended;
// launch: k<<<1 << 10, 256>>>(out)
__global__ void k(int *out)
{
    __shared__ bool last;
    int sum = __reduce_add_sync(~0u, threadIdx.x + blockIdx.x);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&ended, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last)
        for (int i = threadIdx.x; i < gridDim.x; i += 256) atomicAdd(out, sums[i]);
}
"""
    launch = launch_of(text, 1)
    assert not launch.waited
    assert launch.modelled is not None


def test_large_arrays_that_blocks_exchange_between_barriers_have_a_time() -> None:
    text = """
__device__ int from[24 << 20], to[24 << 20];
// launch: k<<<BLOCKS, 1024>>>(out, 5)
__global__ void k(int *out, int rounds)
{
    for (int round = 0; round < 3; round++) {
        int *in = round % 2 ? to : from, *result = round % 2 ? from : to;
        for (int i = blockIdx.x * 1024 + threadIdx.x; i < 24 << 20; i += gridDim.x * 1024)
            result[i] = in[(24 << 20) - 1 - i] + 1;
        sync_grid();
    }
    out[threadIdx.x] = from[threadIdx.x];
}
"""
    assert isinstance(time_of(text, 132), Modelled)


def test_blocks_that_might_wait_for_words_without_records_have_no_time_and_no_counts() -> None:
    launch = launch_of(MANY, 132)
    assert launch.waited
    assert launch.unmodelled is Unmodelled.WAITS


def test_work_of_a_few_blocks_while_the_others_wait_is_not_free() -> None:
    """Each phase has one working block, which is rarely among the traced ones."""
    alone, apart = time_of(BARRIERS, 132), time_of(BARRIERS, 132, 132)
    assert isinstance(alone, Modelled)
    assert apart is Unmodelled.WAITS or apart.time_ms > 0.7 * alone.time_ms


def test_waits_between_warps_of_a_block_have_no_time() -> None:
    assert time_of(WARPS, 132) is Unmodelled.WAITS
