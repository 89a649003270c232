"""What is told of a grading before it ends: the checks as they stand, and no other result than
without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.grading.grade import grade_with
from grader.records import CheckResult, CheckStatus, Options
from grader.report.json import format_score

ROOT = Path(__file__).resolve().parents[2]
SEED = 7


def test_the_first_verdicts_come_before_the_end(cache: Path) -> None:
    shown: list[dict[str, CheckResult]] = []

    def show(checks: Sequence[CheckResult]) -> None:
        shown.append({check.name: check for check in checks})

    def options(*, interim: bool) -> Options:
        how = show if interim else None
        return Options("emulated", SEED, cache=cache, model=False, interim=how)

    files = ROOT / "exercises" / "transpose", ROOT / "starter" / "transpose.cu"
    score = grade_with(options(interim=True), *files)
    after_cases, after_counting = shown
    assert after_cases["correctness"].status is CheckStatus.PASSED
    assert after_cases["shared_bank_conflicts"].status is CheckStatus.NOT_MEASURED
    final = {check.name: check for check in score.checks}
    for name in ("correctness", "shared_bank_conflicts", "global_load_efficiency"):
        assert after_counting[name].status is final[name].status
        assert after_counting[name].value == final[name].value
    assert format_score(grade_with(options(interim=False), *files)) == format_score(score)


def test_a_wrong_submission_is_told_to_be_wrong(cache: Path) -> None:
    shown: list[Sequence[CheckResult]] = []
    options = Options("emulated", SEED, cache=cache, model=False, interim=shown.append)
    file = ROOT / "tests" / "submissions" / "transpose" / "failed--copies_the_input.cu"
    grade_with(options, ROOT / "exercises" / "transpose", file)
    ((first, *_),) = shown
    assert first.status is CheckStatus.FAILED
