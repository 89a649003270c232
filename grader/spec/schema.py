"""A spec against its JSON schema: every violation as a JSON path and a sentence, and what is sound
in spite of them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.cpp.cursor import did_you_mean, quote

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Json = dict[str, Any]
Place = tuple[str | int, ...]


class Problem(NamedTuple):
    """One mistake: where (`$.checks[2].metric`) and what."""

    path: str
    message: str


class Fault(NamedTuple):
    """What the validator found: the value (`instance`) at `place` does not satisfy `keyword:
    wanted` of `schema`.

    `of_name`: the instance is the name of a field of the object at `place`.
    """

    keyword: str
    wanted: Any
    instance: Any
    schema: Json
    place: Place
    message: str
    of_name: bool


class Repair(Enum):
    """What becomes of the value at a violation's place in the sound copy."""

    KEEP = auto()
    CLEAR = auto()
    DROP = auto()


class Violation(NamedTuple):
    """A mistake against the schema at `place`."""

    place: Place
    message: str
    repair: Repair = Repair.CLEAR


def schema_problems(document: object) -> tuple[list[Problem], Json]:
    """All violations in document order, and a sound copy: None stands where a value has the wrong
    form, unknown fields are gone.

    In the copy every value that is not None has the right form; a field that was missing still is.
    """
    violations = [
        violation
        for fault in _find_faults(document)
        for violation in _EXPLANATIONS.get(fault.keyword, _explain_other)(fault)
    ]
    violations.sort(key=lambda violation: _document_order(document, violation.place))
    problems = [Problem(json_path(violation.place), violation.message) for violation in violations]
    return problems, _sound_copy(document, violations)


def json_path(place: Sequence[str | int]) -> str:
    """`$.checks[2].metric` for ("checks", 2, "metric")."""
    return "$" + "".join(_path_step(step) for step in place)


def _path_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[A-Za-z_$][\w$]*", step) else f"[{quote(step)}]"


@cache
def _validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # slow to import, and only needed here

    text = (
        resources.files("grader")
        .joinpath("schemas", "spec.schema.json")
        .read_text(encoding="utf-8")
    )
    return Draft202012Validator(json.loads(text))


def _find_faults(document: object) -> Iterator[Fault]:
    for error in _validator().iter_errors(document):
        schema = error.schema if isinstance(error.schema, dict) else {}
        of_name = "propertyNames" in error.absolute_schema_path
        yield Fault(
            str(error.validator),
            error.validator_value,
            error.instance,
            schema,
            tuple(error.absolute_path),
            error.message,
            of_name,
        )


# --- from faults to words -------------------------------------------------------------------------


def _explain_required(fault: Fault) -> Iterator[Violation]:
    # The validator finds one fault per missing field; its name is only in the message.
    missing = next(name for name in fault.wanted if fault.message.startswith(repr(name)))
    yield Violation((*fault.place, missing), "this field is missing", Repair.KEEP)


def _explain_additional(fault: Fault) -> Iterator[Violation]:
    known = list(fault.schema["properties"])
    for name in fault.instance:
        if name not in known:
            hint = did_you_mean(name, known) or f"; the fields here are {', '.join(known)}"
            yield Violation(
                (*fault.place, name), f"there is no field {quote(name)}{hint}", Repair.DROP
            )


def _explain_type(fault: Fault) -> Iterator[Violation]:
    yield Violation(
        fault.place,
        f"must be {_TYPE_WORDS.get(fault.wanted, fault.wanted)}, got {_show(fault.instance)}",
    )


def _explain_enum(fault: Fault) -> Iterator[Violation]:
    hint = did_you_mean(str(fault.instance), fault.wanted)
    yield Violation(
        fault.place, f"must be one of {', '.join(fault.wanted)}, got {_show(fault.instance)}{hint}"
    )


def _explain_pattern(fault: Fault) -> Iterator[Violation]:
    message = f"must be {fault.schema['description']}, got {_show(fault.instance)}"
    if fault.of_name:
        yield Violation((*fault.place, str(fault.instance)), message, Repair.DROP)
    else:
        yield Violation(fault.place, message)


def _explain_bound(words: str) -> Callable[[Fault], Iterator[Violation]]:
    def explain(fault: Fault) -> Iterator[Violation]:
        yield Violation(
            fault.place, f"must be {words}{_show(fault.wanted)}, got {_show(fault.instance)}"
        )

    return explain


def _explain_empty(fault: Fault) -> Iterator[Violation]:
    yield Violation(fault.place, "must not be empty")


def _explain_unique(fault: Fault) -> Iterator[Violation]:
    yield Violation(fault.place, "the same item is listed twice")


def _explain_other(fault: Fault) -> Iterator[Violation]:
    yield Violation(fault.place, fault.message)


_EXPLANATIONS: dict[str, Callable[[Fault], Iterator[Violation]]] = {
    "required": _explain_required,
    "additionalProperties": _explain_additional,
    "type": _explain_type,
    "enum": _explain_enum,
    "pattern": _explain_pattern,
    "const": _explain_bound(""),
    "minimum": _explain_bound("at least "),
    "maximum": _explain_bound("at most "),
    "exclusiveMinimum": _explain_bound("more than "),
    "minItems": _explain_empty,
    "minLength": _explain_empty,
    "minProperties": _explain_empty,
    "uniqueItems": _explain_unique,
}

_TYPE_WORDS = {
    "object": "an object { }",
    "array": "a list [ ]",
    "string": "a text in quotes",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}


def _show(value: object) -> str:
    """A JSON value as the author wrote it, cut short."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."


# --- places in the document -----------------------------------------------------------------------


def _document_order(document: object, place: Place) -> list[int]:
    """Sort key: the position of each step among its siblings; what is missing comes last."""
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
        if value is None:  # already cleared with what is around it
            return
    if drop:
        value.pop(place[-1], None)
    else:
        value[place[-1]] = None
