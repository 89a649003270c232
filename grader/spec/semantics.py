"""What a spec's JSON schema cannot say: names in formulas and launch lines, sizes of cases, the order and sense of checks.

Every function takes parts of the sound copy that `spec.schema` makes: a value has the right form, or it is None because it had not
(and was complained about), or its field is missing (likewise). So nothing here complains about what follows from an earlier complaint.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from grader.metrics import METRICS, Better
from grader.records import Role
from grader.spec.expressions import FUNCTIONS, Expression, parse_expression
from grader.spec.model import Initialisation
from grader.spec.plans import LaunchLine, parse_launch, parse_scratch
from grader.spec.schema import Json, Problem, json_path
from grader.spec.tokens import LanguageError, did_you_mean, quote, read_tokens

RESERVED_NAMES = frozenset(FUNCTIONS) | {"dim3"}
MAX_BUFFER_BYTES = 4 << 30
"""Most bytes of all buffers of a case or benchmark together."""

METRICS_OF_FLOPS = frozenset({"gflops", "compute_fraction"})
Parsed = TypeVar("Parsed")
_FIELD_OF = {Better.HIGHER: "at_least", Better.LOWER: "at_most"}


@dataclass(frozen=True)
class Starter:
    """What a spec may refer to in the starter: its object-like macros and its kernels."""

    macros: frozenset[str]
    kernels: frozenset[str]


def parse_starter(text: str) -> Starter:
    """The names of a `.cu` file that plans may use, found without a preprocessor."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?!\w|\()", text, flags=re.MULTILINE)
    heads = re.findall(r"__global__([^;{]*)[;{]", text)
    called = (re.findall(r"([A-Za-z_]\w*)\s*\(", head) for head in heads)
    kernels = (name for names in called for name in names if name != "__launch_bounds__")
    return Starter(frozenset(macros), frozenset(kernels))


def semantic_problems(spec: Json, starter: Starter | None) -> Iterator[Problem]:
    """All mistakes of the sound parts of a spec. Without a starter, names in plans are not checked."""
    sizes = frozenset(spec.get("sizes") or ())
    yield from _name_problems(spec)
    yield from _buffer_problems(spec, sizes)
    for field in ("default_plan", "baseline_plan"):
        yield from _plan_problems(field, spec, starter)
    yield from _case_problems(spec, sizes)
    for kind, values in _fields(spec, "benchmark").items():
        yield from _sizes_problems(f"$.benchmark.{kind}", values, sizes)
    yield from _memory_problems(spec, sizes)
    for field in ("useful_bytes", "useful_flops"):
        yield from _formula_problems(f"$.{field}", spec.get(field), spec, sizes)
    yield from _check_problems(spec)


# --- names and buffers ------------------------------------------------------------------------------------


def _name_problems(spec: Json) -> Iterator[Problem]:
    sizes = _fields(spec, "sizes")
    places = [(f"$.sizes.{name}", name) for name in sizes]
    places += [(f"$.buffers[{index}].name", buffer["name"]) for index, buffer in _items(spec, "buffers") if buffer.get("name")]
    seen: set[str] = set()
    for path, name in places:
        if name in RESERVED_NAMES:
            yield Problem(path, f"{quote(name)} already means something in launch lines")
        if name in seen:
            yield Problem(path, f"there are two sizes or buffers of the name {quote(name)}")
        seen.add(name)


def _buffer_problems(spec: Json, sizes: frozenset[str]) -> Iterator[Problem]:
    buffers = _items(spec, "buffers")
    for index, buffer in buffers:
        path = f"$.buffers[{index}]"
        for axis, text in enumerate(buffer.get("shape") or []):
            yield from _formula_problems(f"{path}.shape[{axis}]", text, spec, sizes)
        yield from _init_problems(f"{path}.init", buffer)
    roles = [buffer.get("role") for _, buffer in buffers]
    if roles and len(roles) == len(spec["buffers"]) and all(role == Role.INPUT for role in roles):
        yield Problem("$.buffers", "there is no output: give one buffer the role output")


