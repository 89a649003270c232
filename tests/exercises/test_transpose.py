"""The exercise "transpose" as it is handed out: its spec, its cases, and what its handout and its
reference claim about banks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from grader.spec.draws import draw_cases, make_inputs
from grader.spec.exercise import Exercise
from grader.spec.oracle import load_oracle
from grader.spec.reader import read_exercise
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission

ROOT = Path(__file__).parents[2]
HANDOUT = (ROOT / "exercises" / "transpose" / "README.md").read_text(encoding="utf-8")
LANES = range(32)


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return read_exercise(ROOT / "exercises" / "transpose")


def test_has_the_points_that_its_handout_promises(exercise: Exercise) -> None:
    promised = [int(points) for points in re.findall(r"^\| (\d+) \|", HANDOUT, flags=re.MULTILINE)]
    assert [check.points for check in exercise.checks] == promised
    assert exercise.max_score == 100


def test_everything_but_correctness_requires_it(exercise: Exercise) -> None:
    assert [check.name for check in exercise.checks if "correctness" not in check.requires] == [
        "correctness"
    ]


def test_a_kernel_without_shared_memory_gets_no_points_for_bank_conflicts(
    exercise: Exercise,
) -> None:
    [conflicts] = [check for check in exercise.checks if check.metric == "shared_bank_conflicts"]
    assert {"global_load_efficiency", "global_store_efficiency"} <= set(conflicts.requires)


@pytest.mark.parametrize("seed", range(5))
def test_its_cases_cover_what_goes_wrong(exercise: Exercise, seed: int) -> None:
    sizes = [(case.sizes["rows"], case.sizes["cols"]) for case in draw_cases(exercise, seed)]
    hidden = [
        (case.sizes["rows"], case.sizes["cols"])
        for case in draw_cases(exercise, seed)
        if case.hidden
    ]
    assert (1, 1) in sizes
    assert any(rows == 1 and cols > 1 for rows, cols in hidden)
    assert any(cols == 1 and rows > 1 for rows, cols in hidden)
    assert any(rows % 32 and cols % 32 and rows > 32 and cols > 32 for rows, cols in hidden)
    assert any(rows % 4 == 0 and cols % 4 == 0 and rows % 32 and cols % 32 for rows, cols in hidden)
    assert any(rows < cols for rows, cols in hidden)
    assert any(rows > cols for rows, cols in hidden)
    assert 400_000 < max(rows * cols for rows, cols in hidden) <= 1_000_000


def test_its_oracle_transposes(exercise: Exercise) -> None:
    oracle = load_oracle(exercise)
    for case in draw_cases(exercise, 11):
        inputs = make_inputs(exercise, case, 11)
        assert np.array_equal(oracle(inputs, case.sizes)["out"], np.transpose(inputs["in"]))


def test_the_starter_s_launch_line_is_the_default_plan(exercise: Exercise) -> None:
    submission = read_submission(exercise.baseline_source)
    plan = read_plan(submission)  # type: ignore[arg-type]
    assert [launch.text for launch in plan.launches] == [
        launch.text for launch in exercise.default_plan.launches
    ]  # type: ignore[union-attr]


def test_the_reference_is_there_and_says_how_it_is_launched(exercise: Exercise) -> None:
    assert exercise.reference_source is not None
    plan = read_plan(read_submission(exercise.reference_source))  # type: ignore[arg-type]
    assert [launch.kernel.name for launch in plan.launches] == ["transpose"]  # type: ignore[union-attr]


# --- banks: the claims of the handout and of the reference, by the rule itself --------------------


def wavefronts(word_addresses: Iterable[int]) -> int:
    """The most distinct words in one of 32 banks."""
    words = set(word_addresses)
    return max(sum(word % 32 == bank for word in words) for bank in range(32))


def quad_wavefronts(quad_addresses: Iterable[int]) -> int:
    """The same for 16-byte accesses, which go by quarter-warps: addresses are float4 numbers, 32 of
    them."""
    quads = list(quad_addresses)
    quarters = [quads[start : start + 8] for start in range(0, 32, 8)]
    return sum(
        wavefronts(4 * quad + word for quad in quarter for word in range(4)) for quarter in quarters
    )


PADDINGS = re.findall(
    r"^\| `tile\[32\]\[(\d+)\]` \| \d+ \| (\d+-way|no conflict) \|", HANDOUT, flags=re.MULTILINE
)


def test_the_handout_has_a_table_of_paddings() -> None:
    assert [int(length) for length, _ in PADDINGS] == [32, 33, 34, 36, 40]


@pytest.mark.parametrize(("length", "claim"), PADDINGS)
def test_the_handout_is_right_about_padding(length: str, claim: str) -> None:
    ways = wavefronts(int(length) * x + 5 for x in LANES)
    assert claim == ("no conflict" if ways == 1 else f"{ways}-way")


def test_the_handout_is_right_about_blocks_of_16_by_16() -> None:
    along_rows = wavefronts(17 * (lane // 16) + lane % 16 for lane in LANES)
    down_columns = wavefronts(17 * (lane % 16) + lane // 16 for lane in LANES)
    assert (along_rows, down_columns) == (2, 2)


@pytest.mark.parametrize(("quads_in_row", "length", "ways"), [(8, 33, 1), (16, 65, 2)])
def test_the_handout_is_right_about_float4_taken_apart(
    quads_in_row: int, length: int, ways: int
) -> None:
    places = [(lane // quads_in_row, 4 * (lane % quads_in_row)) for lane in LANES]
    for element in range(4):
        assert wavefronts(length * line + column + element for line, column in places) == ways
        assert wavefronts(length * (column + element) + line for line, column in places) == ways


def test_the_handout_is_right_about_swizzles() -> None:
    for fixed in LANES:
        assert wavefronts(32 * fixed + (x ^ fixed) for x in LANES) == 1
        assert wavefronts(32 * y + (fixed ^ y) for y in LANES) == 1


def test_the_reference_s_swizzle_has_no_excess() -> None:
    for warp in range(8):
        threads = range(32 * warp, 32 * warp + 32)
        for i in range(4):
            stores = [(4 * (t % 16) + i) * 16 + (t // 16 ^ t % 16 % 8) for t in threads]
            loads = [(4 * (t // 16) + i) * 16 + (t % 16 ^ t // 16 % 8) for t in threads]
            assert (quad_wavefronts(stores), quad_wavefronts(loads)) == (4, 4)
