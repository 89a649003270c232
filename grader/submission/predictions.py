"""Reads the predictions of a submission: lines `// predict: METRIC = NUMBER`, or `= NUMBER to
NUMBER`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from grader.cpp.cursor import did_you_mean, quote
from grader.cpp.lexer import find_comments
from grader.metrics import METRICS
from grader.records.predictions import PREDICTIONS, WrittenPrediction

MOST = 32
"""Predictions that are read of a submission."""
FORM = "Write `// predict: METRIC = NUMBER`, or `= NUMBER to NUMBER`"

_START = re.compile(r"\s*predict\w*\s*(?P<colon>:?)(?P<rest>.*)", re.IGNORECASE)
_PARTS = re.compile(r"\s*(?P<metric>\w+)\s*=\s*(?P<range>.+?)\s*$")
_NUMBER = re.compile(
    r"(?P<digits>[-+]?(?:\d[\d,_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<suffix>[kMG]?)\s*"
    r"(?P<unit>%|x|ms|GB/s|GFLOP/s)?$"
)
_SUFFIXES = {"": Decimal(1), "k": Decimal(10**3), "M": Decimal(10**6), "G": Decimal(10**9)}
_CLOSE = Decimal("0.05")
"""A single number is never right for a value that is farther away than this part of it."""


def read_predictions(text: str) -> tuple[WrittenPrediction, ...]:
    """The predictions of a source text, in its order; lines that cannot be read have a
    `problem`."""
    return tuple(_read_all(text))[:MOST]


def _read_all(text: str) -> Iterator[WrittenPrediction]:
    for comment in find_comments(text):
        match = _START.match(comment.text)
        if match is None or not (match["colon"] or "=" in match["rest"]):
            continue
        if not match["colon"]:
            yield WrittenPrediction(comment.line, problem=f"`predict` needs a colon. {FORM}.")
            continue
        yield _read(comment.line, match["rest"])


def _read(line: int, text: str) -> WrittenPrediction:
    parts = _PARTS.match(text)
    if parts is None:
        return WrittenPrediction(line, problem=f"{quote(text.strip())} is no prediction. {FORM}.")
    metric, written = parts["metric"], parts["range"]
    if metric not in METRICS or metric == PREDICTIONS:
        near = did_you_mean(metric, METRICS)
        problem = f"`grade metrics` lists no metric {quote(metric)}{near}"
        return WrittenPrediction(line, written=written, problem=problem)
    ends = [_read_number(each.strip()) for each in re.split(r"\bto\b", written)]
    if len(ends) == 1 and ends[0] is not None:
        number, half_unit = ends[0]
        margin = min(half_unit, _CLOSE * abs(number))
        low, high = number - margin, number + margin
    elif len(ends) == 2 and ends[0] is not None and ends[1] is not None:
        low, high = ends[0][0], ends[1][0]
    else:
        problem = f"{quote(written)} is no number and no range. {FORM}."
        return WrittenPrediction(line, metric, written, problem=problem)
    if low > high:
        problem = f"{quote(written)} is an empty range: write the smaller number first."
        return WrittenPrediction(line, metric, written, problem=problem)
    return WrittenPrediction(line, metric, written, float(low), float(high))


def _read_number(text: str) -> tuple[Decimal, Decimal] | None:
    """A number and half a unit of its last written digit: 1,474,560; 0.33; 33 %; 1.5M."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    digits = Decimal(re.sub("[,_]", "", match["digits"]))
    exponent = digits.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > 300 or digits.adjusted() > 300:
        return None
    scale = _SUFFIXES[match["suffix"]] / (100 if match["unit"] == "%" else 1)
    return digits * scale, Decimal(1).scaleb(exponent) * scale / 2
