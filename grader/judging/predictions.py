"""Judges the predictions of a submission by its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.messages.predictions import describe_prediction
from grader.records import MetricValue, Source
from grader.records.predictions import PREDICTIONS, Prediction, Verdict, WrittenPrediction
from grader.spec.exercise import PredictionQuestion


def judge_predictions(
    written: Sequence[WrittenPrediction],
    questions: Sequence[PredictionQuestion],
    metrics: Sequence[MetricValue],
) -> tuple[Prediction, ...]:
    """The exercise's questions in its order, then all other predictions in the order of the file.
    The last prediction for a metric counts."""
    return tuple(_judge_all(written, questions, {each.name: each for each in metrics}))


def measure_predictions(judged: Sequence[Prediction]) -> MetricValue:
    """The fraction of the exercise's questions that were predicted right; None while a predicted
    metric has no value and the others are right."""
    asked = [each for each in judged if each.question]
    unknown = [each for each in asked if each.verdict is Verdict.UNKNOWN]
    if not asked or unknown:
        reason = unknown[0].message if unknown else "the exercise asks for no prediction"
        return MetricValue(PREDICTIONS, None, "", None, reason)
    right = sum(each.verdict is Verdict.RIGHT for each in asked)
    return MetricValue(PREDICTIONS, right / len(asked), "", Source.COUNTED)


def _judge_all(
    written: Sequence[WrittenPrediction],
    questions: Sequence[PredictionQuestion],
    metrics: Mapping[str, MetricValue],
) -> Iterator[Prediction]:
    readable = {each.metric: each for each in written if not each.problem}
    asked = {question.metric for question in questions}
    for question in questions:
        each = readable.get(question.metric)
        yield _judge(each, question, metrics) if each else _missing(question)
    for each in written:
        if each.problem or (each.metric not in asked and each is readable[each.metric]):
            yield _judge(each, None, metrics)


def _missing(question: PredictionQuestion) -> Prediction:
    message = describe_prediction(Verdict.MISSING, question.metric)
    return Prediction(question.metric, None, "", Verdict.MISSING, None, message, question.question)


def _judge(
    each: WrittenPrediction,
    question: PredictionQuestion | None,
    metrics: Mapping[str, MetricValue],
) -> Prediction:
    metric = metrics.get(each.metric)
    verdict = _decide(each, question, metric)
    return Prediction(
        each.metric,
        each.line,
        each.written,
        verdict,
        metric.value if metric else None,
        describe_prediction(verdict, each.metric, each, metric),
        question.question if question else "",
    )


def _decide(
    each: WrittenPrediction, question: PredictionQuestion | None, metric: MetricValue | None
) -> Verdict:
    if each.problem:
        return Verdict.UNREADABLE
    if question and each.high - each.low > question.widest * max(abs(each.low), abs(each.high)):
        return Verdict.TOO_WIDE
    if metric is None or metric.value is None:
        return Verdict.UNKNOWN
    low, high = metric.interval or (metric.value, metric.value)
    return Verdict.RIGHT if low <= each.high and high >= each.low else Verdict.WRONG
