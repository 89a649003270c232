"""The checked mode finds every planted bug, names its lines, and is silent about the twins that
have none."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from grader.records import Finding
from tests.support.planted import FILES, NONE, find_bugs, named_lines, read_planted

ROOT = Path(__file__).parents[2]


@functools.cache
def look_into(file: Path) -> tuple[Finding, ...]:
    return find_bugs(read_planted(file))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_finds_what_is_planted_and_nothing_else(file: Path) -> None:
    planted, findings = read_planted(file), look_into(file)
    told = "\n".join(finding.message for finding in findings)
    assert {finding.kind.value for finding in findings} == ({planted.kind} - {NONE}), told
    assert named_lines(findings) == planted.lines, told


ROWS = """
// in: float a[32]
// out: float y[32]
// launch: shift<<<1, 32>>>(y, a)
extern "C" __global__ void shift(float* y, const float* a) {
    __shared__ float row[32];
    int lane = threadIdx.x;
    row[lane] = a[lane];
    __syncthreads();
    float kept = row[lane < 16 ? lane : lane - 8];
    y[lane] = kept;
    if (lane >= FIRST) row[lane - 8] = kept + 1;
}
"""
"""Lanes 8 to 15 and 16 to 23 read the same elements; lane 24 and those behind it have their own."""


@pytest.mark.parametrize(("first", "kinds"), [(24, set()), (16, {"race"})])
def test_rows_of_lanes_that_overlap_in_part(first: int, kinds: set[str], tmp_path: Path) -> None:
    path = tmp_path / "race--rows.cu"
    path.write_text(ROWS.replace("FIRST", str(first)), encoding="utf-8")
    assert {finding.kind.value for finding in find_bugs(read_planted(path))} == kinds


def test_enough_is_planted() -> None:
    bugs = [read_planted(file) for file in FILES]
    assert sum(bug.kind != NONE for bug in bugs) >= 20
    assert sum(bug.kind == NONE for bug in bugs) >= 10
    assert all(bug.lines for bug in bugs if bug.kind not in (NONE, "order_dependent"))


def test_the_table_beside_compute_sanitizer_has_every_file() -> None:
    table = json.loads(
        (ROOT / "tests" / "data" / "sanitizers_h200.json").read_text(encoding="utf-8")
    )
    assert [row["name"] for row in table["rows"]] == [file.stem for file in FILES]
    assert [row["bug"] for row in table["rows"]] == [read_planted(file).kind for file in FILES]


def find(stem: str) -> str:
    """What is said of one bug: the first finding."""
    (file,) = (file for file in FILES if file.stem == stem)
    return look_into(file)[0].message


def test_says_what_is_missing_and_where() -> None:
    message = find("race--no_barrier_before_the_tile_is_read")
    assert (
        message
        == "race on tile[2][0]: thread (2, 0, 0) reads it at line 8, and thread (0, 2, 0) stores it"
        " at line 7 without having waited; a __syncthreads() is missing between line 7 and"
        " line 8"
    )


def test_says_which_barrier_of_a_loop_is_missing() -> None:
    assert find("race--no_barrier_behind_the_loop").endswith(
        "a __syncthreads() is missing behind line 12, before the loop returns to line 10"
    )


def test_names_the_element_of_a_buffer_and_both_blocks() -> None:
    message = find("race--stencil_in_place")
    assert message.startswith(
        "race on y[31]: thread (31, 0, 0) of block (0, 0, 0) stores it at line 11, and thread (0,"
        " 0, 0) of block (1"
    )


def test_names_lanes_that_do_not_come() -> None:
    assert find("absent_lanes--shuffle_in_a_branch").startswith(
        "the shuffle at line 9 gives lanes 0 to 15 of the warp"
    )


def test_names_what_lanes_of_a_warp_wait_at() -> None:
    message = find("race--neighbours_of_a_warp")
    assert message.startswith(
        "race on kept[31]: thread (31, 0, 0) stores it at line 7, and thread (0, 0, 0) reads it at"
        " line 8 without"
    )
    assert message.endswith("a __syncwarp() is missing between line 7 and line 8")


def test_does_not_guess_which_lane_it_was() -> None:
    message = find("race--queue_cleared_while_it_is_read")
    assert message.startswith(
        "race on count: another lane of its warp reads it at line 14, and thread"
    )


def test_names_the_element_that_is_meant_and_the_one_that_is_hit() -> None:
    message = find("out_of_bounds--into_the_next_array")
    assert (
        message
        == "tile[64] is read by thread (63, 0, 0) at line 11: it lies behind the end of tile, at"
        " weights[0]"
    )
