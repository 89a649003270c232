"""Thread-block clusters: special registers, barriers, and access to other blocks' memory. The
corpus has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpus import read_gpus
from grader.emulator import FaultKind
from grader.records import DeviceBuffer, Execution, ModelledMode, Refused, Role, RunLimits
from tests.support.device_plans import make_ready
from tests.support.planted import find_bugs, named_lines, read_planted

LIMITS = RunLimits(10**8, 60.0)
BUFFERS = (DeviceBuffer("y", "int32", (64,), Role.OUTPUT),)
SOURCE = """#include <cooperative_groups.h>
// launch: k<<<{grid}, 32>>>(y)
__global__ void __cluster_dims__({cluster}) k(int* y) {{
    __shared__ int s[32];
    auto cluster = cooperative_groups::this_cluster();
    s[threadIdx.x] = 10 * blockIdx.x + threadIdx.x % 10;
    {body}
}}
"""
EXCHANGE = """
    cluster.sync();
    const int rank = cluster.block_rank(), size = cluster.num_blocks();
    y[32 * blockIdx.x + threadIdx.x] = *cluster.map_shared_rank(&s[threadIdx.x], size - 1 - rank);
    cluster.sync();
"""


def run(body: str, *, grid: int = 2, cluster: int = 2) -> tuple[Execution, list[int]]:
    device = EmulatedDevice(threads=2)
    source = SOURCE.format(grid=grid, cluster=cluster, body=body)
    program = make_ready(source, BUFFERS, {}, device.info).as_program()
    execution, arrays = device.run(program, {}, limits=LIMITS)
    return execution, arrays["y"].tolist() if "y" in arrays else []


def test_blocks_read_each_others_shared_memory() -> None:
    execution, got = run(EXCHANGE)
    assert execution.failure is None
    assert got == [10 * (1 - i // 32) + i % 32 % 10 for i in range(64)]


def test_remote_accesses_count_as_bytes_and_as_nothing_else() -> None:
    """As Nsight Compute counts on an H200."""
    execution, _ = run(EXCHANGE)
    counters = execution.launches[0].counters
    assert (counters.shared_load_wavefronts, counters.global_load_bytes) == (0, 2 * 128)
    assert (counters.global_load_requests, counters.global_load_sectors) == (0, 0)


SPREAD = """
    cluster.sync();
    int* other = cluster.map_shared_rank(s, 1 - cluster.block_rank());
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += {read};
    y[threadIdx.x] = sum;
    cluster.sync();
"""


def modelled_ms(body: str, *, grid: int = 256, cluster: int = 2) -> float:
    device = EmulatedDevice(threads=2)
    source = SOURCE.format(grid=grid, cluster=cluster, body=body)
    program = make_ready(source, BUFFERS, {}, device.info).as_program()
    execution, _ = device.run(program, {}, limits=LIMITS, mode=ModelledMode(seed=0))
    modelled = execution.launches[0].modelled
    assert modelled is not None, execution.launches[0].unmodelled
    assert modelled.kind == "clusters"
    return modelled.time_ms


@pytest.mark.usefixtures("simulated_times")
def test_reads_of_other_blocks_take_longer_than_own_ones_and_by_the_packets_of_a_warp() -> None:
    own, same_word, pairs = (
        modelled_ms(SPREAD.format(read=read))
        for read in (
            "((volatile int*)s)[(threadIdx.x + k) % 32]",
            "((volatile int*)other)[k % 32]",
            "((volatile int*)other)[(threadIdx.x + k) % 32]",
        )
    )
    assert own < same_word < pairs


def test_large_clusters_leave_processors_idle() -> None:
    figures = read_gpus()["h200"].figures
    assert figures is not None
    assert [figures.usable(size) for size in (1, 2, 4, 8, 16)] == [132, 132, 124, 124, 112]


def test_blocks_that_have_ended_are_not_waited_for() -> None:
    execution, got = run("if (blockIdx.x) return; cluster.sync(); y[threadIdx.x] = 7;")
    assert execution.failure is None
    assert got[:32] == [7] * 32


def test_a_grid_is_made_of_whole_clusters() -> None:
    execution, _ = run(EXCHANGE, grid=3)
    assert isinstance(execution.failure, Refused)
    assert "whole clusters" in str(execution.failure)


NEVER = """
    __shared__ unsigned long long b;
    const unsigned at = __cvta_generic_to_shared(&b);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at));
    cluster.sync();
    if (blockIdx.x) asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p,"
                                 " [%0], 0; @!p bra again; }" :: "r"(at));
    cluster.sync();
