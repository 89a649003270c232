"""Why points were lost: the same key for the same reason, in public and hidden cases alike."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from grader.judging.compare import judge_case
from grader.messages.cause_rows import CAUSES
from grader.messages.causes import name_cause
from grader.messages.hidden import describe_mistake
from grader.records import (
    CheckStatus,
    DeviceBuffer,
    Failure,
    Finding,
    FindingKind,
    Obstacle,
    PlanMistake,
    Role,
    Status,
)
from grader.spec.exercise import Tolerance
from tests.support.factories import (
    CONFLICTS,
    CORRECTNESS,
    CROOKED_LINES,
    QUICK,
    STORES,
    make_case,
    make_case_spec,
    make_exercise,
    make_failed,
    make_graded,
)

np = pytest.importorskip("numpy")


def test_every_cause_has_words_without_figures_and_a_plain_key() -> None:
    assert all(re.fullmatch(r"[a-z0-9_.]+", key) for key in CAUSES)
    assert all(row.text and row.meaning for row in CAUSES.values())
    texts = [text for row in CAUSES.values() for text in (row.text, row.meaning, row.fix)]
    assert not [text for text in texts if "{" in text]
    assert not [row.text for row in CAUSES.values() if len(row.text) > 90]


def test_checks_that_were_lost_to_the_same_cause_add_up() -> None:
    again = replace(CONFLICTS, name="once_more", points=10)
    exercise = make_exercise((CORRECTNESS, CONFLICTS, again, STORES))
    score = make_graded(lines=CROOKED_LINES, exercise=exercise)
    causes = [(cause.key, cause.points, cause.line) for cause in score.causes]
    assert causes == [("bank_conflicts", 35.0, 11), ("uncoalesced_stores", 25.0, 11)]
    assert score.why == "bank conflicts (line 11); stores not coalesced (line 11)"


def test_what_is_skipped_is_lost_to_the_cause_of_its_prerequisite() -> None:
    score = make_graded(cases=(replace(make_case(passed=False), cause="blocks_unswapped"),))
    assert CheckStatus.SKIPPED in {check.status for check in score.checks}
    (cause,) = score.causes
    assert (cause.key, cause.points) == ("blocks_unswapped", score.judged_points)
    assert score.why == "block indices not exchanged for the output?"


def test_full_marks_have_no_cause() -> None:
    assert (QUICK.status, QUICK.causes, QUICK.why) == (Status.PASSED, (), "")


def test_an_early_end_says_what_ended_it_and_a_public_case_comes_before_a_hidden_one() -> None:
    finding = Finding(FindingKind.OUT_OF_BOUNDS, "load from in[4096]", line=7)
    score = make_failed(Failure(Status.RUNTIME_ERROR, "a stray load.", findings=(finding,)))
    (cause,) = score.causes
    assert (cause.key, cause.line) == ("out_of_bounds", 7)
    assert score.why == "a stray load."
    hidden = replace(make_case("h", passed=False, hidden=True), cause="zeros")
    public = replace(make_case("p", passed=False), cause="edge")
    assert make_graded(cases=(hidden, public)).causes[0].key == "edge"


@pytest.mark.parametrize("hidden", [False, True])
def test_the_key_of_a_wrong_output_is_the_same_in_a_hidden_case(hidden: bool) -> None:
    """The sizes differ: a key with a figure of them could not be the same."""
    keys = set()
    for size in (64, 96):
        matrix = np.random.default_rng(5).standard_normal((size, size), dtype=np.float32)
        case = make_case_spec(size, size, hidden=hidden)
        buffer = DeviceBuffer("out", "float32", (size, size), Role.OUTPUT)
        got = {"out": matrix.T.copy()}
        keys.add(judge_case(case, [buffer], {"out": matrix}, got, Tolerance()).cause)
    assert keys == {"untransposed"}


@pytest.mark.parametrize("hidden", [False, True])
def test_a_launch_that_cannot_be_is_grouped_by_its_obstacle(hidden: bool) -> None:
    figures = {"block": "(64, 32)", "threads": "2048", "most": "1024"}
    mistake = PlanMistake(3, 1, "", "", "", Obstacle.TOO_MANY_THREADS, figures)
    told = describe_mistake(mistake, hidden=hidden)
    assert told.cause == "launch.too_many_threads"
    assert name_cause(told.cause) == "the block has more threads than can be launched"


def test_what_binds_a_launch_is_named() -> None:
    assert name_cause("bound.dram_bandwidth") == "slow: bound by dram bandwidth"
    assert name_cause("goal.occupancy") == "occupancy misses the goal"
