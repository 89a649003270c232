"""Blocks and warps that wait for each other: all that are on the GPU together make progress."""

from __future__ import annotations

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import (
    Act,
    CheckedMode,
    CountingMode,
    DeviceBuffer,
    Execution,
    Faulted,
    Mode,
    Refused,
    Role,
    RunLimits,
)
from tests.support.device_plans import make_ready

COUNT = 1024
GRID_SUM = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// launch: shift<<<16, 64>>>(out)
extern "C" __global__ void shift(int *out)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    out[i] = i;
    for (int turn = 0; turn < 3; ++turn) {
        grid.sync();
        int next = out[(i + 65) % 1024];
        grid.sync();
        out[i] = next;
    }
}
"""
LATER_BLOCK = """
__device__ volatile int flag;
// launch: wait<<<16, 64>>>(out)
extern "C" __global__ void wait(int *out)
{
    if (blockIdx.x == 15) {
        out[threadIdx.x + 15 * 64] = 15;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            flag = 7;
        return;
    }
    while (flag == 0)
        ;
    __threadfence();
    out[threadIdx.x + blockIdx.x * 64] = out[15 * 64] + flag;
}
"""
COUNTED_WAIT = """
__device__ int ready;
// launch: wait<<<16, 64>>>(out)
extern "C" __global__ void wait(int *out)
{
    int looked = 0;
    if (blockIdx.x < 8) {
        while (atomicAdd(&ready, 0) < 8)
            ++looked;
    } else if (threadIdx.x == 0)
        atomicAdd(&ready, 1);
    out[threadIdx.x + blockIdx.x * 64] = blockIdx.x < 8 ? (looked > 0) : 2;
}
"""
LOOK_BACK = """
__device__ int tickets;
__device__ volatile long long states[16];
// launch: scan<<<16, 64>>>(out)
extern "C" __global__ void scan(int *out)
{
    __shared__ int before, ticket;
    if (threadIdx.x == 0)
        ticket = 15 - atomicAdd(&tickets, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        long long sum = 0;
        if (ticket > 0)
            while ((sum = states[ticket - 1]) == 0)
                __nanosleep(20);
        before = (int)sum;
        states[ticket] = sum + ticket + 1;
    }
    __syncthreads();
    out[ticket * 64 + threadIdx.x] = before;
}
"""
LOOK_BACK_BY_A_WARP = """
__device__ volatile long long sums[16];
// launch: scan<<<16, 64>>>(out)
extern "C" __global__ void scan(int *out)
{
    __shared__ int before;
    int tile = 15 - blockIdx.x, lane = threadIdx.x;
    if (threadIdx.x < 32) {
        long long entry;
        do
            entry = lane >= tile ? 1 : sums[tile - 1 - lane];
        while (__any_sync(~0u, entry == 0));
        int sum = lane < tile ? (int)entry - 1 : 0;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0) {
            before = sum;
            sums[tile] = tile + 2;
        }
    }
    __syncthreads();
    out[tile * 64 + threadIdx.x] = before;
}
"""
LOCK = """
__device__ int lock, sum;
// launch: add<<<16, 64>>>(out)
extern "C" __global__ void add(int *out)
{
    bool done = false;
    while (!done)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)&sum = *(volatile int *)&sum + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    out[threadIdx.x + blockIdx.x * 64] = 1;
}
"""
LOCK_WITHOUT_A_BRANCH = """
__device__ int lock, sum;
// launch: add<<<16, 64>>>(out)
extern "C" __global__ void add(int *out)
{
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    __threadfence();
    *(volatile int *)&sum = *(volatile int *)&sum + 1;
    __threadfence();
    atomicExch(&lock, 0);
    out[threadIdx.x + blockIdx.x * 64] = 1;
}
"""
TURNS = """
// launch: pass<<<16, 64>>>(out)
extern "C" __global__ void pass(int *out)
{
    __shared__ volatile int turn;
    if (threadIdx.x == 0)
        turn = 0;
    __syncthreads();
    while (turn != (int)threadIdx.x)
        ;
    out[threadIdx.x + blockIdx.x * 64] = turn;
    turn = threadIdx.x + 1;
}
"""
WARPS = """
// launch: pass<<<16, 64>>>(out)
extern "C" __global__ void pass(int *out)
{
    __shared__ volatile int full;
    __shared__ int value;
    if (threadIdx.x == 0)
        full = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        while (full == 0)
            ;
        __threadfence_block();
        out[threadIdx.x + blockIdx.x * 64] = value;
    } else {
        out[threadIdx.x + blockIdx.x * 64] = 1;
        if (threadIdx.x == 32) {
            value = 5;
            __threadfence_block();
            full = 1;
        }
    }
}
"""


def run(
    text: str, *, mode: Mode | None = None, gpu: str = "h100", threads: int = 2
) -> tuple[Execution, np.ndarray]:
    """The text's launches, which write `out`."""
    device = EmulatedDevice(gpu, threads=threads)
    out = DeviceBuffer("out", "int32", (COUNT,), Role.OUTPUT)
    program = make_ready(text, (out,), {}, device.info).as_program()
    execution, outputs = device.run(
        program, {}, limits=RunLimits(10**9, 60.0), mode=mode or CountingMode()
    )
    return execution, outputs.get("out", np.zeros(0, dtype=np.int32))


