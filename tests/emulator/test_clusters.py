"""Thread-block clusters: what their blocks know, whom they wait for, and each other's memory. The
corpus has more of it."""

from __future__ import annotations

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.emulator import FaultKind
from grader.records import DeviceBuffer, Execution, Refused, Role, RunLimits
from tests.support.device_plans import make_ready

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
    """As Nsight Compute counts them on an H200."""
    execution, _ = run(EXCHANGE)
    counters = execution.launches[0].counters
    assert (counters.shared_load_wavefronts, counters.global_load_bytes) == (0, 2 * 128)
    assert (counters.global_load_requests, counters.global_load_sectors) == (0, 0)


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


def test_what_no_block_of_a_cluster_ends_is_told() -> None:
    execution, _ = run(NEVER)
    assert execution.failure is not None
    assert FaultKind.ENDLESS_WAIT.value in str(execution.failure)


@pytest.mark.parametrize("byte", [128, 16 << 20])
def test_what_lies_behind_another_blocks_memory_is_out_of_bounds(byte: int) -> None:
    execution, _ = run(f"cluster.sync(); y[0] = *(cluster.map_shared_rank(s, 1) + {byte // 4});")
    assert FaultKind.OUT_OF_BOUNDS.value in str(execution.failure)
