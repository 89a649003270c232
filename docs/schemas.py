"""Makes the JSON schemas in grader/schemas from the records, metrics, counters and statuses.

The schema of scores follows the records of grader.records: types, bounds (records/bounds.py), and
the text below each field. The schema of specs is its own source, since no record has its form: only
its closed sets (metrics, kinds of devices, ways to fill a buffer) are renewed.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import json
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from grader import records
from grader.metrics import METRICS
from grader.records import bounds
from grader.records.devices import DEVICE_KINDS
from grader.records.predictions import PREDICTIONS
from grader.spec.exercise import Atomics, ComparedWith, Initialisation, Units
from grader.statuses import CHECK_STATUSES, STATUSES

Json = dict[str, Any]

SCHEMAS = Path(__file__).resolve().parents[1] / "grader" / "schemas"
WIDTH = 130


def make_schemas() -> dict[str, str]:
    """The text of each schema by its file's name."""
    made = {"score.schema.json": make_score_schema(), "spec.schema.json": renew_spec_schema()}
    return {name: format_json(schema) + "\n" for name, schema in made.items()}


def format_json(value: object, indent: int = 0) -> str:
    """Indented JSON with each object and list on one line where it fits."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or indent + len(line) <= WIDTH:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{json.dumps(k)}: {format_json(v, indent + 2)}" for k, v in value.items()]
    else:
        parts = [format_json(each, indent + 2) for each in value]
    first, *_, last = json.dumps(value)
    return f"{first}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * indent}{last}"


# --- the schema of scores -------------------------------------------------------------------------


def refer(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def meanings(rows: Mapping[Any, Any]) -> str:
    return " ".join(f"{status}: {row.meaning}" for status, row in rows.items())


DEFINED: Mapping[str, Json] = {
    "check_status": {
        "enum": [each.value for each in CHECK_STATUSES],
        "description": meanings(CHECK_STATUSES),
    },
    "count": {"type": "integer", "minimum": 0},
    "dim3": {
        "description": "x, y, z",
        "type": "array",
        "prefixItems": 3 * [refer("count")],
        "items": False,
        "minItems": 3,
    },
    "figure": {
        "description": "A number, or as a string a number that JSON cannot express.",
        "anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}],
    },
    "fraction": {"type": "number", "minimum": 0, "maximum": 1},
    "interval": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    "line_number": {
        "type": ["integer", "null"],
        "minimum": 1,
        "description": "1-based line of the submission; null for code from a header.",
    },
    "metric_name": {"enum": list(METRICS)},
    "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
    "source": {
        "enum": [*(each.value for each in records.Source), None],
        "description": "measured: by a clock on hardware. counted: exact. modelled: computed by a"
        " model. null: there is no value.",
    },
    "status": {"enum": [each.value for each in STATUSES], "description": meanings(STATUSES)},
}
"""Definitions of types that are no records."""

NAMES: Sequence[tuple[object, str]] = (
    (bounds.Count, "count"),
    (bounds.Figure, "figure"),
    (bounds.Fraction, "fraction"),
    (bounds.LineNumber, "line_number"),
    (bounds.MetricName, "metric_name"),
    (dict[str, int], "sizes"),
    (records.CheckStatus, "check_status"),
    (records.Dim3, "dim3"),
    (records.Source | None, "source"),
    (records.Status, "status"),
    (tuple[float, float], "interval"),
    (records.CaseResult, "case"),
    (records.CheckResult, "check"),
    (records.CountedAt, "counted_run"),
    (records.DeviceInfo, "device"),
    (records.MetricValue, "metric"),
    (records.SourceLine, "line"),
    (records.TriedFix, "fix"),
    (records.WarpAccess, "access"),
)
"""The names of definitions; a record that is not here gives its own name in small letters."""

UNWRITTEN: Mapping[type, tuple[str, ...]] = {
    records.MachineWork: ("listings", "sizes", "simulated"),
    records.MetricValue: ("name", "sizes", "unsure"),
    records.Score: ("submission_name", "submission_sha256"),
}
"""Fields that a score's JSON does not have, or has elsewhere."""

WRITTEN: Mapping[tuple[type, str], Json] = {
    **{(records.Counters, name): refer("count") for name in records.COUNTERS},
    (records.CaseResult, "sizes"): {
        "type": ["object", "null"],
        "additionalProperties": refer("count"),
    },
    (records.LineCycles, "states"): {
        "type": "object",
        "propertyNames": {"enum": [state.value for state in records.WarpState]},
        "additionalProperties": refer("count"),
    },
    (records.Score, "metrics"): {
        "type": "object",
        "propertyNames": refer("metric_name"),
        "additionalProperties": refer("metric"),
        "minProperties": sum(
            not row.is_of_program and name != PREDICTIONS for name, row in METRICS.items()
        ),
    },
}
"""Fields whose JSON does not have the form of their type."""

