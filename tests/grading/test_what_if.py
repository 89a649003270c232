"""Fixes of a graded submission, tried as submissions of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.grading.grade import grade_with
from grader.grading.what_if import Trial, is_worth_it, lost_checks, try_fixes
from grader.records import (
    CheckStatus,
    FixKind,
    Options,
    Progress,
    Score,
    Status,
    Submission,
    WhatIf,
    WhatIfMode,
    show_nothing,
)
from grader.report.json import format_score, parse_score
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission
from tests.support.factories import make_graded

ROOT = Path(__file__).resolve().parents[2]
SEED = 7
WRONG_WAY = ROOT / "tests" / "submissions" / "gemm_coalesced" / "failed--remapped_the_wrong_way.cu"
"""One fix fits it: `/` and `%` exchanged."""


def grade(file: Path, cache: Path, *, model: bool = False) -> Score:
    options = Options("emulated", SEED, cache=cache, model=model)
    return grade_with(options, ROOT / "exercises" / file.parent.name, file)


def fix(
    file: Path,
    score: Score,
    cache: Path,
    mode: WhatIfMode = WhatIfMode.FULL,
    *,
    model: bool = False,
    seconds: float = 300.0,
    shown: list[Progress] | None = None,
) -> WhatIf | None:
    exercise = replace(read_exercise(ROOT / "exercises" / file.parent.name), what_if=mode)
    text = read_submission(file)
    assert isinstance(text, Submission)
    trial = Trial(
        Options(cache=cache, model=model, show=show_nothing if shown is None else shown.append),
        seconds=seconds,
    )
    return try_fixes(exercise, text, score, trial)


def test_the_fix_of_a_cause_is_found_and_its_effect_counted(cache: Path) -> None:
    score = grade(WRONG_WAY, cache)
    shown: list[Progress] = []
    found = fix(WRONG_WAY, score, cache, WhatIfMode.NUMBERS, shown=shown)
    assert found is not None
    (best,) = found.fixes
    assert (best.kind, best.name) == (FixKind.DIVISION_AXES, "gemm")
    before = {effect.metric: effect.value for effect in found.effects}
    after = {effect.metric: effect.value for effect in best.effects}
    assert before["global_store_efficiency"] == 0.125
    assert after["global_store_efficiency"] == 1.0
    assert best.gain == 45  # of coalesced reads and writes; no times were asked for
    assert best.code == ()  # the exercise shows numbers only
    assert shown[-1] == Progress("trying fixes", 2, 2)
    assert parse_score(format_score(replace(score, what_if=found))).what_if == found
    assert fix(WRONG_WAY, score, cache, WhatIfMode.OFF) is None
    late = fix(WRONG_WAY, score, cache, seconds=0.0)
    assert late is not None
    assert (late.fixes, late.untried) == ((), 1)


def test_fixes_are_for_right_submissions_that_lost_points_by_figures() -> None:
    score = make_graded()
    correct, conflicts, *others = score.checks
    missed = replace(conflicts, status=CheckStatus.FAILED, value=32.0)
    assert lost_checks(score) == ()
    lost = replace(score, status=Status.FAILED, checks=(correct, missed, *others))
    assert lost_checks(lost) == (missed,)
    wrong = replace(correct, status=CheckStatus.FAILED, value=0.5)
    assert lost_checks(replace(lost, checks=(wrong, *others))) == ()


def test_a_fix_that_costs_more_points_than_it_gives_is_not_worth_it() -> None:
    score = make_graded()
    correct, conflicts, stores, *others = score.checks
    missed = replace(conflicts, status=CheckStatus.FAILED, value=32.0, points=0.0)
    before = replace(score, checks=(correct, missed, stores, *others))
    fewer = replace(missed, value=16.0)
    costly = replace(stores, status=CheckStatus.FAILED, value=0.125, points=0.0)
    assert is_worth_it(replace(score, checks=(correct, fewer, stores)), before, (missed,))
    assert not is_worth_it(replace(score, checks=(correct, fewer, costly)), before, (missed,))
    assert not is_worth_it(before, before, (missed,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "kind", "now"),
    [
        ("transpose/failed--conflicting_tile", FixKind.ROW_LENGTH, (33,)),
        ("gemm_tiled/failed--tile_read_by_column", FixKind.ARRAY_AXES, ()),
        ("gemm_tiled/failed--uncoalesced_tile_loads", FixKind.AXES, (32, 32)),
        ("gemm_coalesced/failed--rows_of_sixteen", FixKind.BLOCK_SHAPE, None),
        ("reduction/failed--grid_stride_one_float_at_a_time", FixKind.VECTORS, ()),
        ("gemm_register_blocked/failed--transposed_tile_unpadded", FixKind.ROW_LENGTH, (132,)),
    ],
)
def test_the_fix_that_a_teacher_would_name_comes_first(
    file: str, kind: FixKind, now: tuple[int, ...] | None, cache: Path
) -> None:
    path = ROOT / "tests" / "submissions" / f"{file}.cu"
    found = fix(path, grade(path, cache, model=True), cache, model=True)
    assert found is not None
    best = found.fixes[0]
    assert best.kind is kind
    assert now is None or best.now == now
    assert best.gain > 0
    assert best.code
    assert all(change.before != change.after for change in best.code)
