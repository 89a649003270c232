"""Further exercises, written with files only: begun with `grade new`, and sound as `grade
check` has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import grade
from grader.authoring.check import Scope, check_exercise, default_submissions
from grader.records import Options
from grader.report.soundness import Fate, Proof

FOLDER = Path(__file__).parent / "exercises"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sum_reduction", "histogram", "half_size", "diffusion"])
def test_is_sound(name: str) -> None:
    scope = Scope(Options("emulated:h100", 5), 2, default_submissions(FOLDER / name))
    found = check_exercise(FOLDER / name, scope)
    failing = [claim for claim in found.claims if claim.proof is Proof.FAILS]
    assert found.sound, failing
    assert found.mutants
    assert {mutant.fate for mutant in found.mutants} <= {
        Fate.CAUGHT,
        Fate.ACCEPTED,
        Fate.IDENTICAL,
        Fate.NO_PROGRAM,
    }


def test_a_plan_with_a_loop_constants_and_drawn_scalars_is_graded() -> None:
    reference = FOLDER.parent / "solutions" / "diffusion.cu"
    score = grade(FOLDER / "diffusion", reference, device="emulated:h100", seed=5, model=False)
    assert score.score == 100, score.message
