"""A score as SARIF 2.1.0 (OASIS), the format of code scanning on GitHub and in editors."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from grader.messages.causes import name_cause
from grader.records import PendingRule, Score
from grader.report.platforms.marks import Mark, list_marks
from grader.report.text import clean_line

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def format_sarif(score: Score, rule: PendingRule | None = None) -> str:
    """A run with a result for each mark. Points and status are in the run's properties."""
    del rule  # a grade for pending points changes no mark
    marks = list_marks(score)
    rules = sorted({mark.rule for mark in marks})
    driver = {
        "name": "cuda-exercise-grader",
        "version": score.environment.get("grader", ""),
        "rules": [
            {"id": key, "shortDescription": {"text": name_cause(key).replace("_", " ")}}
            for key in rules
        ],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_format_mark(mark, rules) for mark in marks],
        "properties": {
            "exercise": score.exercise,
            "status": score.status.value,
            "score": score.score,
            "maxScore": score.max_score,
            "pendingPoints": score.pending_points,
            "message": clean_line(score.message),
        },
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _format_mark(mark: Mark, rules: list[str]) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": quote(mark.file)},
        "region": {"startLine": mark.line},
    }
    return {
        "ruleId": mark.rule,
        "ruleIndex": rules.index(mark.rule),
        "level": mark.level,
        "message": {"text": mark.message},
        "locations": [{"physicalLocation": place}],
        "properties": {"points": mark.points},
    }
