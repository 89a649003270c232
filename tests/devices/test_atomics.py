"""Atomics are accesses: counted apart from loads and stores, and graded as the loads and stores
that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import grader
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import Counters, Execution, RunLimits
from tests.support.device_plans import atomics_arrays, make_atomics

WARPS = 4 * 4


@pytest.fixture(scope="module")
def execution() -> Execution:
    device = EmulatedDevice("h100", threads=1)
    ready = make_atomics(device.info)
    limits = RunLimits(10**6, 60.0)
    execution, _ = device.run(ready.as_program(), atomics_arrays(), limits=limits)
    assert execution.failure is None, execution.failure
    return execution


@pytest.fixture
def counted(execution: Execution) -> dict[str, Counters]:
    return {launch.kernel.partition("(")[0]: launch.counters for launch in execution.launches}


def test_columns_written_by_exchanges_are_columns_written(counted: dict[str, Counters]) -> None:
    counters = counted["exchange_columns"]
    assert counters.global_store_efficiency == 0.125
    assert (counters.global_store_requests, counters.global_atomic_requests) == (0, 4 * 8 * 4)
    assert counters.global_atomic_sectors == 32 * counters.global_atomic_requests
    assert counters.global_load_efficiency == (128 + 128) / (
        128 + 32 * 32
    )  # an exchange returns what was there


def test_reading_by_an_atomic_is_a_load(counted: dict[str, Counters]) -> None:
    counters = counted["read_by_or"]
    assert (counters.global_load_requests, counters.global_fetch_requests) == (0, WARPS)
    assert counters.global_reads.sectors == counters.global_fetch_sectors == 32 * WARPS
    assert counters.global_load_efficiency == 0.125
    assert counters.global_store_efficiency == (128 + 128) / (128 + 32 * 32)  # it stores, too


def test_an_atomic_without_a_result_is_no_load(counted: dict[str, Counters]) -> None:
    rows, columns = counted["add_rows"], counted["add_columns"]
    assert rows.global_fetch_requests == columns.global_fetch_requests == 0
    assert rows.global_load_efficiency == columns.global_load_efficiency == 1.0
    assert (rows.global_atomic_sectors, rows.global_atomic_sectors_ideal) == (5 * WARPS, 4 * WARPS)
    assert rows.global_store_efficiency == 128 / (5 * 32)
    assert columns.global_store_efficiency == 0.125


def test_lanes_that_meet_share_a_sector_and_its_bytes(counted: dict[str, Counters]) -> None:
    one, fours, fetched = counted["add_to_one"], counted["add_by_fours"], counted["fetch_one"]
    assert (one.global_atomic_sectors, one.global_atomic_bytes) == (WARPS, 4 * WARPS)
    assert (fours.global_atomic_sectors, fours.global_atomic_bytes) == (WARPS, 32 * WARPS)
    assert (fetched.global_fetch_sectors, fetched.global_fetch_bytes) == (WARPS, 4 * WARPS)


def test_wide_and_partial_warps(counted: dict[str, Counters]) -> None:
    doubles, third, none = counted["add_doubles"], counted["every_third"], counted["no_lane"]
    assert (doubles.global_atomic_sectors, doubles.global_atomic_bytes) == (8 * WARPS, 256 * WARPS)
    assert (third.global_atomic_requests, third.global_atomic_bytes) == (4 * 4, 4 * 4 * 34)
    assert none.global_atomic_requests == none.global_atomic_sectors == 0


def test_excess_sectors_hold_the_atomics(counted: dict[str, Counters]) -> None:
    assert counted["add_rows"].global_sectors_excessive == WARPS
    assert counted["exchange_columns"].global_sectors_excessive == 28 * 4 * 8 * 4
    assert all(counters.global_sectors_excessive >= 0 for counters in counted.values())


def test_wavefronts_of_shared_atomics_are_no_stores(counted: dict[str, Counters]) -> None:
    bins, column = counted["bins"], counted["shared_column"]
    assert (bins.shared_store_instructions, bins.shared_store_wavefronts) == (
        WARPS,
        2 * 4,
    )  # two warps of a block store
    assert bins.shared_atomic_instructions == 2 * WARPS
    assert (column.shared_atomic_instructions, column.shared_atomic_wavefronts) == (
        8 * WARPS,
        32 * 8 * WARPS,
    )
    assert column.shared_store_wavefronts == column.shared_store_instructions == 0
    assert (
        column.shared_wavefronts == column.shared_atomic_wavefronts + column.shared_load_wavefronts
    )
    assert column.shared_wavefronts_excessive == 31 * 8 * WARPS


def test_atomics_stand_at_their_lines(execution: Execution) -> None:
    for launch in execution.launches:
        assert sum((line.counters for line in launch.lines), Counters()) == launch.counters
        atomics = [line.line for line in launch.lines if line.counters.global_atomic_requests]
        assert len(atomics) <= 1


def test_a_copy_of_a_record_keeps_its_kinds_apart() -> None:
    counters = Counters(
        global_load_sectors=1,
        global_store_sectors=2,
        global_atomic_sectors=8,
        global_fetch_sectors=4,
    )
    assert (
        counters.global_reads.sectors,
        counters.global_writes.sectors,
        counters.global_sectors,
    ) == (5, 10, 11)
    assert (
        replace(counters, global_load_sectors=0, global_fetch_sectors=0).global_load_efficiency
        is None
    )


@pytest.mark.parametrize(("stride", "tries"), [(1, 1), (2, 2), (8, 8), (32, 32), (0, 32)])
def test_a_shared_compare_and_swap_goes_through_for_one_lane_a_bank(
    stride: int, tries: int
) -> None:
    """As an H200 counts the loop that adds floats: of the lanes with a bank the first one swaps,
    whatever its word is, and a try takes two wavefronts."""
    run = grader.run(
        f"""\
// launch: add<<<1, 32>>>(y)
__global__ void add(float* y) {{
  __shared__ float sums[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) sums[i] = 0.0f;
  __syncwarp();
  atomicAdd(&sums[threadIdx.x * {stride}], 1.0f);
  __syncwarp();
  y[threadIdx.x] = sums[threadIdx.x * {stride}];
}}
""",
        outputs={"y": ("float32", (32,))},
    )
    assert np.all(run.outputs["y"] == (1.0 if stride else 32.0))
    counters = run.launches[0].counters
    assert counters is not None
    assert counters.shared_atomic_instructions == tries
    assert counters.shared_atomic_wavefronts == 2 * tries
