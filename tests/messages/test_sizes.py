"""Which sizes a kernel exchanges, by the cases that it is right and wrong for."""

from __future__ import annotations

import pytest

from grader.judging.evidence import Checked, Evidence
from grader.judging.score import make_score
from grader.messages.output_advice import explain_failed_case
from grader.messages.sizes import explain_shapes
from grader.records import Failure, Finding, FindingKind, Status
from tests.support.factories import make_case, make_case_spec, make_subject

SQUARE, ONE, WIDE, TALL, RAGGED = (
    {"rows": rows, "cols": cols}
    for rows, cols in ((64, 64), (1, 1), (64, 192), (192, 64), (100, 75))
)


def test_a_kernel_for_squares_only_is_told_which_sizes_it_exchanges() -> None:
    words = explain_shapes([SQUARE, ONE], [WIDE, TALL, RAGGED])
    assert (
        words
        == "It is right where rows = cols, and goes wrong where they differ: are rows and cols"
        " exchanged somewhere?"
    )


def test_of_three_sizes_only_those_that_the_cases_tell_apart_are_named() -> None:
    cube, flat = {"M": 64, "N": 64, "K": 64}, {"M": 64, "N": 64, "K": 192}
    wrong = {"M": 64, "N": 160, "K": 96}
    assert "where M, N and K are equal" in explain_shapes([cube], [wrong])
    assert explain_shapes([cube, flat], [wrong]).endswith("are M and N exchanged somewhere?")


def test_a_grid_in_tiles_hides_small_differences() -> None:
    assert "exchanged" in explain_shapes([SQUARE, {"rows": 40, "cols": 56}], [WIDE])


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ([SQUARE, WIDE, TALL], [RAGGED]),
        ([ONE], [SQUARE, WIDE]),
        ([SQUARE], [WIDE, ONE]),
        ([SQUARE], []),
        ([], [WIDE]),
        ([ONE], [WIDE]),
    ],
    ids=str,
)
def test_other_mistakes_are_none_of_the_shape(
    right: list[dict[str, int]], wrong: list[dict[str, int]]
) -> None:
    assert explain_shapes(right, wrong) == ""


def test_an_access_out_of_bounds_in_the_first_case_that_is_no_square_is_told_so() -> None:
    failure = Failure(
        Status.RUNTIME_ERROR, "out", findings=(Finding(FindingKind.OUT_OF_BOUNDS, "out"),)
    )
    before = [make_case()]
    before[0].sizes.update(SQUARE)
    advice = explain_failed_case(failure, make_case_spec(64, 192), before).advice
    assert advice.startswith("It is right where rows = cols")
    assert "Guard the access" in advice
    assert explain_failed_case(failure, make_case_spec(64, 192, hidden=True), before) == failure
    assert explain_failed_case(failure, make_case_spec(64, 64), before) == failure


def test_a_wrong_case_with_a_race_is_told_as_the_race() -> None:
    race = Finding(
        FindingKind.RACE, "race on tile[1][0]: line 14 and line 10", line=14, other_line=10
    )
    evidence = Evidence(
        cases=(make_case("ragged", passed=False), make_case("tall", passed=False)),
        checked=Checked(0.5, (race,), races={"ragged": race}),
    )
    score = make_score(make_subject(), evidence)
    assert (
        score.cases[0].message
        == "race on tile[1][0]: line 14 and line 10; so 612 of 37,481 elements of `out` are wrong"
    )
    assert score.cases[1].message == "612 of 37,481 elements of `out` are wrong"
    assert score.checks[0].hint.startswith(
        "case ragged: race on tile[1][0]: line 14 and line 10; so 612"
    )
