"""Requests to the L2, as Nsight Compute counts them. The expected rates were measured on an H200
(benchmarks/traffic.py) unless a test says otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.timing.footprint import Traffic
from grader.emulator.timing.l2 import Requests, count_requests
from grader.emulator.timing.record_arrays import first_row, make_rows
from grader.emulator.timing.timing_records import Statistics

SECTORS = 1_000_000
NONE = Traffic(0.0, 0.0, np.zeros(0))
TOO_FEW = 0.03
"""Nsight Compute also counts requests of the GPU itself, which hit."""


def requested(
    traffic: Traffic = NONE,
    *,
    loads: int = 0,
    others: int = 0,
    local_misses: int = 0,
    visits: float = 1.0,
    partitions: int = 2,
    scale: float = 1.0,
) -> Requests:
    rows = make_rows(Statistics, 1)
    rows["l1_misses"], rows["local_misses"] = loads, local_misses
    rows["l2_bytes"] = (loads + others) * SECTOR_BYTES
    return count_requests(first_row(Statistics, rows), scale, traffic, visits, partitions)


def rate(requests: Requests) -> float:
    return requests.hits / requests.sectors


def test_half_of_the_reads_and_stores_count_twice() -> None:
    copy = requested(replace(NONE, read=SECTORS), loads=SECTORS, others=SECTORS)
    assert copy.sectors == 3 * SECTORS
    assert rate(copy) == pytest.approx(0.505, abs=TOO_FEW)
    assert rate(requested(others=SECTORS)) == 1.0


def test_data_that_is_read_once_misses() -> None:
    assert rate(requested(replace(NONE, read=SECTORS), loads=SECTORS)) == pytest.approx(
        0.016, abs=TOO_FEW
    )


def test_the_second_sector_of_a_pair_hits_if_it_is_requested_later() -> None:
    """rows/matvec_thread: each thread reads 16 bytes at a time along its row."""
    by_rows = requested(replace(NONE, read=SECTORS, first=0.5), loads=SECTORS)
    assert rate(by_rows) == pytest.approx(0.343, abs=TOO_FEW)


def test_a_random_read_brings_a_sector_that_nobody_requests() -> None:
    """gather/eight_words with 256 MB: DRAM reads two sectors for each request."""
    gathered = requested(replace(NONE, read=1.82 * SECTORS, first=0.5), loads=SECTORS)
    assert rate(gathered) == pytest.approx(0.114, abs=0.08)


def test_data_that_all_sms_read_misses_once_in_each_partition() -> None:
    """groups/product_by_maps of 2048 x 2048 x 1024."""
    product = requested(replace(NONE, read=262_144), loads=3_100_000, others=524_288, visits=16)
    assert product.sectors - product.hits == pytest.approx(2 * 262_144, rel=1e-4)
    assert rate(product) == pytest.approx(0.857, abs=TOO_FEW)


def test_fills_and_atomics_miss_at_home() -> None:
    """strides/strided_stores with a stride of 16; atomics/random_words."""
    strided = requested(
        replace(NONE, read=524_288, filled=4_067_000), loads=524_288, others=4_194_304
    )
    assert rate(strided) == pytest.approx(0.539, abs=0.05)
    counted = requested(replace(NONE, read=0.0, updated=1_820_000), others=4_194_292)
    assert rate(counted) == pytest.approx(0.735, abs=TOO_FEW)


def test_local_memory_that_left_the_l2_misses() -> None:
    """local/delay_line with a lag of 300."""
    delayed = requested(others=51_600_000, local_misses=16_600_000)
    assert rate(delayed) == pytest.approx(0.676, abs=TOO_FEW)


def test_an_l2_in_one_part_counts_each_request_once() -> None:
    """By the definition; no such GPU was measured."""
    copy = requested(
        replace(NONE, read=2 * SECTORS), loads=SECTORS, others=SECTORS, partitions=1, scale=2.0
    )
    assert copy == Requests(4 * SECTORS, 2 * SECTORS)
    read = requested(replace(NONE, read=SECTORS), loads=SECTORS, visits=100, partitions=1)
    assert read == Requests(SECTORS, 0.0)


def test_there_are_no_more_misses_than_requests() -> None:
    assert requested(replace(NONE, read=1000, updated=500), loads=10).hits == 0.0
    assert requested() == Requests(0.0, 0.0)
