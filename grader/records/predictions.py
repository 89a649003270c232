"""Predictions of a student about the figures of the submission.

The text below a field is its description in grader/schemas/score.schema.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.records.bounds import LineNumber
from grader.records.metric_row import Better, Metric

PREDICTIONS = "predictions"
PREDICTIONS_ROW = Metric(
    PREDICTIONS,
    Better.HIGHER,
    "right predictions",
    "fraction of the exercise's questions that `// predict:` lines of the submission answer right,"
    " 0 to 1",
    is_fraction=True,
    is_goal=False,
    advice="Compute the figure from the access pattern of one warp before you grade.",
)
"""Only scores of exercises with such questions have it."""


class Verdict(StrEnum):
    """The verdict on a prediction. unknown: the metric has no value; missing: a question of the
    exercise without a prediction."""

    RIGHT = "right"
    WRONG = "wrong"
    TOO_WIDE = "too_wide"
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"
    MISSING = "missing"


@dataclass(frozen=True)
class WrittenPrediction:
    """A line `// predict: METRIC = RANGE`. A value from `low` to `high` is right. `problem`: why
    the line cannot be read; the other fields may be empty then."""

    line: int
    metric: str = ""
    written: str = ""
    low: float = 0.0
    high: float = 0.0
    problem: str = ""


@dataclass(frozen=True)
class Prediction:
    """A prediction, judged; or a question of the exercise without a prediction."""

    metric: str
    """Empty where the line cannot be read."""
    line: LineNumber
    """null where the file has no prediction."""
    written: str
    """As the student wrote it: `0`, `90 % to 100 %`."""
    verdict: Verdict
    """too_wide: the range is too wide for points. unknown: the metric has no value here.
    unreadable: the line is no prediction. missing: a question without a prediction."""
    value: float | None
    message: str
    question: str = ""
    """The exercise's question, where it asks for this metric."""