INDEX = np.arange(COUNT)
BLOCK = INDEX // 64
EXPECTED = {
    GRID_SUM: (INDEX + 3 * 65) % COUNT,
    LATER_BLOCK: np.where(BLOCK == 15, 15, 22),
    COUNTED_WAIT: np.where(BLOCK < 8, 1, 2),
    LOOK_BACK: BLOCK * (BLOCK + 1) // 2,
    LOOK_BACK_BY_A_WARP: BLOCK * (BLOCK + 1) // 2,
    LOCK: np.ones(COUNT),
    LOCK_WITHOUT_A_BRANCH: np.ones(COUNT),
    TURNS: INDEX % 64,
    WARPS: np.where(INDEX % 64 < 32, 5, 1),
}
NAMES = (
    "grid_sync",
    "later_block",
    "counted_wait",
    "look_back",
    "look_back_by_a_warp",
    "lock",
    "lock_without_a_branch",
    "turns_in_a_warp",
    "warps",
)


@pytest.mark.parametrize(
    "mode",
    [CountingMode(), CountingMode(backwards=True), CheckedMode()],
    ids=lambda mode: str(mode),
)
@pytest.mark.parametrize("text", EXPECTED, ids=NAMES)
def test_who_waits_gets_what_it_waits_for(text: str, mode: Mode) -> None:
    execution, out = run(text, mode=mode)
    assert execution.failure is None, execution.failure
    assert execution.findings == () or text in (TURNS, WARPS)  # which races by the rules of C++
    if text is not COUNTED_WAIT or mode == CountingMode():
        np.testing.assert_array_equal(out, EXPECTED[text])


@pytest.mark.parametrize("host_threads", [1, 2])
def test_who_waits_leaves_the_same_counts_whatever_the_number_of_host_threads(
    host_threads: int,
) -> None:
    counted = [run(text, threads=host_threads)[0].launches for text in EXPECTED]
    assert counted == [run(text, threads=3)[0].launches for text in EXPECTED]


