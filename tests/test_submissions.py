"""Submissions as students hand them in: every file of submissions/<exercise>/ says its verdict.

The verdict of an H100 is in its name; what differs elsewhere is in its first lines (support/known).
A passed file with `bonus` in its name earns the bonus too. The emulated device grades a sixteenth
of them everywhere and all with --run-slow; --run-gpu grades them on a GPU.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.judging.checks import earned_fraction
from grader.metrics import TIMED
from grader.records import CheckResult, CheckStatus, Score, Status
from grader.spec.exercise import Exercise
from grader.spec.reader import read_exercise
from tests.support.known import (
    HARDLY_KNOWN,
    KNOWN,
    ONLY_A_GPU_COUNTS,
    ROOT,
    TOO_CLOSE_TO_CALL,
    Known,
    digest,
    read_known,
)

SEED = 11
GPU_VERDICTS: dict[str, dict[str, dict[str, Any]]] = {
    gpu: json.loads((ROOT / f"tests/data/verdicts_{gpu}.json").read_text(encoding="utf-8"))
    for gpu in ("h200", "h100")
}
"""The verdicts of the files that each GPU has graded (benchmarks/verdicts.py)."""
MODEL_ERROR = 0.15
"""Modelled times may be off by so much before the rule is broken; benchmarks/model.py publishes the
errors."""
INPUTS_DIFFER = 0.015
"""A GPU counts with other inputs than the emulated device, and a count that depends on them, as the
instructions of a softmax do that rescales at each new maximum, moves the last digit of a score."""
SAID_OF_DOUBT = {
    TOO_CLOSE_TO_CALL: "too close to call on a model",
    HARDLY_KNOWN: "the model does not know this kind of kernel well",
}
GAVE_TOO_MUCH_ONCE = (
    "gemm_coalesced/failed--spins_and_writes_nothing_when_timed",
    "gemm_tiled/failed--every_second_block_when_timed",
)
"""Files for which an emulated device gave points that a GPU does not give."""


def name_of(known: Known) -> str:
    return known.name


def grade(known: Known, device: str, cache: Path, *, model: bool = True) -> Score:
    exercise = ROOT / "exercises" / known.file.parent.name
    return grader.grade(exercise, known.file, device=device, seed=SEED, cache=cache, model=model)


def a_sixteenth_unless_slow() -> list[object]:
    """All files; fifteen of sixteen are marked slow, for all take ten minutes of a processor."""
    return [
        pytest.param(known, marks=[pytest.mark.slow] if index % 16 else [])
        for index, known in enumerate(KNOWN)
    ]


@pytest.mark.parametrize("known", a_sixteenth_unless_slow(), ids=name_of)
def test_the_verdict_on_the_emulated_device(known: Known, cache: Path) -> None:
    score = grade(known, "emulated:h100", cache, model=False)
    if known.without_model is not None:
        assert CheckStatus.EXCLUDED in {check.status for check in graded(score)}
        uncounted = known.without_model.what == ONLY_A_GPU_COUNTS
        check_verdict(score, Status.INCONCLUSIVE if uncounted else Status.PASSED, known)
        return
    check_verdict(score, known.status_emulated, known)
    if known.status_emulated is Status.UNSUPPORTED:
        assert known.emulated is not None
        assert known.emulated.why in score.message
    if known.points is not None:
        assert score.score == known.points


@pytest.mark.slow
@pytest.mark.parametrize("known", [each for each in KNOWN if each.runs_right], ids=name_of)
def test_the_verdict_with_modelled_times(known: Known, cache: Path) -> None:
    score = grade(known, "emulated:h100", cache)
    if known.with_model is None:
        check_verdict(score, known.status, known)
        return
    words = SAID_OF_DOUBT.get(known.with_model.what)
    assert any(words is None or words in check.message for check in graded(score)), describe(score)
    hardly = known.with_model.what == HARDLY_KNOWN
    check_verdict(score, Status.INCONCLUSIVE if hardly else Status.PASSED, known)


def slow_but_two() -> list[object]:
    """All files, slow but for those that gave too much once."""
    return [
        pytest.param(known, marks=[] if known.name in GAVE_TOO_MUCH_ONCE else [pytest.mark.slow])
        for known in KNOWN
    ]


@pytest.mark.parametrize("known", slow_but_two(), ids=name_of)
def test_no_more_points_than_a_gpu_gives(known: Known, cache: Path) -> None:
    gpu, verdict = find_verdict(known)
    score = grade(known, f"emulated:{gpu}", cache)
    exercise = read_exercise(ROOT / "exercises" / known.file.parent.name)
    doubt = points_within_the_model_s_error(exercise, verdict, score)
    assert score.score <= verdict["score"] + doubt + INPUTS_DIFFER, (
        f"{verdict['score']} and {doubt:.2f} on an {gpu.upper()}\n{describe(score)}"
    )


def find_verdict(known: Known) -> tuple[str, dict[str, Any]]:
    """A GPU and its verdict of a file. Skips a file that no GPU has graded."""
    for gpu, verdicts in GPU_VERDICTS.items():
        if known.name in verdicts:
            return gpu, verdicts[known.name]
    pytest.skip("no GPU has graded it yet: benchmarks/verdicts.py")


def points_within_the_model_s_error(
    exercise: Exercise, verdict: dict[str, Any], score: Score
) -> float:
    """What the checks of times would give more if the GPU had been quicker by MODEL_ERROR."""
    more = 0.0
    for check in exercise.checks:
        if check.metric not in TIMED:
            continue
        points, value = verdict["checks"][check.name]
        if value is not None:
            quicker = value * (1 + MODEL_ERROR)
            earned = check.points * earned_fraction(quicker, check.threshold_on(score.device))
            more += max(0.0, earned - points)
    return more


@pytest.mark.parametrize("known", KNOWN, ids=name_of)
def test_a_gpu_graded_this_very_file(known: Known) -> None:
    _, verdict = find_verdict(known)
    assert verdict["sha256"] == digest(known.file)


@pytest.mark.parametrize("name", GPU_VERDICTS["h100"])
def test_an_h100_s_verdict_is_in_the_name(name: str) -> None:
    status = name.split("/")[1].split("--")[0]
    assert GPU_VERDICTS["h100"][name]["status"] == status


@pytest.mark.gpu
@pytest.mark.parametrize("known", KNOWN, ids=name_of)
def test_the_verdict_on_a_gpu(known: Known, cache: Path) -> None:
    score = grade(known, "gpu", cache)
    if score.device is not None and score.device.id != "h100":
        pytest.skip(f"the names are verdicts on an H100, this GPU is {score.device.name}")
    check_verdict(score, known.status, known)


@pytest.mark.parametrize("known", KNOWN, ids=name_of)
def test_the_first_line_says_what_it_is(known: Known) -> None:
    first, _ = known.file.read_text(encoding="utf-8").split("\n", 1)
    assert re.match(r"// (?!expect ).*\w{3}", first), "the first line must say what the file is"
    assert not first.startswith(("// launch:", "// scratch:"))


@pytest.mark.parametrize(
    "line",
    [
        "// expect without a modell: passed, only a clock tells",
        "// expect points: many",
        "// expect on an emulated device: runtime_eror",
        "// expect bonus failed",
    ],
)
def test_an_expectation_that_says_nothing_is_an_error(line: str, tmp_path: Path) -> None:
    file = tmp_path / "failed--some_reason.cu"
    file.write_text(f"// What it is.\n{line}\n")
    with pytest.raises(ValueError, match="expect"):
        read_known(file)


def test_every_refused_bonus_has_a_reason() -> None:
    refused = {known.name for known in KNOWN if "bonus_refused" in known.reason}
    assert refused == {known.name for known in KNOWN if known.bonus is not None and known.bonus.why}


def check_verdict(score: Score, expected: Status, known: Known) -> None:
    """`expected`, and points and words that go with it."""
    assert score.status == expected, describe(score)
    assert score.device is not None
    assert score.judged_points == score.max_score - score.pending_points
    if score.status not in (Status.PASSED, Status.INCONCLUSIVE):
        assert score.message
        assert score.score < score.judged_points or not score.status.has_points
        return
    other = CheckStatus.EXCLUDED if score.status is Status.PASSED else CheckStatus.NOT_MEASURED
    found = {check.status for check in graded(score)} - {CheckStatus.EXCLUDED}
    assert found <= {CheckStatus.PASSED, other}, describe(score)
    assert bool(score.pending_points) is (score.status is Status.INCONCLUSIVE)
    assert sum(check.points for check in graded(score)) == score.judged_points > 0
    for bonus in (check for check in score.checks if check.bonus):
        assert bonus.status is bonus_of(known), describe(score)
        assert known.bonus is None or known.bonus.why in bonus.message


def graded(score: Score) -> list[CheckResult]:
    return [check for check in score.checks if not check.bonus]


def bonus_of(known: Known) -> CheckStatus:
    if known.bonus is not None:
        return CheckStatus(known.bonus.what)
    return CheckStatus.PASSED if "bonus" in known.reason else CheckStatus.SKIPPED


def describe(score: Score) -> str:
    """What a person needs to see when the verdict is another one."""
    checks = [f"{check.name}: {check.status} ({check.message})" for check in score.checks]
    wrong = [f"case {case.name}: {case.message}" for case in score.cases if not case.passed]
    return "\n".join([f"{score.status}: {score.message}", score.detail, *checks, *wrong])