VALUE_OR_REASON: Json = {
    "if": {"properties": {"value": {"type": "null"}}},
    "then": {
        "properties": {"reason": {"type": "string", "minLength": 1}, "source": {"const": None}}
    },
    "else": {"properties": {"reason": {"const": None}, "source": {"type": "string"}}},
}
MARKS = {bounds.LATER, bounds.ON_REQUEST}
PRIMITIVES: Mapping[object, str] = {
    bool: "boolean",
    float: "number",
    int: "integer",
    str: "string",
}


def make_score_schema() -> Json:
    """The schema of the JSON that `grader.report.json` writes."""
    definitions: Json = dict(DEFINED)
    score = define_record(records.Score, definitions)
    definitions["metric"] |= VALUE_OR_REASON
    texts, fields = field_texts(records.Score), score["properties"]
    sha256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    submission = {
        "name": {"type": "string", "description": texts["submission_name"]},
        "sha256": {**sha256, "description": texts["submission_sha256"]},
    }
    pending = schema_of(bounds.Amount, definitions)
    pending["description"] = text_of(records.Score.pending_points)
    first = {
        "schema_version": fields.pop("schema_version"),
        "submission": close(submission, list(submission)),
    }
    score["properties"] = {**first, **fields, "pending_points": pending}
    score["required"].append("submission")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "score.schema.json",
        "title": "Score of one submission",
        **score,
        "$defs": dict(sorted(definitions.items())),
    }


def define_record(record: type, definitions: Json) -> Json:
    """The schema of a record; the records in it are added to the definitions."""
    hints = get_type_hints(record, include_extras=True)
    texts = field_texts(record)
    properties, required = {}, []
    for field in dataclasses.fields(record):
        name, hint = field.name, hints[field.name]
        if name in UNWRITTEN.get(record, ()):
            continue
        schema = schema_of(hint, definitions)
        schema = WRITTEN.get((record, name), schema)
        properties[name] = schema | ({"description": texts[name]} if name in texts else {})
        if not MARKS & set(getattr(hint, "__metadata__", ())):
            required.append(name)
    return {"description": text_of(record), **close(properties, required)}


def close(properties: Json, required: list[str]) -> Json:
    """An object of these fields and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def schema_of(hint: Any, definitions: Json) -> Json:  # noqa: ANN401 - a type, or what typing makes
    for known, name in NAMES:
        if hint == known and name in DEFINED:
            return refer(name)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        keywords = [each for each in hint.__metadata__ if each not in MARKS]
        if bounds.ON_REQUEST in hint.__metadata__:
            (written, _) = get_args(args[0])  # never null
            return schema_of(written, definitions)
        if len(keywords) < len(hint.__metadata__):
            kept = Annotated[args[0], *keywords] if keywords else args[0]
            return schema_of(kept, definitions)
        bounded = dict(keywords)
        closed = {"enum", "const"} & set(bounded)
        return bounded if closed else schema_of(args[0], definitions) | bounded
    if origin in (Union, types.UnionType):
        (some,) = (each for each in args if each is not type(None))
        return or_null(schema_of(some, definitions))
    if origin is tuple:
        return {"type": "array", "items": schema_of(args[0], definitions)}
    if origin is dict or origin is Mapping:
        return {
            "type": "object",
            **({} if args[0] is str else {"propertyNames": schema_of(args[0], definitions)}),
            "additionalProperties": schema_of(args[1], definitions),
        }
    if dataclasses.is_dataclass(hint):
        return refer_to_record(hint, definitions)
    if issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    return {"type": PRIMITIVES[hint]}


def or_null(schema: Json) -> Json:
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [{"type": "null"}, schema]}


def refer_to_record(record: type, definitions: Json) -> Json:
    name = dict(NAMES).get(record) or re.sub(r"(?<!^)([A-Z])", r"_\1", record.__name__).lower()
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = define_record(record, definitions)
    return refer(name)


@functools.cache
def field_texts(record: type) -> Mapping[str, str]:
    """The text below each field of a record, by name."""
    (tree,) = ast.parse(inspect.getsource(record)).body
    assert isinstance(tree, ast.ClassDef)
    return dict(_pair_texts(tree.body))


def _pair_texts(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, text in itertools.pairwise(body):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                yield name, " ".join(words.split())


def text_of(documented: object) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())


# --- the schema of specs --------------------------------------------------------------------------


def _values(closed: type[Enum]) -> list[object]:
    return [member.value for member in closed]


CLOSED_SETS: Mapping[str, Sequence[object]] = {
    "properties.units": _values(Units),
    "$defs.init": _values(Initialisation),
    "$defs.forbid.properties.atomics": _values(Atomics),
    "$defs.relative_to": _values(ComparedWith),
    "$defs.check.properties.metric": list(METRICS),
    "$defs.conditional_hint.properties.metric": list(METRICS),
    "$defs.check.properties.excluded_on.items": list(DEVICE_KINDS),
}
"""Where the schema of specs lists the values of a table or an enum of the code."""


def renew_spec_schema() -> Json:
    """The schema of specs, with its closed sets as the code has them."""
    schema: Json = json.loads((SCHEMAS / "spec.schema.json").read_text(encoding="utf-8"))
    for place, values in CLOSED_SETS.items():
        functools.reduce(lambda part, key: part[key], place.split("."), schema)["enum"] = values
    return schema
