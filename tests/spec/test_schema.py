"""The JSON schema of specs as a document of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator

from grader.metrics import METRICS
from grader.records import Role
from grader.spec.exercise import Atomics, Initialisation
from grader.spec.schema import json_path

SCHEMA = json.loads(
    resources.files("grader").joinpath("schemas", "spec.schema.json").read_text(encoding="utf-8")
)


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON of any form
    children = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    )
    if isinstance(schema, dict):
        yield schema
    for child in children:
        yield from subschemas(child)


def test_is_a_schema_of_draft_2020_12() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_no_object_takes_fields_that_it_does_not_know() -> None:
    objects = [
        schema for schema in subschemas(SCHEMA) if isinstance(schema.get("properties"), dict)
    ]
    assert len(objects) > 8
    assert all(schema["additionalProperties"] is False for schema in objects)


def test_every_field_is_described() -> None:
    objects = [
        schema for schema in subschemas(SCHEMA) if isinstance(schema.get("properties"), dict)
    ]
    for field in (field for schema in objects for field in schema["properties"].values()):
        described = (
            SCHEMA["$defs"][field["$ref"].split("/")[-1]]
            if "$ref" in field and "description" not in field
            else field
        )
        assert described.get("description"), field


def test_its_words_are_those_of_the_model() -> None:
    assert SCHEMA["$defs"]["init"]["enum"] == list(Initialisation)
    assert SCHEMA["$defs"]["check"]["properties"]["metric"]["enum"] == list(METRICS)
    assert SCHEMA["$defs"]["forbid"]["properties"]["atomics"]["enum"] == list(Atomics)
    assert set(SCHEMA["$defs"]["buffer"]["properties"]["role"]["enum"]) == set(Role) - {
        Role.SCRATCH
    }


def test_json_paths() -> None:
    assert json_path(()) == "$"
    assert json_path(("checks", 2, "metric")) == "$.checks[2].metric"
    assert json_path(("sizes", "2 n")) == "$.sizes['2 n']"
