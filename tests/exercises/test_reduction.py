"""The sum of a vector as it is handed out: its cases, and the ladder that its handout tells of."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from grader.spec.draws import draw_cases, make_inputs
from grader.spec.exercise import Case, Initialisation, Tolerance
from grader.spec.oracle import load_oracle
from grader.spec.reader import read_exercise
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission

ROOT = Path(__file__).parents[2]
EXERCISE = read_exercise(ROOT / "exercises" / "reduction")
THREADS, WARP = 256, 32
EXACT = 1 << 24
"""Up to here floats hold every integer: partial sums of small integers are exact in any order."""


def test_its_points_add_up() -> None:
    assert EXERCISE.max_score == 100


@pytest.mark.parametrize("seed", range(5))
def test_its_cases_cover_what_goes_wrong(seed: int) -> None:
    sizes = [case.sizes["n"] for case in draw_cases(EXERCISE, seed)]
    assert 1 in sizes
    assert any(1 < n < WARP for n in sizes)
    assert any(n % THREADS == 1 and n > THREADS for n in sizes)
    assert any(n % 4 for n in sizes if n > 10 * THREADS)
    assert any(n % 4 == 0 and n % 8 for n in sizes)
    assert any(n > THREADS * THREADS for n in sizes), "more blocks than a block has threads"


def test_sums_of_small_integers_must_be_right_to_the_last_digit() -> None:
    assert isinstance(EXERCISE.tolerance, Tolerance)
    for case in draw_cases(EXERCISE, 3):
        if case.init is Initialisation.NORMAL:
            continue
        values = make_inputs(EXERCISE, case, 3)["in"].astype(np.float64)
        assert np.abs(np.cumsum(values)).max() < EXACT
        total = abs(values.sum())
        assert EXERCISE.tolerance.absolute + EXERCISE.tolerance.relative * total < 0.5


def test_any_order_of_real_numbers_is_near_enough_and_halves_are_not() -> None:
    assert isinstance(EXERCISE.tolerance, Tolerance)
    missed = 0
    for seed in range(20):
        values = make_inputs(
            EXERCISE, Case("drawn", {"n": 39_989}, False, Initialisation.NORMAL), seed
        )["in"]
        exact = values.sum(dtype=np.float64)
        margin = EXERCISE.tolerance.absolute + EXERCISE.tolerance.relative * abs(exact)
        assert abs(np.cumsum(values, dtype=np.float32)[-1] - exact) <= margin
        missed += abs(values.astype(np.float16).sum(dtype=np.float64) - exact) > margin
    assert missed >= 12


def test_its_oracle_adds() -> None:
    inputs = {"in": np.array([0.5, 2.0, -7.25], dtype=np.float32)}
    assert load_oracle(EXERCISE)(inputs, {"n": 3})["out"].tolist() == [-4.75]


def test_the_starter_s_launch_lines_are_the_default_plan() -> None:
    plan = read_plan(read_submission(EXERCISE.baseline_source))  # type: ignore[arg-type]
    assert [launch.text for launch in plan.launches] == [  # type: ignore[union-attr]
        launch.text for launch in EXERCISE.default_plan.launches
    ]


def test_the_handout_s_ladder_climbs() -> None:
    """From rung to rung it is quicker, but for the two of which the text says that they are not."""
    text = (EXERCISE.folder / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| \d \|.*$", text.split("## The ladder", 1)[1], re.MULTILINE)
    rows = [line.strip("|").split("|") for line in lines]
    times = [float(row[5]) for row in rows]
    slower = [
        number for number, (one, other) in enumerate(itertools.pairwise(times), 2) if other > one
    ]
    assert (len(times), slower) == (8, [2, 5])
