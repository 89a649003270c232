"""Checks a spec against its JSON schema: every violation as a JSON path and a sentence, and a sound
copy of the rest."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.cpp.cursor import did_you_mean, quote

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

Json = dict[str, Any]
Place = tuple[str | int, ...]


class Problem(NamedTuple):
    """A mistake: its path (`$.checks[2].metric`) and its message."""

    path: str
    message: str


class Repair(Enum):
    """The treatment of the value at a violation's place in the sound copy."""

    KEEP = auto()
    CLEAR = auto()
    DROP = auto()


class Violation(NamedTuple):
    """A mistake against the schema at `place`."""

    place: Place
    message: str
    repair: Repair = Repair.CLEAR


def schema_problems(document: object) -> tuple[list[Problem], Json]:
    """All violations in document order, and a sound copy: a value of a wrong form is None in it,
    unknown fields are dropped.

    In the copy every value that is not None has the right form; missing fields stay missing.
    """
    violations = sorted(
        _find_violations(json.dumps(document)),
        key=lambda violation: _document_order(document, violation.place),
    )
    problems = [Problem(json_path(violation.place), violation.message) for violation in violations]
    return problems, _sound_copy(document, violations)


def part_problems(fields: Mapping[str, object], part: str) -> list[Problem]:
    """All violations of a part of a spec, by its name in the `$defs` of the schema."""
    violations = _find_violations(json.dumps(dict(fields), default=str), part)
    return [Problem(json_path(violation.place), violation.message) for violation in violations]


def json_path(place: Sequence[str | int]) -> str:
    """`$.checks[2].metric` for ("checks", 2, "metric")."""
    return "$" + "".join(_path_step(step) for step in place)


def _path_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[A-Za-z_$][\w$]*", step) else f"[{quote(step)}]"


@cache
def _validator(part: str | None) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # slow to import, and only needed here

    text = (resources.files("grader") / "schemas" / "spec.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    return Draft202012Validator(schema["$defs"][part] if part else schema)


@lru_cache(maxsize=64)
def _find_violations(text: str, part: str | None = None) -> tuple[Violation, ...]:
    """The violations of a document as JSON. A process reads the same spec several times."""
    errors = _validator(part).iter_errors(json.loads(text))
    return tuple(violation for error in errors for violation in _explain(error))


# --- from errors to words -------------------------------------------------------------------------


def _explain(error: ValidationError) -> Iterator[Violation]:
    place, message = tuple(error.absolute_path), _describe(error)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            # The validator reports each missing field separately; its name is only in the message.
            missing = next(name for name in wanted if error.message.startswith(repr(name)))
            yield Violation((*place, missing), "this field is missing", Repair.KEEP)
        case "additionalProperties":
            schema: Any = error.schema
            known = list(schema["properties"])
            for name in (name for name in instance if name not in known):
                hint = did_you_mean(name, known) or f"; the fields here are {', '.join(known)}"
                no_field = f"there is no field {quote(name)}{hint}"
                yield Violation((*place, name), no_field, Repair.DROP)
        case _ if "propertyNames" in error.absolute_schema_path:  # the instance is a field's name
            yield Violation((*place, str(instance)), message, Repair.DROP)
        case _:
            yield Violation(place, message)


def _describe(error: ValidationError) -> str:
    keyword = str(error.validator)
    schema: Any = error.schema
    if keyword in _WHOLE:
        return _WHOLE[keyword]
    if keyword not in _WANTED:
        return error.message
    hint = did_you_mean(str(error.instance), map(str, schema["enum"])) if keyword == "enum" else ""
    return f"must be {_WANTED[keyword](schema)}, got {_show(error.instance)}{hint}"


_TYPE_WORDS = {
    "object": "an object { }",
    "array": "a list [ ]",
    "string": "a text in quotes",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}
_WHOLE = {
    **dict.fromkeys(("minItems", "minLength", "minProperties"), "must not be empty"),
    "uniqueItems": "the same item is listed twice",
}
"""The message on a value, by the keyword that it does not satisfy."""
_WANTED: dict[str, Callable[[Json], str]] = {
    "type": lambda schema: str(_TYPE_WORDS.get(schema["type"], schema["type"])),
    "enum": lambda schema: f"one of {', '.join(map(str, schema['enum']))}",
    "pattern": lambda schema: str(schema["description"]),
    "const": lambda schema: _show(schema["const"]),
    "minimum": lambda schema: f"at least {_show(schema['minimum'])}",
    "maximum": lambda schema: f"at most {_show(schema['maximum'])}",
    "exclusiveMinimum": lambda schema: f"more than {_show(schema['exclusiveMinimum'])}",
}
"""The required kind of value, by the keyword of the schema."""


def _show(value: object) -> str:
    """A JSON value as the author wrote it, cut short."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."


# --- places in the document -----------------------------------------------------------------------


def _document_order(document: object, place: Place) -> list[int]:
    """Sort key: the position of each step among its siblings; missing steps come last."""
    key: list[int] = []
    value: Any = document
    for step in place:
        if isinstance(step, int):
            key.append(step)
        else:
            names = list(value)
            key.append(names.index(step) if step in names else len(names))
            if step not in names:
                break
        value = value[step]
    return key


def _sound_copy(document: object, violations: Sequence[Violation]) -> Json:
    sound = {"": copy.deepcopy(document)}
    for place, _, repair in violations:
        if repair is not Repair.KEEP:
            _repair(sound, ("", *place), drop=repair is Repair.DROP)
    whole = sound[""]
    return whole if isinstance(whole, dict) else {}


def _repair(value: Any, place: Place, *, drop: bool) -> None:  # noqa: ANN401 - JSON of any form
    for step in place[:-1]:
        value = value[step]
        if value is None:  # already cleared with the value around it
            return
    if drop:
        value.pop(place[-1], None)
    else:
        value[place[-1]] = None


# --- the sound copy -------------------------------------------------------------------------------


def fields(parent: Json, name: str) -> Json:
    """The object in this field; empty if it is missing or unsound."""
    return parent.get(name) or {}


def items(parent: Json, name: str) -> list[tuple[int, Json]]:
    """The sound items of the list in this field, with their indices."""
    return [
        (index, value) for index, value in enumerate(parent.get(name) or []) if value is not None
    ]


def size_names(task: Json) -> frozenset[str]:
    """The names of a task's sizes."""
    return frozenset(task.get("sizes") or ())
