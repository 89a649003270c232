"""Results of corpus kernels, in NumPy: memory, atomics, operations of several lanes and threads.

By default, test_corpus.py compares such kernels with an H100's outputs, which agree with these
formulas.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.support.corpus import KERNELS, Result, find_cases, make_arrays, run_case

pytestmark = pytest.mark.slow

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, value: old + value,
    "min": min,
    "max": max,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exch": lambda old, value: value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
    "dec": lambda old, value: value if old == 0 or old > value else old - 1,
}
INTEGERS = ("u32", "s32", "u64", "s64")


def run_file(name: str) -> tuple[dict[str, np.ndarray], Result]:
    """The arrays before the run of a kernel file at -O3, and its result."""
    case = next(case for case in find_cases([name]) if case.level == 3)
    return make_arrays(case), run_case(case)


def operations_of(name: str) -> list[str]:
    """The operations in the first line of an atomic's file."""
    first = (KERNELS / f"{name}.cu").read_text().partition("\n")[0]
    return re.findall(
        r"\b(?:add|min|max|and|or|xor|exch|inc|dec)\b", first.partition(": ")[2].partition(";")[0]
    )


def take_turns(
    name: str, cells: np.ndarray, values: np.ndarray, *, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Four cells per operation, at which threads meet in ascending order: the values that they
    find, and the final values.

    Each thread has its own value for an operation or, if there are too few values, the same.
    """
    cells, found = cells.copy(), np.zeros_like(values)
    for number, operation in enumerate(operations_of(name)):
        for thread in range(threads):
            place, index = 4 * number + thread % 4, (number * threads + thread) % len(values)
            found[index] = cells[place]
            result = OPERATIONS[operation](int(cells[place]), int(values[index])) % (
                1 << 8 * cells.itemsize
            )
            cells[place] = np.array([result], dtype=f"u{cells.itemsize}").view(cells.dtype)[0]
    return found, cells


@pytest.mark.parametrize("kind", INTEGERS)
def test_global_atomics_take_turns_by_lane(kind: str) -> None:
    before, result = run_file(f"atomic_global_{kind}")
    found, left = take_turns(f"atomic_global_{kind}", before["cell"], before["a"], threads=32)
    assert result.outputs["old"].tolist() == found.tolist()
    assert result.outputs["cell"].tolist() == left.tolist()


@pytest.mark.parametrize("kind", INTEGERS)
def test_shared_atomics_leave_the_same_values_as_global_atomics(kind: str) -> None:
    """64-bit operations are loops around a compare-and-swap, with another order of lanes."""
    before, result = run_file(f"atomic_shared_{kind}")
    found, left = take_turns(f"atomic_shared_{kind}", before["start"], before["a"], threads=32)
    assert result.outputs["last"].tolist() == left.tolist()
    if kind.endswith("32"):
        assert result.outputs["old"].tolist() == found.tolist()


@pytest.mark.parametrize("kind", INTEGERS)
def test_global_reductions_of_many_blocks_add_up(kind: str) -> None:
    before, result = run_file(f"reduction_global_{kind}")
    _, left = take_turns(f"reduction_global_{kind}", before["cell"], before["a"], threads=1024)
    assert result.outputs["cell"].tolist() == left.tolist()


def test_a_histogram_has_every_byte() -> None:
    before, result = run_file("histogram_shared")
    assert result.outputs["bins"].tolist() == np.bincount(before["a"], minlength=256).tolist()


def test_tickets_are_given_once() -> None:
    _, result = run_file("tickets")
    assert sorted(result.outputs["ticket"].tolist()) == list(range(512))


def test_copies_of_every_width_arrive() -> None:
    before, result = run_file("copy_async_4_8_16")
    words = before["a"].view(np.uint32).reshape(-1, 2)
    assert result.outputs["y"].view(np.uint32).tolist() == words[:, ::-1].ravel().tolist()


def test_copies_count_as_global_loads_and_as_wavefronts_of_shared_memory() -> None:
    _, result = run_file("copy_async_4_8_16")
    (counters,) = result.launches
    assert (
        counters["global_load_requests"],
        counters["global_load_sectors"],
        counters["global_load_bytes"],
    ) == (24, 224, 7168)
    assert (counters["shared_store_instructions"], counters["shared_store_wavefronts"]) == (
        0,
        8 + 16 + 32,
    )


def test_copies_fill_up_with_zeros() -> None:
    before, result = run_file("copy_async_zero_fill")
    wanted = np.zeros((17, 16), dtype=np.uint8)
    for thread in range(17):
        count = {15: 16, 16: 13}.get(thread, thread)
        wanted[16 - thread, :count] = before["a"][16 * thread :][:count]
    assert result.outputs["y"].tolist() == wanted.ravel().tolist()


def test_ignored_sources_give_zeros() -> None:
    before, result = run_file("copy_async_ignore_source")
    wanted = np.where(np.arange(64) % 3 != 0, np.uint64(0), before["a"])[::-1]
    assert result.outputs["y"].tolist() == wanted.tolist()


def test_a_pipeline_sums_all_tiles() -> None:
    before, result = run_file("copy_async_pipeline")
    tiles = before["a"].reshape(8, 128)
    total = sum((number + 1) * tile for number, tile in enumerate(tiles))
    assert (
        result.outputs["y"].tolist() == np.asarray(total).reshape(-1, 2)[:, ::-1].ravel().tolist()
    )


def test_variables_keep_their_values_from_launch_to_launch() -> None:
    _, result = run_file("device_variables")
    table = np.arange(1, 9) + 3.0 * np.arange(8)
    zeros = np.where(np.arange(32) % 2 == 0, 1.5, 0)
    lanes = np.arange(32)
    assert result.outputs["y"].tolist() == [
        *(table[2 + lanes % 6] + 3),
        *(zeros + table[lanes % 8]),
    ]


def test_pointers_name_the_function_of_each_lane() -> None:
    before, result = run_file("function_pointers")
    functions = (lambda x: 3 * x, lambda x: x ^ 77, lambda x: int(x / 2))
    wanted = [
        functions[i % 3](int(x)) + (i * i if i % 5 == 0 else i + 1)
        for i, x in enumerate(before["a"])
    ]
    assert (
        result.outputs["y"].tolist() == np.array(wanted, dtype=np.int64).astype(np.int32).tolist()
    )


def test_a_shuffle_joins_lanes_of_both_sides() -> None:
    before, result = run_file("shuffle_from_two_branches")
    partner = before["a"].reshape(-1, 2)[:, ::-1].ravel()
    assert (
        result.outputs["y"].tolist()
        == np.where(before["a"] & 1, partner, partner + 1).astype(np.uint32).tolist()
    )


def test_tiles_see_their_own_lanes_only() -> None:
    before, result = run_file("tiles_of_a_block")
    y, eights, sixteens = (
        result.outputs["y"].reshape(6, 128),
        before["a"].reshape(16, 8),
        before["a"].reshape(8, 16),
    )
    assert y[0][::8].tolist() == eights.sum(axis=1).tolist()
    assert (
        y[1][::8].tolist() == ((eights > -8).all(axis=1) + 2 * (eights == 3).any(axis=1)).tolist()
    )
    assert y[2][::16].tolist() == sixteens.sum(axis=1).tolist()
    assert y[5][::16].tolist() == sixteens.max(axis=1).tolist()


def test_reductions_of_a_warp() -> None:
    before, result = run_file("reduce_sync")
    y, warp = result.outputs["y"].reshape(10, 64), before["a"][:32]
    signed = warp.view(np.int32)
    wanted = [
        int(warp.sum(dtype=np.uint64)) % (1 << 32),
        warp.min(),
        warp.max(),
        signed.min(),
        signed.max(),
    ]
    assert y[:5, 0].tolist() == [int(value) % (1 << 32) for value in wanted]
    combined = [
        np.bitwise_and.reduce(warp | 1),
        np.bitwise_or.reduce(warp & 0xF0F0),
        np.bitwise_xor.reduce(warp),
    ]
    assert y[5:8, 0].tolist() == [int(value) for value in combined]
    assert y[8, 0] == int(warp[:7].sum(dtype=np.uint64)) % (1 << 32)


def test_matches_name_the_lanes_with_the_same_value() -> None:
    before, result = run_file("match_any_and_all")
    a, y = before["a"][:32], result.outputs["y"].reshape(8, 64)
    assert y[0][:32].tolist() == [
        sum(1 << other for other in range(32) if a[other] == value) for value in a
    ]
    assert (y[2][0], y[3][0], y[4][0]) == (0, 0xFFFFFFFF, 1)


def test_half_a_block_waits_at_a_barrier_of_its_own() -> None:
    _, result = run_file("named_barriers")
    threads = np.arange(128)
    wanted = np.where(threads < 64, 63 - threads, 127 - threads + 1000) + (threads ^ 64)
    assert result.outputs["y"].tolist() == np.tile(wanted, 2).tolist()


def test_a_producer_and_a_consumer_take_turns() -> None:
    before, result = run_file("producer_and_consumer")
    rows = before["a"].reshape(16, 32)
    assert (
        result.outputs["y"].tolist()
        == np.asarray(sum((k + 1) * row[::-1] for k, row in enumerate(rows))).tolist()
    )


def test_clocks_go_forward() -> None:
    _, result = run_file("clocks")
    assert result.outputs["y"].tolist() == [7] * 32


def test_printf_returns_the_number_of_its_arguments() -> None:
    _, result = run_file("printf")
    wanted = [5 if i % 16 == 3 else 0 if i == 9 else -5 for i in range(64)]
    assert result.outputs["y"].tolist() == wanted
