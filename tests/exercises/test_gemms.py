"""The GEMM exercises as they are handed out: their specs, their cases, and what is the same in all
of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.spec.draws import draw_cases, make_inputs
from grader.spec.exercise import Case, Exercise, Initialisation
from grader.spec.oracle import load_oracle
from grader.spec.reader import read_exercise
from grader.spec.tolerance import tolerance_at
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission

ROOT = Path(__file__).parents[2]
GEMMS = ("gemm_coalesced", "gemm_tiled", "gemm_register_blocked", "gemm_tensor_cores")
YARDSTICK = {
    "gemm_coalesced": "gemm_naive",
    "gemm_tiled": "gemm_coalesced",
    "gemm_register_blocked": "gemm_coalesced",
    "gemm_tensor_cores": "gemm_naive",
}
TILE = 32
SIZES = ("M", "N", "K")
MOST_PRODUCTS_OF_A_CASE = 200**3 * 4


@pytest.fixture(scope="module", params=GEMMS)
def exercise(request: pytest.FixtureRequest) -> Exercise:
    return read_exercise(ROOT / "exercises" / request.param)


def test_its_points_add_up(exercise: Exercise) -> None:
    assert exercise.max_score == 100


def test_everything_but_correctness_requires_it(exercise: Exercise) -> None:
    assert [check.name for check in exercise.checks if "correctness" not in check.requires] == [
        "correctness"
    ]


def test_a_kernel_without_shared_memory_gets_no_points_for_bank_conflicts(
    exercise: Exercise,
) -> None:
    conflicts = [check for check in exercise.checks if check.metric == "shared_bank_conflicts"]
    assert all("global_load_sectors" in check.requires for check in conflicts)
    assert bool(conflicts) == (exercise.id != "gemm_coalesced")


@pytest.mark.parametrize("seed", range(5))
def test_its_cases_cover_what_goes_wrong(exercise: Exercise, seed: int) -> None:
    cases = draw_cases(exercise, seed)
    hidden = [tuple(case.sizes[size] for size in SIZES) for case in cases if case.hidden]
    assert any(case.sizes == {"M": 1, "N": 1, "K": 1} for case in cases)
    assert any(k == 1 and m > 1 and n > 1 for m, n, k in hidden)
    assert any(m == 1 and n > 1 for m, n, _ in hidden)
    assert any(n == 1 and m > 1 for m, n, _ in hidden)
    assert any(m < TILE and n < TILE and k < TILE for m, n, k in hidden)
    assert any(all(size > TILE and size % TILE for size in sizes) for sizes in hidden)
    assert any(all(size % 4 == 0 and size % TILE for size in sizes) for sizes in hidden)
    assert any(len(set(sizes)) == 3 and all(size % TILE == 0 for size in sizes) for sizes in hidden)
    assert any(m < n for m, n, _ in hidden)
    assert any(m > n for m, n, _ in hidden)
    assert any(k >= 900 for _, _, k in hidden)
    assert max(m * n * k for m, n, k in hidden) <= MOST_PRODUCTS_OF_A_CASE


@pytest.mark.parametrize("seed", range(5))
def test_the_sizes_of_most_hidden_cases_are_all_different(exercise: Exercise, seed: int) -> None:
    larger = [
        case for case in draw_cases(exercise, seed) if case.hidden and min(case.sizes.values()) > 1
    ]
    alike = [case.name for case in larger if len(set(case.sizes.values())) < 3]
    assert len(alike) <= 1, alike


def test_some_cases_are_compared_exactly(exercise: Exercise) -> None:
    exact = [case for case in draw_cases(exercise, 3) if case.init is Initialisation.SMALL_INTEGERS]
    assert any(case.hidden for case in exact)
    assert any(not case.hidden for case in exact)


def test_its_oracle_multiplies(exercise: Exercise) -> None:
    case = Case("small", {"M": 5, "N": 3, "K": 4}, hidden=False, init=Initialisation.SMALL_INTEGERS)
    inputs = make_inputs(exercise, case, 11)
    a, b = inputs["A"].tolist(), inputs["B"].tolist()
    products = [
        [sum(a[row][k] * b[k][col] for k in range(4)) for col in range(3)] for row in range(5)
    ]
    assert load_oracle(exercise)(inputs, case.sizes)["C"].tolist() == products


def test_its_oracle_tells_some_elements_as_it_tells_all(exercise: Exercise) -> None:
    case = Case("ragged", {"M": 150, "N": 300, "K": 20}, hidden=False)
    inputs, oracle = make_inputs(exercise, case, 11), load_oracle(exercise)
    places = np.random.default_rng(1).permutation(150 * 300)[:400].astype(np.uint32)
    assert oracle.block is not None
    some = oracle.at(inputs, case.sizes, {"C": places})["C"]
    np.testing.assert_allclose(some, oracle(inputs, case.sizes)["C"].ravel()[places], rtol=1e-6)


def test_its_benchmark_sizes_have_no_tails_in_the_tiles_of_the_references(
    exercise: Exercise,
) -> None:
    for sizes in exercise.benchmark.values():
        assert all(size % 128 == 0 for size in sizes.values())


def test_the_starter_s_launch_line_is_the_default_plan(exercise: Exercise) -> None:
    plan = read_plan(read_submission(exercise.baseline_source))  # type: ignore[arg-type]
    assert [launch.text for launch in plan.launches] == [
        launch.text for launch in exercise.default_plan.launches
    ]  # type: ignore[union-attr]
    assert [launch.kernel.name for launch in plan.launches] == [exercise.id]  # type: ignore[union-attr]


def test_its_yardstick_is_a_kernel_of_the_starter(exercise: Exercise) -> None:
    assert [launch.kernel.name for launch in exercise.baseline_plan.launches] == [
        YARDSTICK[exercise.id]
    ]
    assert f"void {YARDSTICK[exercise.id]}(" in exercise.baseline_source.read_text(encoding="utf-8")


def test_the_reference_is_there_and_says_how_it_is_launched(exercise: Exercise) -> None:
    assert exercise.reference_source is not None
    plan = read_plan(read_submission(exercise.reference_source))  # type: ignore[arg-type]
    assert [launch.kernel.name for launch in plan.launches] == [exercise.id]  # type: ignore[union-attr]


def test_the_bonus_is_blas_s_sgemm_and_exact_for_small_integers() -> None:
    (part,) = read_exercise(ROOT / "exercises" / "gemm_coalesced").parts
    case = Case("small", {"M": 5, "N": 3, "K": 4}, hidden=False, init=Initialisation.SMALL_INTEGERS)
    inputs = make_inputs(part, case, 12)
    a, b, c, (alpha, beta) = (inputs[name].tolist() for name in ("A", "B", "C", "scale"))
    wanted = [
        [
            alpha * sum(a[row][k] * b[k][col] for k in range(4)) + beta * c[row][col]
            for col in range(3)
        ]
        for row in range(5)
    ]
    assert beta != 0
    assert (
        load_oracle(read_exercise(ROOT / "exercises" / "gemm_coalesced"), part)(inputs, case.sizes)[
            "C"
        ].tolist()
        == wanted
    )
    assert tolerance_at(part, case).exact