NOBODY_WRITES = """
// launch: wait<<<16, 64>>>(out)
extern "C" __global__ void wait(int *out)
{
    __shared__ volatile int flag;
    flag = 0;
    if (threadIdx.x == 37) {
        while (flag != 3)
            ;
    }
    __syncthreads();
    out[threadIdx.x + blockIdx.x * 64] = 1;
}
"""
OTHER_BLOCK_NEVER_WRITES = """
__device__ volatile int flag;
// launch: wait<<<16, 64>>>(out)
extern "C" __global__ void wait(int *out)
{
    while (flag != (int)blockIdx.x)
        ;
    if (blockIdx.x != 9)
        flag = blockIdx.x + 1;
    out[threadIdx.x + blockIdx.x * 64] = 1;
}
"""
TWO_LOCKS = """
__device__ int locks[2], holders;
// launch: wait<<<2, 64>>>(out)
extern "C" __global__ void wait(int *out)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&locks[blockIdx.x], 0, 1) != 0)
            ;
        for (atomicAdd(&holders, 1); atomicAdd(&holders, 0) < 2;)
            out[blockIdx.x] = 1;
        while (atomicCAS(&locks[1 - blockIdx.x], 0, 1) != 0)
            ;
        out[0] = locks[0] = locks[1] = 0;
    }
}
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [(NOBODY_WRITES, 8), (OTHER_BLOCK_NEVER_WRITES, 6), (TWO_LOCKS, 11)],
    ids=["nobody_writes", "other_block_never_writes", "two_locks"],
)
@pytest.mark.parametrize("host_threads", [1, 2])
def test_a_wait_that_nobody_ends_is_told_as_one(text: str, line: int, host_threads: int) -> None:
    failure = run(text, threads=host_threads)[0].failure
    assert isinstance(failure, Faulted)
    assert (failure.observation.act, failure.observation.line) == (Act.ENDLESS_WAIT, line)
    assert failure.observation.unstarted_blocks == 0


WAITS_FOR_THE_LAST = """
__device__ volatile int flag;
// launch: wait<<<BLOCKS, 512>>>(out)
extern "C" __global__ void wait(int *out)
{
    if (blockIdx.x == gridDim.x - 1)
        flag = 1;
    if (threadIdx.x == 0)
        while (flag == 0)
            ;
}
"""


def test_blocks_wait_only_for_blocks_that_are_on_the_gpu_at_a_time() -> None:
    """An H100 holds four blocks of 512 threads a multiprocessor."""
    most = 132 * 4
    fits, _ = run(WAITS_FOR_THE_LAST.replace("BLOCKS", str(most)))
    assert fits.failure is None
    failure = run(WAITS_FOR_THE_LAST.replace("BLOCKS", str(most + 3)))[0].failure
    assert isinstance(failure, Faulted)
    seen = failure.observation
    assert (seen.act, seen.line) == (Act.ENDLESS_WAIT, 9)
    assert (seen.resident_blocks, seen.unstarted_blocks) == (most, 3)


def test_a_grid_that_synchronises_and_does_not_fit_is_refused() -> None:
    text = GRID_SUM.replace("<<<16, 64>>>", "<<<132 * 32 + 1, 64>>>")
    failure = run(text)[0].failure
    assert isinstance(failure, Refused)
    assert "4,224" in failure.error_text


def test_all_kernels_of_a_file_that_synchronises_a_grid_have_to_fit() -> None:
    """As the device for a real GPU launches them."""
    plain = """
// launch: plain<<<BLOCKS, 64>>>(out)
__global__ void plain(int *out) { out[threadIdx.x] = 1; }
"""
    fits, _ = run(GRID_SUM + plain.replace("BLOCKS", "132 * 32"))
    assert fits.failure is None
    failure = run(GRID_SUM + plain.replace("BLOCKS", "132 * 32 + 1"))[0].failure
    assert isinstance(failure, Refused)
    assert (failure.kernel, "4,224" in failure.error_text) == ("plain", True)
    alone, _ = run(plain.replace("BLOCKS", "132 * 32 + 1"))
    assert alone.failure is None


@pytest.mark.parametrize("gpu", ["a100", "t4", "b200", "rtx5070"])
def test_grids_synchronise_on_other_gpus(gpu: str) -> None:
    _, out = run(GRID_SUM, gpu=gpu)
    np.testing.assert_array_equal(out, EXPECTED[GRID_SUM])


def test_a_launch_that_waited_says_so() -> None:
    assert run(LATER_BLOCK)[0].launches[0].waited
    assert not run(LATER_BLOCK, mode=CountingMode(backwards=True))[0].launches[0].waited
