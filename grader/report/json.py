"""The score as JSON, in the form of `schemas/score.schema.json`, and back.

JSON has no NaN and no infinity: a figure that is not finite becomes the string "NaN", "Infinity" or
"-Infinity". The sizes of hidden cases are left out; the seed draws them again.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cattrs import Converter

from grader.errors import GraderError
from grader.plumbing.atomic import write_file
from grader.records import (
    CaseResult,
    CodeInstruction,
    CodeListing,
    Dim3,
    LineCycles,
    MachineWork,
    MetricValue,
    Score,
    States,
)

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
        "host_findings": _plain(score.host_findings),
        "resources": _plain(score.resources),
        "printed": _plain(score.printed),
        "model": _plain(score.model),
        "counted": _plain(score.counted),
        "causes": _plain(score.causes),
        "why": score.why,
        "hidden_left_out": score.hidden_left_out,
        "predictions": _plain(score.predictions),
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


def plain_machine(work: MachineWork) -> dict[str, object]:
    """All fields without times: cycles are whole numbers, by line where they were modelled."""
    kernels = [
        {"kernel": each.kernel, "launches": each.launches, "instructions": plain_code(each)}
        for each in work.listings
    ]
    return {"kernels": kernels} | (plain_lines(work) if work.lines else {})


def plain_lines(work: MachineWork) -> dict[str, object]:
    """The cycles of each source line, and the sizes at which they were modelled."""
    lines = [_plain_line(each) for each in work.lines]
    return {"modelled_sizes": dict(work.modelled_sizes), "lines": lines}


def plain_code(listing: CodeListing) -> list[dict[str, object]]:
    """The instructions in the order of the code; `executed` is left out where nothing was counted,
    `states` and `awaited` where nothing was modelled."""
    return [_plain_instruction(each) for each in listing.instructions]


def _plain_instruction(each: CodeInstruction) -> dict[str, object]:
    control = each.control
    plain: dict[str, object] = {
        "offset": each.offset,
        "text": each.text,
        "line": each.line,
        "stall_cycles": control.stall_cycles,
        "yields": control.yields,
        "writes": control.writes,
        "reads": control.reads,
        "waits": list(control.waits),
        "waits_for": list(each.waits_for),
    }
    if each.executed is not None:
        plain["executed"] = each.executed
    if each.states or each.awaited:
        plain |= {"states": _plain_states(each.states), "awaited": round(each.awaited)}
    return plain


def _plain_line(each: LineCycles) -> dict[str, object]:
    return {"line": each.line, "states": _plain_states(each.states)}


def _plain_states(states: States) -> dict[str, int]:
    return {state.value: round(cycles) for state, cycles in states.items()}


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
