"""Rules of a task beyond the JSON schema: names in formulas and launch lines, sizes of cases,
buffers that fit the memory.

A task is the exercise itself, or one of its parts; `base` is its JSON path (`$`,
`$.parts.in_place`). As for `spec.semantics`, the functions take parts of the sound copy: a None or
missing value has already been reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from grader.cpp.cursor import LanguageError, did_you_mean, quote
from grader.cpp.expressions import Expression, parse_expression
from grader.messages.syntax import describe_error
from grader.records import Role
from grader.spec.exercise import Initialisation
from grader.spec.plan_rules import RESERVED_NAMES, Starter, plan_problems, unknown_name
from grader.spec.schema import Json, Problem, fields, items, json_path, size_names
from grader.spec.texture_rules import tensor_map_problems, texture_problems
from grader.spec.tolerance import PRODUCT_DEVIATION

MAX_BUFFER_BYTES = 4 << 30
"""Most bytes of all buffers of a case or benchmark together."""


FRACTIONAL = (Initialisation.NORMAL, Initialisation.UNIFORM)
"""Initialisations with fractions, which no integer type holds."""


def task_problems(
    task: Json, base: str, starter: Starter | None, *, is_part: bool
) -> Iterator[Problem]:
    """All mistakes of the sound fields of a task. Without a starter, names in plans are not
    checked."""
    yield from _name_problems(task, base)
    yield from _buffer_problems(task, base, is_part=is_part)
    yield from _scalar_problems(task, base)
    yield from plan_problems(fields(task, "default_plan"), f"{base}.default_plan", task, starter)
    yield from _case_problems(task, base)
    for kind, values in fields(task, "benchmark").items():
        yield from _sizes_problems(f"{base}.benchmark.{kind}", values, size_names(task))
    yield from _memory_problems(task, base)
    yield from _tolerance_problems(task, base)
    most_scratch = fields(task, "forbid").get("scratch_bytes_above")
    yield from formula_problems(
        f"{base}.forbid.scratch_bytes_above", most_scratch, task, base, least=0
    )


# --- names and buffers ----------------------------------------------------------------------------


def _name_problems(task: Json, base: str) -> Iterator[Problem]:
    places = [(f"{base}.sizes.{name}", name) for name in fields(task, "sizes")]
    places += [
        (f"{base}.buffers[{index}].name", buffer["name"])
        for index, buffer in items(task, "buffers")
        if buffer.get("name")
    ]
    places += [
        (f"{base}.scalars[{index}].name", scalar["name"])
        for index, scalar in items(task, "scalars")
        if scalar.get("name")
    ]
    seen: set[str] = set()
    for path, name in places:
        if name in RESERVED_NAMES:
            yield Problem(path, f"{quote(name)} already means something in launch lines")
        if name in seen:
            yield Problem(path, f"there are two sizes, buffers or scalars named {quote(name)}")
        seen.add(name)


def _scalar_problems(task: Json, base: str) -> Iterator[Problem]:
    for index, scalar in items(task, "scalars"):
        path, dtype = f"{base}.scalars[{index}]", scalar.get("dtype")
        given = {name: scalar.get(name) for name in ("value", "from", "to")}
        numbers = {name: value for name, value in given.items() if value is not None}
        for name, value in numbers.items():
            if dtype and not _holds(dtype, value):
                yield Problem(f"{path}.{name}", f"{dtype} cannot hold {value}")
        if "from" in numbers and "to" in numbers and numbers["from"] > numbers["to"]:
            yield Problem(f"{path}.to", "the largest value is smaller than the smallest one")


def _holds(dtype: str, value: float) -> bool:
    """Whether the type can hold this number: an integer type only whole numbers in its range, a
    float type only finite numbers."""
    if dtype.startswith("float"):
        return abs(value) <= float(np.finfo(dtype).max)
    return float(value).is_integer() and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def _buffer_problems(task: Json, base: str, *, is_part: bool) -> Iterator[Problem]:
    buffers = items(task, "buffers")
    for index, buffer in buffers:
        path = f"{base}.buffers[{index}]"
        for axis, text in enumerate(buffer.get("shape") or []):
            yield from formula_problems(f"{path}.shape[{axis}]", text, task, base)
        yield from _init_problems(f"{path}.init", buffer, is_part=is_part)
        yield from texture_problems(buffer, path)
        yield from tensor_map_problems(buffer, path)
    roles = [buffer.get("role") for _, buffer in buffers]
    if roles and len(roles) == len(task["buffers"]) and all(role == Role.INPUT for role in roles):
        yield Problem(f"{base}.buffers", "there is no output: give one buffer the role output")


def input_functions(spec: Json) -> list[str]:
    """The names of the oracle's functions that fill inputs, also of the parts' inputs."""
    tasks = [spec, *(part for part in fields(spec, "parts").values() if part)]
    buffers = [buffer for task in tasks for _, buffer in items(task, "buffers")]
    return [buffer["function"] for buffer in buffers if buffer.get("function") is not None]


def _init_problems(path: str, buffer: Json, *, is_part: bool) -> Iterator[Problem]:
    role, init, dtype = buffer.get("role"), buffer.get("init"), buffer.get("dtype") or ""
    function = buffer.get("function")
    if role == Role.INPUT and "init" not in buffer and "function" not in buffer:
        yield Problem(
            path,
            "this field is missing: it names how the input is filled"
            f" ({', '.join(Initialisation)}); or give the function that fills it",
        )
    if role == Role.OUTPUT and (init or function) is not None and not is_part:
        given = "init" if init is not None else "function"
        yield Problem(path, f"an output is not filled, but in a part: leave {given} out")
    if init is not None and function is not None:
        yield Problem(path, "the buffer has a function that fills it: remove either of them")
    if init in FRACTIONAL and "int" in dtype:
        yield Problem(path, f"{dtype} cannot hold {init} values: use small_integers or index")
    if init == Initialisation.SMALL_INTEGERS and dtype.startswith("uint"):
        yield Problem(path, f"{dtype} cannot hold negative values: use index")


def formula_problems(
    path: str, text: str | None, task: Json, base: str, *, least: int = 1
) -> Iterator[Problem]:
    """A formula must parse, use only sizes, and be positive (or 0, where that is the `least`) for
    the benchmarks and the public cases."""
    if text is None:
        return
    sizes = size_names(task)
    try:
        formula = parse_expression(text)
    except LanguageError as error:
        yield Problem(path, f"column {error.column}: {describe_error(error)}")
        return
    if unknown := sorted(formula.names - sizes):
        for name in unknown if sizes else ():
            yield Problem(path, unknown_name(name, formula.place_of(name), sizes))
        return
    for where, values in _concrete_sizes(task, base):
        if sizes <= values.keys() and (complaint := _value_problem(formula, values, least)):
            yield Problem(path, f"{complaint} at the sizes of {where}")
            return


def _value_problem(formula: Expression, values: Mapping[str, int], least: int) -> str | None:
    try:
        value = formula.evaluate(values)
    except LanguageError as error:
        return f"column {error.column}: {describe_error(error)}"
    if value >= least:
        return None
    return f"gives {value}, which is {'negative' if least == 0 else 'not positive'},"


def _concrete_sizes(task: Json, base: str) -> Iterator[tuple[str, Mapping[str, int]]]:
    """The sizes of the benchmarks and the public cases, without values of the wrong form."""
    for kind, values in fields(task, "benchmark").items():
        yield f"{base}.benchmark.{kind}", _known(values)
    for index, case in items(fields(task, "cases"), "public"):
        yield f"{base}.cases.public[{index}]", _known(case.get("sizes"))


def _known(values: Json | None) -> dict[str, int]:
    return {name: value for name, value in (values or {}).items() if value is not None}


# --- cases ----------------------------------------------------------------------------------------


def _case_problems(task: Json, base: str) -> Iterator[Problem]:
    cases = fields(task, "cases")
    seen: set[str] = set()
    for kind in ("public", "hidden"):
        for index, case in items(cases, kind):
            path = f"{base}.cases.{kind}[{index}]"
            name = case.get("name")
            if name in seen:
                yield Problem(f"{path}.name", f"there are two cases of the name {quote(str(name))}")
            seen.add(name or f"case {index}")
            yield from _sizes_problems(f"{path}.sizes", case.get("sizes"), size_names(task))


def _sizes_problems(path: str, values: Json | None, sizes: frozenset[str]) -> Iterator[Problem]:
    """Every size of the exercise must be there and no other; ranges must not be empty."""
    if values is None or not sizes:
        return
    for name, choice in values.items():
        if name not in sizes:
            message = f"there is no size {quote(name)}{did_you_mean(name, sorted(sizes))}"
            yield Problem(path + json_path((name,))[1:], message)
        elif isinstance(choice, dict):
            first, last = choice.get("from") or 0, choice.get("to") or math.inf
            if first > last:
                message = f"no value lies from {first} to {last}: from must not be larger than to"
                yield Problem(f"{path}.{name}", message)
    for name in sorted(sizes - values.keys()):
        yield Problem(f"{path}.{name}", "this size is missing")


def _memory_problems(task: Json, base: str) -> Iterator[Problem]:
    """The buffers of a benchmark or a case, at the largest sizes that it may have, must fit the
    memory."""
    sizes = size_names(task)
    places = list(_concrete_sizes(task, base))
    for index, case in items(fields(task, "cases"), "hidden"):
        largest = {name: _largest(choice) for name, choice in (case.get("sizes") or {}).items()}
        places.append((f"{base}.cases.hidden[{index}]", _known(largest)))
    most = f"at most {MAX_BUFFER_BYTES:,} (4 GiB) can be used"
    for path, values in places:
        needed = _buffer_bytes(task, values) if sizes and sizes <= values.keys() else 0
        if needed > MAX_BUFFER_BYTES:
            yield Problem(path, f"the buffers need {needed:,} bytes in all; {most}")


def _largest(choice: Json | list[int | None] | int | None) -> int | None:
    choices = [*choice.values()] if isinstance(choice, dict) else choice
    values = choices if isinstance(choices, list) else [choices]
    return max((value for value in values if value is not None), default=None)


def _buffer_bytes(task: Json, sizes: Mapping[str, int]) -> int:
    """Bytes of the sound buffers together; 0 if a shape has no value, which is reported
    elsewhere."""
    whole = {name: int(value) for name, value in sizes.items()}
    total = 0
    for _, buffer in items(task, "buffers"):
        shape, dtype = buffer.get("shape"), buffer.get("dtype")
        if not shape or None in shape or dtype is None:
            continue
        try:
            extents = [parse_expression(text).evaluate(whole) for text in shape]
        except LanguageError:
            return 0
        total += math.prod(max(extent, 0) for extent in extents) * np.dtype(dtype).itemsize
    return total


# --- tolerance ------------------------------------------------------------------------------------


def _tolerance_problems(task: Json, base: str) -> Iterator[Problem]:
    """float32_sum is derived for float32 outputs of inputs of mean 0 and a known spread."""
    tolerance = task.get("tolerance")
    if not isinstance(tolerance, dict) or "float32_sum" not in tolerance:
        return
    yield from formula_problems(
        f"{base}.tolerance.float32_sum", tolerance["float32_sum"], task, base
    )
    inits = [(f"{base}.buffers[{index}]", buffer) for index, buffer in items(task, "buffers")]
    for kind in ("public", "hidden"):
        cases = items(fields(task, "cases"), kind)
        inits += [(f"{base}.cases.{kind}[{index}]", case) for index, case in cases]
    known = " or ".join(PRODUCT_DEVIATION)
    for path, holder in inits:
        if "int" in (holder.get("dtype") or ""):
            continue  # an index, of which no product is made
        if "function" in holder:
            what = f"is derived for {known} inputs, not for those of a function"
            yield Problem(f"{path}.function", f"the tolerance float32_sum {what}")
        if (init := holder.get("init")) is not None and init not in PRODUCT_DEVIATION:
            what = f"is derived for {known} inputs, not for {init}: use one of these"
            yield Problem(f"{path}.init", f"the tolerance float32_sum {what}")
    for index, buffer in items(task, "buffers"):
        if buffer.get("role") == Role.OUTPUT and buffer.get("dtype") not in ("float32", None):
            message = f"the tolerance float32_sum is for float32 outputs, not for {buffer['dtype']}"
            yield Problem(f"{base}.buffers[{index}].dtype", message)