"""


def test_a_wait_that_no_block_of_a_cluster_ends_is_reported() -> None:
    execution, _ = run(NEVER)
    assert execution.failure is not None
    assert FaultKind.ENDLESS_WAIT.value in str(execution.failure)


@pytest.mark.parametrize("byte", [128, 16 << 20])
def test_addresses_behind_another_blocks_memory_are_out_of_bounds(byte: int) -> None:
    execution, _ = run(f"cluster.sync(); y[0] = *(cluster.map_shared_rank(s, 1) + {byte // 4});")
    assert FaultKind.OUT_OF_BOUNDS.value in str(execution.failure)


# --- the checked mode -----------------------------------------------------------------------------

STEPS = """// in: int a[256]
// out: int y[256]
// launch: k<<<4, 64>>>(y, a)
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/atomic>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2) k(int* y, const int* a) {{
    __shared__ int own[64];
    __shared__ int flag, sum;
    auto cluster = cg::this_cluster();
    const int i = 64 * blockIdx.x + threadIdx.x, rank = cluster.block_rank();
    int* other = cluster.map_shared_rank(own, rank ^ 1);
    int* others_flag = cluster.map_shared_rank(&flag, rank ^ 1);
    int* first_sum = cluster.map_shared_rank(&sum, 0);
    if (threadIdx.x == 0) flag = sum = 0;
    {steps}
}}
"""
SYNC = "cluster.sync();"
OWN = "own[threadIdx.x] = a[i];  // BUG"
READ = "y[i] = other[threadIdx.x];  // BUG"
WRITE = "other[threadIdx.x] = a[i];  // BUG"
READ_OWN = "y[i] = own[threadIdx.x];  // BUG"
AGAIN = "own[threadIdx.x] = a[i] + 1;  // BUG"
ADD = "atomicAdd(first_sum, a[i]);  // BUG"
GET = "y[i] = *first_sum;  // BUG"
RAISE = "if (threadIdx.x == 0) { __threadfence(); atomicExch(others_flag, 1); }"
SPIN = (
    "if (threadIdx.x == 0) { while (atomicAdd(&flag, 0) == 0) ; __threadfence(); } __syncthreads();"
)


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ((OWN, SYNC, READ, SYNC), None),
        ((OWN, READ, SYNC), "race"),
        ((OWN, "__syncthreads();", READ, SYNC), "race"),
        ((OWN, SYNC, READ), "race"),  # the other block may have ended
        ((SYNC, WRITE, SYNC, READ_OWN), None),
        ((SYNC, WRITE, READ_OWN, SYNC), "race"),
        ((OWN, SYNC, READ, SYNC, AGAIN), None),
        ((OWN, SYNC, READ, AGAIN, SYNC), "race"),
        ((SYNC, ADD, SYNC, GET, SYNC), None),
        ((SYNC, ADD, GET, SYNC), "race"),
        ((SYNC, WRITE, "__syncthreads();", RAISE, SPIN, READ_OWN, SYNC), None),
    ],
)
def test_blocks_of_a_cluster_that_do_not_wait_for_each_other_race(
    steps: tuple[str, ...], kind: str | None, tmp_path: Path
) -> None:
    path = tmp_path / f"{kind or 'none'}--cluster.cu"
    path.write_text(STEPS.format(steps="\n    ".join(steps)), encoding="utf-8")
    findings = find_bugs(read_planted(path))
    messages = "\n".join(finding.message for finding in findings)
    assert {finding.kind.value for finding in findings} == ({kind} - {None}), messages
    assert kind is None or named_lines(findings) <= read_planted(path).lines, messages
    assert kind is None or "a cluster.sync() is missing" in messages
