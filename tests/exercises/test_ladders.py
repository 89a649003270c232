"""On each rung of an exercise's ladder, the first advice names the step to the next rung, and this
step gains points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.messages.reasons import ALL_PASSED, describe_next_step
from tests.support.ladders import (
    NOT_GRADED,
    STARTER,
    Ladder,
    file_of,
    format_ms,
    grade,
    handout_of,
    read_ladders,
    renew_row,
    values_of,
)

ROOT = Path(__file__).resolve().parents[2]
MOST_OF_A_STARTER = 40
"""Points that a correct starter may earn: those of correctness and little more."""


@dataclass(frozen=True)
class Rung:
    """A submission and words of the advice that leads to the next rung."""

    file: str
    advice: str


LADDERS = {
    "transpose": (
        Rung("failed--naive_coalesced_reads", "Go through a tile in shared memory"),
        Rung(STARTER, "Change the row length of the tile"),
        Rung("failed--padded_one_element_a_thread", "every thread load several elements"),
        Rung("passed--padded_block_rows_8", ALL_PASSED),
    ),
    "gemm_coalesced": (
        Rung(STARTER, "read neighbouring elements of a row of B"),
        Rung("failed--b_transposed_first", "Where B itself is read along a row, no copy"),
        Rung("failed--rows_of_sixteen", "32 threads of a warp"),
        Rung("passed--two_dimensional_block", ALL_PASSED),
    ),
    "gemm_tiled": (
        Rung(STARTER, "into a tile in shared memory once per step"),
        Rung("failed--tile_of_8", "Use larger tiles"),  # tiles of 16 are too close to call
        Rung("passed--tile_of_32", ALL_PASSED),
    ),
    "gemm_register_blocked": (
        Rung(STARTER, "let neighbouring threads load neighbouring elements of a row into"),
        Rung("failed--coalesced_4x4", "try 8 x 8, on tiles of 128 x 128"),
        Rung("passed--vectorised_128x128", ALL_PASSED),
    ),
    "gemm_tensor_cores": (
        Rung(STARTER, "Let several warps share tiles in shared memory"),
        Rung("failed--tiles_of_64_by_elements", "Load 8 halves at a time"),
        Rung("failed--tiles_of_64", "store_matrix_sync can write them to C"),
        Rung("passed--eight_warps_of_64_by_32", ALL_PASSED),
    ),
    "attention": (
        Rung(STARTER, "Let a block copy a tile of keys and values to shared memory"),
        Rung("failed--tiles_in_shared_memory", "Use tensor cores for both products"),
        Rung("failed--tensor_cores_with_conflicts", "by an exclusive or with the row"),
        Rung("failed--sixteen_queries_per_warp", "Let a warp have 32 queries"),
        Rung("passed--four_warps", ALL_PASSED),
    ),
    "reduction": (
        Rung(STARTER, "Let whole warps work or rest"),
        Rung("failed--interleaved_strided_index", "Begin with the most distant pairs"),
        Rung("failed--sequential_addressing", "let each thread add many elements"),
        Rung("failed--first_add_while_loading", "Give each thread many elements"),
        Rung("failed--one_float_at_a_time_1056_blocks", "load several float4 per thread"),
        Rung("passed--grid_stride_and_shuffles", ALL_PASSED),
    ),
    "histogram": (
        Rung(STARTER, "Let each block count in bins of its own in shared memory"),
        Rung("failed--private_bins_one_element_each", "far more elements than it has bins"),
        Rung("failed--private_bins_blocks_of_1024", "far more elements than it has bins"),
        Rung("failed--chunk_per_thread", "Let consecutive threads"),
        Rung("failed--grid_stride_one_at_a_time", "load an int4 per step"),
        Rung("passed--int4_per_step", ALL_PASSED),
    ),
    "sort": (
        Rung(STARTER, "Use several bits per pass"),
        Rung("failed--four_bits_per_pass", "Sort the keys of a block in shared memory first"),
        Rung("failed--four_bits_sorted_in_shared_memory", "use 8 bits per pass"),
        Rung("failed--digits_counted_in_each_pass", "count the digits of all passes in one"),
        Rung("passed--ranks_before_counts", ALL_PASSED),
    ),
    "convolution": (
        Rung(STARTER, "Read the weights from constant memory"),
        Rung("failed--constant_weights", "load a tile with its halo into shared memory"),
        Rung("failed--tile_one_element_each", "compute a column of several elements"),
        Rung("failed--column_of_eight", "no bounds checks where it lies inside of the image"),
        Rung("failed--column_of_eight_checked_at_edges", "Let each thread compute 4 x 4"),
        Rung("passed--tile_loaded_float_by_float", ALL_PASSED),
    ),
    "spmv": (
        Rung(STARTER, "several lanes share a row"),
        Rung("failed--four_lanes_per_row", "several lanes share a row"),
        Rung("failed--warp_per_row", "let 8 lanes share a row"),
        Rung("failed--eight_lanes_per_row", "share the elements of consecutive rows"),
        Rung("passed--chunks_of_512", ALL_PASSED),
    ),
}
QUICK = ("gemm_tiled",)


@pytest.mark.parametrize(
    "exercise",
    [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in LADDERS],
)
def test_the_first_advice_leads_to_the_next_rung_with_more_points(
    exercise: str, cache: Path
) -> None:
    """All rungs are graded before the first wrong one fails the test."""
    ladder = LADDERS[exercise]
    scores = [grade(exercise, rung.file, cache) for rung in ladder]
    steps = [describe_next_step(score) for score in scores]
    assert [step for step, rung in zip(steps, ladder, strict=True) if rung.advice not in step] == []
    points = [score.score for score in scores]
    assert points == sorted(set(points))
    shown = next(read_ladders(exercise)).points
    listed = [
        (rung, score) for rung, score in zip(ladder, points, strict=True) if rung.file in shown
    ]
    assert [round(score) for _, score in listed] == [shown[rung.file] for rung, _ in listed]


TABLES = [
    pytest.param(ladder, id=ladder.exercise)
    for path in sorted((ROOT / "exercises").glob("*/README.md"))
    for ladder in read_ladders(path.parent.name)
]


@pytest.mark.parametrize("ladder", TABLES)
def test_each_row_of_a_ladder_is_a_file(ladder: Ladder) -> None:
    assert len(ladder.files) == len(ladder.rows)
    graded = [name for name in ladder.files if name != NOT_GRADED]
    assert all(file_of(ladder.exercise, name).exists() for name in graded)
    rungs = LADDERS.get(ladder.exercise, ())
    assert {rung.file for rung in rungs if rung.advice != ALL_PASSED} <= {*graded}


@pytest.mark.parametrize("ladder", TABLES)
def test_a_starter_has_hardly_more_points_than_those_of_correctness(ladder: Ladder) -> None:
    points = ladder.points[STARTER]
    assert points <= MOST_OF_A_STARTER
    handout = handout_of(ladder.exercise).read_text(encoding="utf-8")
    assert f"The starter has {points} points." in handout


@pytest.mark.slow
@pytest.mark.parametrize("ladder", TABLES)
def test_the_model_gives_what_the_ladder_shows(ladder: Ladder, cache: Path) -> None:
    renewed = [
        line
        if name == NOT_GRADED
        else renew_row(ladder, line, values_of(grade(ladder.exercise, name, cache)))
        for line, name in zip(ladder.rows, ladder.files, strict=True)
    ]
    assert renewed == [*ladder.rows]


def test_only_columns_of_the_model_are_written() -> None:
    head = "| kernel | measured ms | of peak | modelled ms | points |"
    ladder = Ladder("transpose", (head, "|---|", "| a | 1.28 | 13 % | 1.193 | 37 |"), ("starter",))
    renewed = renew_row(ladder, ladder.rows[0], {"ms": "1.20", "of": "14 %", "points": "38"})
    assert renewed == "| a | 1.28 | 13 % | 1.20 | 38 |"
    all_modelled = Ladder("x", ("| kernel | ms (modelled) | of 3,352 GB/s |",), ())
    assert renew_row(all_modelled, "| a | 9 | 1 % |", {"ms": "8", "of": "2 %"}) == "| a | 8 | 2 % |"
    assert [format_ms(ms) for ms in (0.0537, 1.193, 37.58)] == ["0.054", "1.19", "37.6"]
