"""The score as JSON, in the form of `schemas/score.schema.json`, and back.

JSON has no NaN and no infinity: a figure that is not finite becomes the string "NaN", "Infinity" or
"-Infinity". The sizes of hidden cases are left out; the seed draws them again.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from cattrs import Converter

from grader.errors import GraderError
from grader.plumbing.atomic import write_file
from grader.records import (
    CaseResult,
    CodeInstruction,
    CodeListing,
    Dim3,
    MachineWork,
    MetricValue,
    Score,
    States,
)


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


_ORDER = (
    "schema_version exercise submission status message detail advice score max_score judged_points"
    " pending_points device checks metrics cases timings lines line_sizes findings host_findings"
    " resources printed model counted causes why hidden_left_out predictions accesses environment"
    " seed"
)
"""The keys of a score in JSON; after them come the parts that exist on request."""
_METRIC = ("value", "unit", "source", "reason", "interval")


def _plain_score(score: Score) -> dict[str, object]:
    """The machine code is left out: it is long, and a compiler makes it again."""
    plain: dict[str, object] = vars(score) | {
        "submission": {"name": score.submission_name, "sha256": score.submission_sha256},
        "pending_points": score.pending_points,
        "metrics": {
            metric.name: {name: getattr(metric, name) for name in _METRIC}
            for metric in score.metrics
        },
        "cases": [
            vars(case) | {"sizes": None if case.hidden else case.sizes} for case in score.cases
        ],
    }
    ordered = {name: plain[name] for name in _ORDER.split()}
    for name, value in ordered.items():
        ordered[name] = value if isinstance(value, float) else _plain(value)  # points are finite
    if score.machine is not None and score.machine.lines:
        ordered["machine"] = plain_lines(score.machine)
    if score.what_if is not None:
        ordered["what_if"] = _plain(score.what_if)
    return ordered


def _plain(value: object) -> object:
    """A record, or a value in a record, as JSON types. A NamedTuple (Dim3) becomes a list."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
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
    lines = [{"line": each.line, "states": _plain_states(each.states)} for each in work.lines]
    return {"modelled_sizes": dict(work.modelled_sizes), "lines": lines}


def plain_code(listing: CodeListing) -> list[dict[str, object]]:
    """The instructions in the order of the code; `executed` is left out where nothing was counted,
    `states` and `awaited` where nothing was modelled."""
    return [_plain_instruction(each) for each in listing.instructions]


def _plain_instruction(each: CodeInstruction) -> dict[str, object]:
    plain = {"offset": each.offset, "text": each.text, "line": each.line, **asdict(each.control)}
    del plain["reuse"]
    plain["waits_for"] = each.waits_for
    if each.executed is not None:
        plain["executed"] = each.executed
    if each.states or each.awaited:
        plain |= {"states": _plain_states(each.states), "awaited": round(each.awaited)}
    return plain


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
    plain |= {f"submission_{name}": value for name, value in submission.items()}
    return _converter().structure({**plain, "metrics": metrics}, Score)


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
