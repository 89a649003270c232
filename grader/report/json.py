"""The score as JSON, in the form of `schemas/score.schema.json`.

JSON has no NaN and no infinity: a figure that is not finite becomes the string "NaN", "Infinity" or
"-Infinity". The sizes of hidden cases are left out; the seed draws them again.
"""

from __future__ import annotations

import dataclasses
import json
import math
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from grader.records import CaseResult, Score
from grader.report.files import write_file
from grader.report.machine_json import plain_lines

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def format_score(score: Score) -> str:
    """The score as indented JSON text of ASCII characters, with a newline at its end."""
    return json.dumps(_plain_score(score), indent=2, allow_nan=False) + "\n"


def write_score(score: Score, path: Path) -> None:
    """Write the score's JSON so that a reader sees the old file or the whole new file, never a
    part.

    A pipe or device (`/dev/stdout`) is written directly. Raises UsageError when the path cannot be
    written.
    """
    write_file(path, format_score(score).encode("ascii"), "the score")


def _plain_score(score: Score) -> dict[str, object]:
    return {
        "schema_version": score.schema_version,
        "exercise": score.exercise,
        "submission": {"name": score.submission_name, "sha256": score.submission_sha256},
        "status": score.status.value,
        "message": score.message,
        "detail": score.detail,
        "advice": score.advice,
        "score": score.score,
        "max_score": score.max_score,
        "judged_points": score.judged_points,
        "pending_points": score.pending_points,
        "device": _plain(score.device),
        "checks": _plain(score.checks),
        "metrics": {
            metric.name: {
                "value": _plain(metric.value),
                "unit": metric.unit,
                "source": _plain(metric.source),
                "reason": metric.reason,
                "interval": _plain(metric.interval),
            }
            for metric in score.metrics
        },
        "cases": [_plain_case(case) for case in score.cases],
        "timings": _plain(score.timings),
        "lines": _plain(score.lines),
        "line_sizes": score.line_sizes,
        "findings": _plain(score.findings),
        "resources": _plain(score.resources),
        "printed": _plain(score.printed),
        "model": _plain(score.model),
        "counted": _plain(score.counted),
        "causes": _plain(score.causes),
        "why": score.why,
        "hidden_left_out": score.hidden_left_out,
        "accesses": _plain(score.accesses),
        "environment": score.environment,
        "seed": score.seed,
        **_plain_machine(score),
        **({"what_if": _plain(score.what_if)} if score.what_if is not None else {}),
    }


def _plain_machine(score: Score) -> dict[str, object]:
    """The modelled cycles by line; empty where they were not requested. The machine code is left
    out: it is long, and a compiler makes it again."""
    machine = score.machine
    return {"machine": plain_lines(machine)} if machine is not None and machine.lines else {}


def _plain_case(case: CaseResult) -> dict[str, object]:
    return _plain_fields(case) | {"sizes": None if case.hidden else case.sizes}


def _plain_fields(record: DataclassInstance) -> dict[str, object]:
    return {field.name: _plain(getattr(record, field.name)) for field in dataclasses.fields(record)}


def _plain(value: object) -> object:
    """A record, or a value in a record, as JSON types. A NamedTuple (Dim3) becomes a list."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain_fields(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
