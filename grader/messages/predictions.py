"""The sentences about predictions."""

from __future__ import annotations

from grader.metrics import format_value
from grader.records import MetricValue
from grader.records.predictions import Verdict, WrittenPrediction

MARKS = {
    Verdict.RIGHT: "✓ right",
    Verdict.WRONG: "✗ wrong",
    Verdict.TOO_WIDE: "✗ too wide",
    Verdict.UNKNOWN: "– not judged",
    Verdict.UNREADABLE: "– not read",
    Verdict.MISSING: "– no prediction",
}
"""The verdicts in reports."""


def describe_prediction(
    verdict: Verdict,
    metric: str,
    written: WrittenPrediction | None = None,
    value: MetricValue | None = None,
) -> str:
    """The value beside the prediction, or why the prediction has no verdict."""
    if verdict is Verdict.MISSING:
        return f"add a line `// predict: {metric} = NUMBER` before you grade"
    if verdict is Verdict.UNREADABLE and written is not None:
        return written.problem
    if verdict is Verdict.TOO_WIDE:
        return "the range is too wide: name a smaller range"
    if value is None or value.value is None:
        return (value.reason if value else None) or "the metric has no value here"
    return f"it is {format_value(metric, value.value)}"
