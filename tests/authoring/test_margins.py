"""The goals that `grade check` proposes lie between the starter's and the reference's values."""

from __future__ import annotations

import pytest

from grader.authoring.margins import propose_goal
from grader.records import CheckResult, CheckStatus, Source


def check(metric: str, value: float | None, relative: float | None = None) -> CheckResult:
    return CheckResult(
        metric,
        metric,
        CheckStatus.PASSED,
        1.0,
        1.0,
        metric,
        value,
        ">= 0.8",
        "",
        Source.COUNTED,
        "",
        relative_value=relative,
    )


@pytest.mark.parametrize(
    ("metric", "reference", "starter", "timed", "proposed"),
    [
        (
            "bandwidth_fraction",
            0.851,
            0.4567,
            True,
            '"at_least": 0.808, "zero_at": 0.457 leaves 5 % margin',
        ),
        ("time_ms", 2.0, 8.0, True, '"at_most": 2.1, "zero_at": 8 leaves 5 % margin'),
        (
            "shared_bank_conflicts",
            0,
            65_011_712,
            False,
            '"at_most": 0, "zero_at": 65000000 is the value of the reference',
        ),
        (
            "speedup_over_naive",
            1.02,
            1.0,
            True,
            "",
        ),
        ("speedup_over_naive", 1.5, None, True, ""),
    ],
)
def test_a_goal_is_proposed_in_the_fields_of_the_spec(
    metric: str, reference: float, starter: float | None, timed: bool, proposed: str
) -> None:
    assert propose_goal(check(metric, reference), check(metric, starter), timed=timed) == proposed


def test_a_multiple_is_proposed_where_the_goal_is_one() -> None:
    found = propose_goal(
        check("global_load_sectors", 300.0, 1000.0),
        check("global_load_sectors", 900.0, 1000.0),
        timed=False,
    )
    assert found == '"at_most": 0.3, "zero_at": 0.9 is the value of the reference'
