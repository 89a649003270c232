"""A score as SARIF 2.1.0 (OASIS), the format of code scanning on GitHub and in editors."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from grader.messages.cause_row import page_address
from grader.messages.causes import name_cause
from grader.messages.explanations import explain
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
        "rules": [_format_rule(key) for key in rules],
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


def _format_rule(key: str) -> dict[str, Any]:
    """A rule with its address, its meaning and its fix."""
    short = {"text": name_cause(key).replace("_", " ")}
    rule = {"id": key, "shortDescription": short, "helpUri": page_address(key)}
    page = explain(key)
    if page is None:
        return rule
    text = f"{page.row.meaning} {page.row.fix}"
    return rule | {
        "fullDescription": {"text": page.row.meaning},
        "help": {
            "text": f"{text} More: {page.command}",
            "markdown": f"{text}\n\nMore: `{page.command}`",
        },
    }


def _format_place(file: str, line: int) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file)},
            "region": {"startLine": line},
        }
    }


def _format_mark(mark: Mark, rules: list[str]) -> dict[str, Any]:
    related = [
        _format_place(mark.file, each.line) | {"id": number, "message": {"text": each.message}}
        for number, each in enumerate(mark.related)
    ]
    result = {
        "ruleId": mark.rule,
        "ruleIndex": rules.index(mark.rule),
        "level": mark.level,
        "message": {"text": mark.message},
        "locations": [_format_place(mark.file, mark.line)],
        "properties": {"points": mark.points},
    }
    return result | ({"relatedLocations": related} if related else {})
