"""Reads a score from the JSON that `report.json` wrote."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from cattrs import Converter

from grader.errors import GraderError
from grader.records import CaseResult, Dim3, MetricValue, Score


def read_score(path: Path) -> Score:
    """The score in a file. GraderError where it cannot be read or is not a score; the sizes of
    hidden cases are empty."""
    try:
        return parse_score(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise GraderError(
            f"{path} holds no score: {error}", "Grade the submission again."
        ) from error


def parse_score(text: str) -> Score:
    """The score in a JSON text; ValueError, TypeError or KeyError where it is not a score."""
    plain: dict[str, Any] = json.loads(text)
    submission = plain.pop("submission")
    metrics = [{"name": name, **metric} for name, metric in plain.pop("metrics").items()]
    fields = {
        **plain,
        "submission_name": submission["name"],
        "submission_sha256": submission["sha256"],
        "metrics": metrics,
    }
    return _converter().structure(fields, Score)


@functools.cache
def _converter() -> Converter:
    converter = Converter(detailed_validation=False)
    converter.register_structure_hook(Dim3, lambda value, _: Dim3(*value))
    structure_case = converter.get_structure_hook(CaseResult)
    converter.register_structure_hook(
        CaseResult,
        lambda value, kind: structure_case({**value, "sizes": value["sizes"] or {}}, kind),
    )
    return converter


def metric_value(score: Score, name: str) -> MetricValue | None:
    """The metric of that name, if the score has a value for it."""
    return next(
        (metric for metric in score.metrics if metric.name == name and metric.value is not None),
        None,
    )
