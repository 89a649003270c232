"""Each goal of a modelled time lies apart from the values of the reference and the starter: a new
table of the timing model must not move a reference across its goal."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.authoring.check import Scope, check_exercise
from grader.records import Options
from grader.report.soundness import Proof
from tests.support.exercises import OF_KERNELS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_KERNELS)
def test_the_reference_reaches_each_goal_with_a_margin(
    name: str, tmp_path: Path, cache: Path
) -> None:
    options = Options("emulated:h100", 1, cache=cache)
    found = check_exercise(
        ROOT / "exercises" / name, Scope(options, 1, tmp_path, try_mutants=False)
    )
    assert [margin for margin in found.margins if margin.proof is Proof.FAILS] == []
    failed = [claim.subject for claim in found.claims if claim.proof is Proof.FAILS]
    assert failed == []
