"""Verdicts on predictions, and their points."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.judging.evidence import Evidence, Subject
from grader.judging.predictions import judge_predictions, measure_predictions
from grader.judging.score import failed_score, make_score
from grader.records import Failure, MetricValue, Score, Source, Status, Verdict
from grader.records.predictions import PREDICTIONS
from grader.spec.exercise import CheckSpec, PredictionQuestion, Threshold
from grader.submission.predictions import read_predictions
from tests.support.factories import CHECKS, make_case, make_execution, make_exercise, make_subject

QUESTIONS = (
    PredictionQuestion("shared_bank_conflicts", "How many conflicts are left?"),
    PredictionQuestion("global_store_sectors", "How many sectors does it store?"),
)
ASKED = CheckSpec(PREDICTIONS, "Predictions", PREDICTIONS, 10, Threshold(at_least=1, zero_at=0))
VALUES = (
    MetricValue("shared_bank_conflicts", 0.0, "", Source.COUNTED),
    MetricValue("global_store_sectors", 400.0, "", Source.COUNTED),
    MetricValue("time_ms", 0.2, "ms", Source.MODELLED, interval=(0.18, 0.22)),
    MetricValue("l2_hit_rate", None, "", None, "ncu is not installed"),
)


def judge(*lines: str, questions: tuple[PredictionQuestion, ...] = ()) -> list[Verdict]:
    text = "".join(f"// predict: {line}\n" for line in lines)
    return [each.verdict for each in judge_predictions(read_predictions(text), questions, VALUES)]


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("shared_bank_conflicts = 0", Verdict.RIGHT),
        ("shared_bank_conflicts = 1", Verdict.WRONG),
        ("global_store_sectors = 400", Verdict.RIGHT),
        ("global_store_sectors = 401", Verdict.WRONG),
        ("global_store_sectors = 100 to 1000", Verdict.RIGHT),
        ("time_ms = 0.23", Verdict.WRONG),
        ("time_ms = 0.21", Verdict.RIGHT),  # the interval decides
        ("l2_hit_rate = 0.5", Verdict.UNKNOWN),
        ("nothing = 1", Verdict.UNREADABLE),
    ],
)
def test_a_prediction_is_compared_with_the_value(line: str, verdict: Verdict) -> None:
    assert judge(line) == [verdict]


def test_the_last_prediction_for_a_metric_counts() -> None:
    lines = [f"shared_bank_conflicts = {number}" for number in (5, 0)]
    assert judge(*lines) == [Verdict.RIGHT]
    assert judge(*reversed(lines)) == [Verdict.WRONG]


def test_a_wide_range_answers_no_question() -> None:
    wide = "global_store_sectors = 0 to 1000000"
    assert judge(wide, questions=QUESTIONS) == [Verdict.MISSING, Verdict.TOO_WIDE]
    assert judge(wide) == [Verdict.RIGHT]


def test_questions_without_an_answer_are_not_right() -> None:
    judged = judge_predictions((), QUESTIONS, VALUES)
    assert [each.verdict for each in judged] == [Verdict.MISSING] * 2
    assert measure_predictions(judged).value == 0


def make_graded(subject: Subject) -> Score:
    return make_score(subject, Evidence(cases=(make_case(),), execution=make_execution()))


def grade(text: str) -> Score:
    exercise = replace(make_exercise(), questions=QUESTIONS, checks=(*CHECKS, ASKED))
    subject = replace(make_subject(exercise), predictions=read_predictions(text))
    return make_graded(subject)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("", 0),
        ("// predict: shared_bank_conflicts = 0\n", 5),
        ("// predict: shared_bank_conflicts = 0\n// predict: global_store_sectors = 400\n", 10),
        ("// predict: shared_bank_conflicts = 0\n// predict: time_ms = 1\n", 5),
    ],
)
def test_right_answers_earn_their_points(text: str, points: float) -> None:
    score = grade(text)
    check = next(check for check in score.checks if check.metric == PREDICTIONS)
    assert check.points == points


def test_scores_without_questions_lack_the_metric() -> None:
    subject = make_subject()
    assert PREDICTIONS not in {each.name for each in make_graded(subject).metrics}


def test_a_submission_that_did_not_run_has_no_verdicts() -> None:
    exercise = replace(make_exercise(), questions=QUESTIONS, checks=(*CHECKS, ASKED))
    score = failed_score(make_subject(exercise), Failure(Status.COMPILE_ERROR, "no kernel"))
    assert (score.predictions, score.score) == ((), 0)
