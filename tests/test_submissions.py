"""Submissions as students hand them in: every file of submissions/<exercise>/ has its verdict on the emulated device in its name.

What only a clock could tell is not in the name; the first line of a file says what a GPU is expected to add.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import grader
from grader.records import CheckStatus, Score, Status

ROOT = Path(__file__).resolve().parents[1]
SUBMISSIONS = ROOT / "tests" / "submissions"
FILES = sorted(SUBMISSIONS.glob("*/*.cu"))
SEED = 11

UNSUPPORTED_SO_FAR = {
    "failed--half_precision_tile": "F2FP",
    "passed--asynchronous_copy": "LDGSTS",
    "passed--debug_printf_and_assert": "LEPC",
    "passed--divided_by_one": "FCHK",
    "passed--queue_of_tiles": "ATOMG",
    "passed--through_double": "I2F.F64",
    "runtime_error--null_scratch_pointer": "constant bank",
}
"""What the emulated device cannot run yet, and what it must say then; whoever teaches it an instruction takes its line out."""

NAME = re.compile(r"(?P<status>[a-z_]+)--(?P<reason>[a-z0-9_]+)")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_the_verdict_is_the_one_in_the_name(file: Path, cache: Path) -> None:
    score = grader.grade(ROOT / "exercises" / file.parent.name, file, device="emulated:h100", seed=SEED, cache=cache)
    if file.stem in UNSUPPORTED_SO_FAR:
        assert score.status is Status.UNSUPPORTED, describe(score)
        assert UNSUPPORTED_SO_FAR[file.stem] in score.message
        return
    assert score.status == expected_status(file), describe(score)
    assert score.device is not None
    if score.status is Status.PASSED:
        assert {check.status for check in score.checks} <= {CheckStatus.PASSED, CheckStatus.NOT_MEASURED}, describe(score)
        assert score.score == score.judged_points > 0
    else:
        assert score.message
        assert score.score < score.judged_points


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_the_first_line_says_what_it_is(file: Path) -> None:
    first, _ = file.read_text(encoding="utf-8").split("\n", 1)
    assert re.match(r"// .*\w{3}", first), "the first line must be a comment that says what the file is"
    assert not first.startswith(("// launch:", "// scratch:"))


def expected_status(file: Path) -> Status:
    match = NAME.fullmatch(file.stem)
    assert match is not None, f"{file.name} is not named <status>--<reason>.cu"
    return Status(match["status"])


def describe(score: Score) -> str:
    """What a person needs to see when the verdict is another one."""
    checks = [f"{check.name}: {check.status} ({check.message})" for check in score.checks]
    wrong = [f"case {case.name}: {case.message}" for case in score.cases if not case.passed]
    return "\n".join([f"{score.status}: {score.message}", score.detail, *checks, *wrong])