def _init_problems(path: str, buffer: Json) -> Iterator[Problem]:
    role, init, dtype = buffer.get("role"), buffer.get("init"), buffer.get("dtype") or ""
    if role == Role.INPUT and "init" not in buffer:
        yield Problem(path, f"this field is missing: say how the input is filled ({', '.join(Initialisation)})")
    if role == Role.OUTPUT and init is not None:
        yield Problem(path, "an output is not filled: leave init out")
    if init == Initialisation.NORMAL and "int" in dtype:
        yield Problem(path, f"{dtype} cannot hold normal values: use small_integers or index")
    if init == Initialisation.SMALL_INTEGERS and dtype.startswith("uint"):
        yield Problem(path, f"{dtype} cannot hold negative values: use index")


def _formula_problems(path: str, text: str | None, spec: Json, sizes: frozenset[str]) -> Iterator[Problem]:
    """A formula must parse, use only sizes, and be positive for the benchmarks and the public cases."""
    if text is None:
        return
    try:
        formula = parse_expression(text)
    except LanguageError as error:
        yield Problem(path, f"column {error.column}: {error.message}")
        return
    if unknown := sorted(formula.names - sizes):
        if sizes:
            yield from (Problem(path, _unknown_name(name, text, sizes)) for name in unknown)
        return
    for where, values in _concrete_sizes(spec):
        if sizes <= values.keys() and (complaint := _value_problem(formula, values)):
            yield Problem(path, f"{complaint} at the sizes of {where}")
            return


def _value_problem(formula: Expression, values: Mapping[str, int]) -> str | None:
    try:
        value = formula.evaluate(values)
    except LanguageError as error:
        return f"column {error.column}: {error.message}"
    return None if value > 0 else f"gives {value}, which is not positive,"


def _concrete_sizes(spec: Json) -> Iterator[tuple[str, Mapping[str, int]]]:
    """The sizes of the benchmarks and the public cases, without values of the wrong form."""
    places = [(f"$.benchmark.{kind}", values) for kind, values in _fields(spec, "benchmark").items()]
    places += [(f"$.cases.public[{index}]", case.get("sizes")) for index, case in _items(_fields(spec, "cases"), "public")]
    for path, values in places:
        yield path, {name: value for name, value in (values or {}).items() if value is not None}


# --- plans --------------------------------------------------------------------------------------------------


def _plan_problems(field: str, spec: Json, starter: Starter | None) -> Iterator[Problem]:
    plan = _fields(spec, field)
    known = _plan_names(spec, starter)
    taken = _taken_names(spec)
    for index, text in enumerate(plan.get("scratch") or []):
        path = f"$.{field}.scratch[{index}]"
        buffer = _parsed(parse_scratch, path, text)
        if isinstance(buffer, Problem):
            yield buffer
        if buffer is None or isinstance(buffer, Problem):
            known = None
            continue
        if buffer.name in taken:
            yield Problem(path, f"{quote(buffer.name)} is already the name of {taken[buffer.name]}: give the scratch buffer another")
        taken[buffer.name] = "another scratch buffer"
        yield from _unknown_name_problems(path, text, buffer.shape, known)
        known = known and known | {buffer.name}
    for index, text in enumerate(plan.get("launch") or []):
        path = f"$.{field}.launch[{index}]"
        line = _parsed(parse_launch, path, text)
        if isinstance(line, Problem):
            yield line
        elif line is not None:
            yield from _unknown_name_problems(path, text, line.expressions, known)
            if field == "baseline_plan" and starter is not None:
                yield from _kernel_problems(path, line, starter)


def _taken_names(spec: Json) -> dict[str, str]:
    """The names that a scratch buffer cannot have, and what each is the name of."""
    buffers = (str(buffer["name"]) for _, buffer in _items(spec, "buffers") if buffer.get("name"))
    taken = dict.fromkeys(_fields(spec, "sizes"), "a size")
    return taken | dict.fromkeys(buffers, "a buffer") | dict.fromkeys(RESERVED_NAMES, "a function of launch lines")


