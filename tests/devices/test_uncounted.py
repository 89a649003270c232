"""Data that moves past the counters: the emulated device tells how much, and metrics that miss it
have no value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.judging.evidence import CountedRun, Evidence
from grader.judging.uncounted import UNCOUNTED, WAITED
from grader.judging.values import collect_metrics
from grader.judging.worse import take_worse
from grader.records import (
    Counters,
    DeviceBuffer,
    Execution,
    MetricValue,
    ModelledMode,
    Role,
    RunLimits,
    Uncounted,
)
from tests.emulator.test_asynchronous import STORE
from tests.emulator.test_asynchronous import run as run_asynchronous
from tests.emulator.test_clusters import EXCHANGE
from tests.emulator.test_clusters import run as run_cluster
from tests.support.device_plans import make_ready
from tests.support.factories import GPU, H100, make_execution, make_exercise

BLOCKS, TILE = 2048, 16384
SOURCE = """
// launch: copy<<<BLOCKS, 32, 16384>>>(y, a)
__global__ void copy(float* y, const float* a) {
    extern __shared__ __align__(128) float s[];
    __shared__ unsigned long long b;
    const unsigned at = __cvta_generic_to_shared(&b), to = __cvta_generic_to_shared(s);
    const size_t first = 4096 * size_t(blockIdx.x);
    if (threadIdx.x) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16384;" :: "r"(at) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1],"
                 " 16384, [%2];" :: "r"(to), "l"(a + first), "r"(at) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
                 " @!p bra again; }" :: "r"(at) : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16384;"
                 :: "l"(y + first), "r"(to) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
"""


def test_bulk_copies_are_told_by_their_bytes_and_take_time() -> None:
    count = BLOCKS * TILE // 4
    buffers = (
        DeviceBuffer("y", "float32", (count,), Role.OUTPUT),
        DeviceBuffer("a", "float32", (count,), Role.INPUT),
    )
    device = EmulatedDevice(threads=1)
    source = SOURCE.replace("BLOCKS", str(BLOCKS))
    program = make_ready(source, buffers, {}, device.info).as_program()
    data = np.arange(count, dtype=np.float32)
    limits = RunLimits(warp_instructions=10**8, wall_seconds=60.0)
    execution, arrays = device.run(program, {"a": data}, limits=limits, mode=ModelledMode(1))
    (launch,) = execution.launches
    assert np.array_equal(arrays["y"], data)
    assert launch.uncounted == Uncounted(BLOCKS * TILE, BLOCKS * TILE, 0)
    assert launch.counters.global_sectors == 0
    assert launch.modelled is not None
    assert launch.modelled.time_ms > 2 * BLOCKS * TILE / device.info.peak_bandwidth_gbps / 1e6


def test_accesses_to_shared_memory_of_other_blocks_are_told() -> None:
    for execution, _ in (run_cluster(EXCHANGE), run_asynchronous(STORE.replace("PLACE", "4 * i"))):
        assert execution.launches[0].uncounted == Uncounted(remote_accesses=2)


COUNTED = Counters(
    shared_load_instructions=1000,
    shared_load_wavefronts=1000,
    shared_wavefronts_ideal=1000,
    global_load_sectors=4000,
    global_load_bytes=128_000,
    global_store_sectors=4000,
    global_store_bytes=128_000,
)
LOADS = {"global_load_efficiency", "global_load_sectors"}
STORES = {"global_store_efficiency", "global_store_sectors", "global_store_sectors_per_block"}
SHARED = {"shared_bank_conflicts", "shared_wavefronts"}


def counting(uncounted: Uncounted, counters: Counters = COUNTED) -> Execution:
    (launch,) = make_execution().launches
    return Execution((replace(launch, counters=counters, lines=(), uncounted=uncounted),))


def missing(metrics: tuple[MetricValue, ...], reason: str = UNCOUNTED) -> set[str]:
    return {metric.name for metric in metrics if metric.reason == reason}


@pytest.mark.parametrize(
    ("uncounted", "metrics"),
    [
        (Uncounted(), set()),
        (Uncounted(loaded_bytes=1_000, stored_bytes=1_000, remote_accesses=8), set()),
        (Uncounted(loaded_bytes=2_000), LOADS),
        (Uncounted(stored_bytes=2_000), STORES),
        (Uncounted(loaded_bytes=128_000), LOADS),
        (Uncounted(loaded_bytes=256_000), LOADS | SHARED),
        (Uncounted(loaded_bytes=128_000, stored_bytes=128_000), LOADS | STORES | SHARED),
        (Uncounted(remote_accesses=20), SHARED),
    ],
)
def test_metrics_that_miss_a_part_of_the_data_have_no_value(
    uncounted: Uncounted, metrics: set[str]
) -> None:
    run = counting(uncounted)
    assert missing(collect_metrics(Evidence(execution=run), make_exercise(), H100)) == metrics


def test_the_emulated_device_tells_so_for_a_gpu() -> None:
    by_ncu, emulated = counting(Uncounted()), counting(Uncounted(loaded_bytes=2_000))
    evidence = Evidence(execution=by_ncu, lines_from=emulated)
    assert missing(collect_metrics(evidence, make_exercise(), GPU)) == LOADS


def test_what_only_the_timed_run_moves_past_the_counters_is_not_judged() -> None:
    runs = [counting(Uncounted()), counting(Uncounted(stored_bytes=10**6))]
    metrics = collect_metrics(Evidence(execution=runs[0]), make_exercise(), H100)
    worse = take_worse(metrics, [CountedRun({}, run) for run in runs], {})
    assert missing(worse) == STORES | SHARED


def test_counts_of_threads_that_wait_in_loops_decide_no_efficiency() -> None:
    """The number of tries at a lock depends on time: an H200 counts far more of them."""
    run = counting(Uncounted())
    run = replace(run, launches=tuple(replace(each, waited=True) for each in run.launches))
    metrics = collect_metrics(Evidence(execution=run), make_exercise(), H100)
    assert missing(metrics, WAITED) == LOADS | STORES | {"instructions_executed"}
    evidence = Evidence(execution=counting(Uncounted()), lines_from=run)
    assert not missing(collect_metrics(evidence, make_exercise(), GPU), WAITED)