def _plan_names(spec: Json, starter: Starter | None) -> frozenset[str] | None:
    """What a plan may name; None where that is not known."""
    names = [buffer.get("name") for _, buffer in _items(spec, "buffers")]
    sizes = spec.get("sizes")
    if starter is None or not sizes or not names or None in names or len(names) < len(spec["buffers"]):
        return None
    return frozenset(sizes) | frozenset(map(str, names)) | starter.macros


def _parsed(parse: Callable[[str], Parsed], path: str, text: str | None) -> Parsed | Problem | None:
    try:
        return None if text is None else parse(text)
    except LanguageError as error:
        return Problem(path, f"column {error.column}: {error.message}")


def _unknown_name_problems(path: str, text: str, expressions: Iterable[Expression], known: frozenset[str] | None) -> Iterator[Problem]:
    if known is None:
        return
    used = frozenset[str]().union(*(expression.names for expression in expressions))
    for name in sorted(used - known):
        yield Problem(path, f"{_unknown_name(name, text, known)} (it is no buffer, no size, and no #define of the starter)")


def _unknown_name(name: str, text: str, known: Iterable[str]) -> str:
    column = next(token.position.column for token in read_tokens(text) if token.text == name)
    return f"column {column}: {quote(name)} is not known here{did_you_mean(name, sorted(known))}"


def _kernel_problems(path: str, line: LaunchLine, starter: Starter) -> Iterator[Problem]:
    name = line.kernel.name.split("::")[-1]
    if name not in starter.kernels:
        column = line.kernel.position.column
        yield Problem(path, f"column {column}: the starter has no kernel {quote(name)}{did_you_mean(name, sorted(starter.kernels))}")


# --- cases ----------------------------------------------------------------------------------------------------


def _case_problems(spec: Json, sizes: frozenset[str]) -> Iterator[Problem]:
    cases = _fields(spec, "cases")
    seen: set[str] = set()
    for kind in ("public", "hidden"):
        for index, case in _items(cases, kind):
            path = f"$.cases.{kind}[{index}]"
            name = case.get("name")
            if name in seen:
                yield Problem(f"{path}.name", f"there are two cases of the name {quote(str(name))}")
            seen.add(name or f"case {index}")
            yield from _sizes_problems(f"{path}.sizes", case.get("sizes"), sizes)


def _sizes_problems(path: str, values: Json | None, sizes: frozenset[str]) -> Iterator[Problem]:
    """Every size of the exercise must be there and no other; ranges must not be empty."""
    if values is None or not sizes:
        return
    for name, choice in values.items():
        if name not in sizes:
            yield Problem(path + json_path((name,))[1:], f"there is no size {quote(name)}{did_you_mean(name, sorted(sizes))}")
        elif isinstance(choice, dict) and (choice.get("from") or 0) > (choice.get("to") or math.inf):
            yield Problem(f"{path}.{name}", f"no value lies from {choice['from']} to {choice['to']}: from must not be larger than to")
    for name in sorted(sizes - values.keys()):
        yield Problem(f"{path}.{name}", "this size is missing")


def _memory_problems(spec: Json, sizes: frozenset[str]) -> Iterator[Problem]:
    """The buffers of a benchmark or a case, at the largest sizes that it may have, must fit the memory."""
    places = list(_concrete_sizes(spec))
    for index, case in _items(_fields(spec, "cases"), "hidden"):
        largest = {name: _largest(choice) for name, choice in (case.get("sizes") or {}).items()}
        places.append((f"$.cases.hidden[{index}]", {name: value for name, value in largest.items() if value is not None}))
    for path, values in places:
        needed = _buffer_bytes(spec, values) if sizes and sizes <= values.keys() else 0
        if needed > MAX_BUFFER_BYTES:
            yield Problem(path, f"the buffers need {needed:,} bytes in all; at most {MAX_BUFFER_BYTES:,} (4 GiB) can be used")


def _largest(choice: Json | list[int | None] | int | None) -> int | None:
    values = choice.values() if isinstance(choice, dict) else choice if isinstance(choice, list) else [choice]
    return max((value for value in values if value is not None), default=None)


def _buffer_bytes(spec: Json, sizes: Mapping[str, int]) -> int:
    """Bytes of the sound buffers together; 0 where a shape has no value, which is complained about elsewhere."""
    whole = {name: int(value) for name, value in sizes.items()}
    total = 0
    for _, buffer in _items(spec, "buffers"):
        shape, dtype = buffer.get("shape"), buffer.get("dtype")
        if not shape or None in shape or dtype is None:
            continue
        try:
            extents = [parse_expression(text).evaluate(whole) for text in shape]
        except LanguageError:
            return 0
        total += math.prod(max(extent, 0) for extent in extents) * np.dtype(dtype).itemsize
    return total


# --- checks ---------------------------------------------------------------------------------------------------


def _check_problems(spec: Json) -> Iterator[Problem]:
    names = [check and check.get("name", check.get("metric")) for check in spec.get("checks") or []]
    for index, check in _items(spec, "checks"):
        path = f"$.checks[{index}]"
        metric = check.get("metric")
        if index == 0 and metric not in ("correctness", None):
            yield Problem(f"{path}.metric", f"the first check must be correctness, not {quote(metric)}")
        if names[index] is not None and names[index] in names[:index]:
            field = "name" if "name" in check else "metric"
            yield Problem(f"{path}.{field}", f"there are two checks of the name {quote(names[index])}; give this one a name of its own")
        yield from _metric_problems(f"{path}.metric", metric, has_flops="useful_flops" in spec)
        yield from _threshold_problems(path, check, metric)
        for gpu, override in _fields(check, "overrides").items():
            yield from _threshold_problems(f"{path}.overrides.{gpu}", override or {"at_least": None}, metric)
        yield from _requires_problems(f"{path}.requires", check, names, index)


def _metric_problems(path: str, metric: str | None, *, has_flops: bool) -> Iterator[Problem]:
    if metric is None:
        return
    if metric not in METRICS:
        hint = did_you_mean(metric, METRICS) or f"; the metrics are {', '.join(METRICS)}"
        yield Problem(path, f"there is no metric {quote(metric)}{hint}")
    elif metric in METRICS_OF_FLOPS and not has_flops:
        yield Problem(path, f"{metric} needs the formula useful_flops, which this spec leaves out")


def _threshold_problems(path: str, threshold: Json, metric: str | None) -> Iterator[Problem]:
    given = [field for field in ("at_least", "at_most") if field in threshold]
    if len(given) != 1:
        yield Problem(path, "give either at_least or at_most" + (", not both" if given else ""))
        return
    field = given[0]
    if metric in METRICS and field != (wanted := _FIELD_OF[METRICS[metric].better]):
        yield Problem(f"{path}.{field}", f"{metric} is better when it is {METRICS[metric].better}: use {wanted}")
    full, zero = threshold[field], threshold.get("zero_at")
    if full is None or zero is None:
        return
    if not (zero < full if field == "at_least" else zero > full):
        side = "below" if field == "at_least" else "above"
        yield Problem(f"{path}.zero_at", f"partial credit runs backwards: {zero} must lie {side} {field} ({full})")


def _requires_problems(path: str, check: Json, names: list[str | None], position: int) -> Iterator[Problem]:
    for index, required in enumerate(check.get("requires") or []):
        if required is None or required in names[:position]:
            continue
        if required == names[position]:
            yield Problem(f"{path}[{index}]", "a check cannot require itself")
        elif required in names:
            yield Problem(f"{path}[{index}]", f"{quote(required)} comes later: a check can only require earlier ones")
        elif None not in names:
            yield Problem(f"{path}[{index}]", f"there is no check {quote(required)}{did_you_mean(required, filter(None, names))}")


# --- shared -----------------------------------------------------------------------------------------------------


def _fields(parent: Json, name: str) -> Json:
    """The object in this field; empty where it is missing or unsound."""
    return parent.get(name) or {}


def _items(parent: Json, name: str) -> list[tuple[int, Json]]:
    """The sound items of the list in this field, with their indices."""
    return [(index, value) for index, value in enumerate(parent.get(name) or []) if value is not None]
