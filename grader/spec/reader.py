"""Read an exercise's folder into an `Exercise`; all its mistakes at once, each with its file and
JSON path."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from grader.cpp.cursor import did_you_mean
from grader.cpp.declarations import find_constants, find_kernels, find_macros
from grader.cpp.expressions import parse_expression
from grader.errors import SpecError, SpecProblem
from grader.records import Role, WhatIfMode
from grader.spec.exercise import (
    Atomics,
    BufferSpec,
    Case,
    CheckSpec,
    ComparedWith,
    ConditionalHint,
    Exercise,
    Float32Sum,
    Forbidden,
    HiddenCase,
    Initialisation,
    InputFunction,
    Limits,
    Part,
    PredictionQuestion,
    ScalarSpec,
    Threshold,
    Tolerance,
    Units,
)
from grader.spec.launch_lines import parse_scratch
from grader.spec.plan_rules import Starter
from grader.spec.program import PlanLine, parse_program
from grader.spec.public import ORACLE_FILE as ORACLE_FILE
from grader.spec.public import SPEC_FILE as SPEC_FILE
from grader.spec.schema import Json, fields, schema_problems
from grader.spec.semantics import check_problems, semantic_problems
from grader.spec.statements import Plan
from grader.spec.task_rules import input_functions
from grader.spec.texture_rules import read_tensor_map, read_texture
from grader.spec.whole_program import ExpectedFrom
from grader.spec.whole_program_rules import (
    build_cases,
    build_choice,
    build_whole_program,
    whole_program_problems,
)

ORACLE_FUNCTION = "expected"
"""Of the exercise itself; a part's function is `expected_<part>`."""

Built = TypeVar("Built")


def read_exercise(folder: Path) -> Exercise:
    """The exercise in `folder` (`<root>/exercises/<id>`); its starter is `<root>/starter/<id>.cu`.
    SpecError lists every mistake."""
    _check_folder(folder)
    document = _read_json(folder / SPEC_FILE)
    starter_path = starter_of(folder)
    violations, sound = schema_problems(document)
    functions: list[str] = []
    fillers: Sequence[str] = ()
    if "program" in sound:
        starter_path = _first_file(starter_path, sound)
        violations += [*whole_program_problems(sound, folder), *check_problems(sound)]
        if (sound["program"] or {}).get("expected") == ExpectedFrom.ORACLE:
            functions = [ORACLE_FUNCTION]
    else:
        violations += semantic_problems(sound, _read_starter(starter_path))
        functions = [ORACLE_FUNCTION, *map(oracle_function, sound.get("parts") or ())]
        fillers = input_functions(sound)
    problems = [SpecProblem(str(folder / SPEC_FILE), *violation) for violation in violations]
    arguments = "args, stdin, files" if "program" in sound else "inputs, sizes"
    problems += _file_problems(folder, starter_path, functions, fillers, arguments)
    if problems:
        raise SpecError(problems)
    return _build_exercise(sound, folder, starter_path)


def starter_of(folder: Path) -> Path:
    """The path of the starter of the exercise in `folder`."""
    return root_of(folder) / "starter" / f"{_id_of(folder)}.cu"


def _first_file(source: Path, spec: Json) -> Path:
    """The first file of a program: several files lie in a folder of the exercise's name."""
    names = fields(spec, "program").get("submit") or []
    return source.with_suffix("") / str(names[0]) if len(names) > 1 else source


def oracle_function(part: str) -> str:
    """The name of the oracle's function for a part."""
    return f"{ORACLE_FUNCTION}_{part}"


def root_of(folder: Path) -> Path:
    """The folder that holds `exercises/`, `starter/` and `solutions/`."""
    return folder.absolute().parent.parent


def _id_of(folder: Path) -> str:
    return folder.absolute().name


# --- the files ------------------------------------------------------------------------------------


def _check_folder(folder: Path) -> None:
    if (folder / SPEC_FILE).is_file():
        return
    if not folder.exists():
        what = "there is no such folder"
    elif not folder.is_dir():
        what = "it is a file; name the folder of an exercise"
    else:
        what = f"it holds no {SPEC_FILE}"
    inside, beside = (
        sorted(path.parent for path in place.glob(f"*/{SPEC_FILE}"))
        for place in (folder, folder.parent)
    )
    found = inside or beside
    hint = did_you_mean(_id_of(folder), [path.name for path in found])
    nearby = f"An exercise is a folder with a {SPEC_FILE}."
    if found:
        nearby = f"Exercises nearby: {', '.join(map(str, found))}."
    raise _spec_error(folder, f"not an exercise: {what}{hint}", nearby)


def _read_json(path: Path) -> object:
    try:
        return json.loads(
            path.read_text(encoding="utf-8"),
            object_pairs_hook=_unique_fields,
            parse_constant=_parse_finite,
            parse_float=_parse_finite,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _spec_error(path, f"{place}: not JSON: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise _spec_error(path, f"not UTF-8: byte {error.start} cannot be decoded") from None
    except (ValueError, RecursionError) as error:
        raise _spec_error(path, f"not JSON that can be used: {error}") from None
    except OSError as error:
        raise _spec_error(path, f"cannot be read: {error.strerror}") from None


def _unique_fields(pairs: Sequence[tuple[str, Any]]) -> Json:
    fields: Json = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the field '{name}' is given twice in one object")
        fields[name] = value
    return fields


def _parse_finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is no finite number")
    return value


def _read_starter(path: Path) -> Starter | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    macros = frozenset(macro.name for macro in find_macros(text) if not macro.is_function)
    return Starter(macros | find_constants(text), frozenset(find_kernels(text)))


def _file_problems(
    folder: Path,
    starter: Path,
    functions: Sequence[str],
    fillers: Sequence[str],
    arguments: str,
) -> Iterator[SpecProblem]:
    oracle = folder / ORACLE_FILE
    if functions and not oracle.is_file():
        yield SpecProblem(str(oracle), "", "this file is missing: it computes the expected outputs")
    elif functions:
        yield from _oracle_problems(oracle, functions, fillers, arguments)
    if not starter.is_file():
        message = "this file is missing: students start from it, and it holds the naive baseline"
        yield SpecProblem(str(starter), "", message)


def _oracle_problems(
    path: Path, functions: Sequence[str], fillers: Sequence[str], arguments: str
) -> Iterator[SpecProblem]:
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        yield SpecProblem(str(path), "", f"line {error.lineno}, column {error.offset}: {error.msg}")
        return
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    calls = {name: f"{name}({arguments})" for name in functions}
    calls |= {name: f"{name}(rng, shape, sizes)" for name in fillers}
    for name, call in calls.items():
        if name not in defined:
            yield SpecProblem(str(path), "", f"there is no function {call}")


def _spec_error(path: Path, message: str, advice: str = "") -> SpecError:
    error = SpecError([SpecProblem(str(path), "", message)])
    error.advice = advice or error.advice
    return error


# --- from a sound document to an exercise ---------------------------------------------------------


def _build_exercise(spec: Json, folder: Path, starter: Path) -> Exercise:
    if "program" in spec:
        return _build_program_exercise(spec, folder, starter)
    reference = root_of(folder) / "solutions" / f"{_id_of(folder)}.cu"
    return Exercise(
        **_build_task(spec, folder / ORACLE_FILE),
        **_build_common(spec, folder, starter),
        baseline_plan=_build_plan(spec["baseline_plan"]),
        reference_source=reference if reference.is_file() else None,
        benchmark={kind: _build_sizes(sizes) for kind, sizes in spec["benchmark"].items()},
        useful_bytes=parse_expression(spec["useful_bytes"]),
        useful_flops=_optional(parse_expression, spec, "useful_flops"),
        units=Units(spec.get("units", Units.FP32)),
        what_if=WhatIfMode(spec.get("what_if", WhatIfMode.OFF)),
        comparisons={name: _build_plan(plan) for name, plan in spec.get("comparisons", {}).items()},
        parts=tuple(
            Part(name=name, **_build_task(part, folder / ORACLE_FILE))
            for name, part in spec.get("parts", {}).items()
        ),
    )


def _build_program_exercise(spec: Json, folder: Path, starter: Path) -> Exercise:
    """An exercise that grades programs: the fields of kernels are empty."""
    program = spec["program"]
    reference = _first_file(root_of(folder) / "solutions" / f"{_id_of(folder)}.cu", spec)
    public, hidden = build_cases(program)
    return Exercise(
        **_build_common(spec, folder, starter),
        title=spec["title"],
        size_names=(),
        buffers=(),
        default_plan=Plan(()),
        public_cases=public,
        hidden_cases=hidden,
        tolerance=_build_tolerance(program.get("tolerance", "exact")),
        hidden_left_out=program["runs"].get("hidden_left_out", False),
        baseline_plan=Plan(()),
        reference_source=reference if reference.is_file() else None,
        benchmark={},
        useful_bytes=parse_expression("0"),
        useful_flops=None,
        program=build_whole_program(program),
    )


def _build_common(spec: Json, folder: Path, starter: Path) -> Json:
    """The fields that exercises of kernels and of programs have in common."""
    return {
        "id": _id_of(folder),
        "folder": folder,
        "baseline_source": starter,
        # An older spec may have warp_instructions, without effect.
        "limits": Limits(**{k: v for k, v in spec["limits"].items() if k != "warp_instructions"}),
        "checks": tuple(_build_check(check) for check in spec["checks"]),
        "questions": tuple(PredictionQuestion(**each) for each in spec.get("predictions", [])),
    }


def _build_task(task: Json, oracle: Path) -> Json:
    """The fields of a `Task`, which an exercise and its parts have in common."""
    return {
        "title": task["title"],
        "size_names": tuple(task["sizes"]),
        "buffers": tuple(_build_buffer(buffer, oracle) for buffer in task["buffers"]),
        "default_plan": _build_plan(task["default_plan"]),
        "public_cases": tuple(_build_public_case(case) for case in task["cases"]["public"]),
        "hidden_cases": tuple(_build_hidden_case(case) for case in task["cases"]["hidden"]),
        "tolerance": _build_tolerance(task["tolerance"]),
        "forbid": _build_forbidden(task.get("forbid", {})),
        "scalars": tuple(map(_build_scalar, task.get("scalars", []))),
        "hidden_left_out": task["cases"].get("hidden_left_out", False),
    }


def _build_scalar(scalar: Json) -> ScalarSpec:
    low, high = scalar.get("from"), scalar.get("to")
    value = float(scalar["value"] if low is None else low)
    return ScalarSpec(scalar["name"], scalar["dtype"], value, low, high)


def _build_forbidden(forbid: Json) -> Forbidden:
    return Forbidden(
        _optional(parse_expression, forbid, "scratch_bytes_above"),
        _optional(int, forbid, "device_variable_bytes_above"),
        _optional(Atomics, forbid, "atomics"),
        tuple(forbid.get("headers", [])),
    )


def _optional(build: Callable[[Any], Built], fields: Json, name: str) -> Built | None:
    return build(fields[name]) if name in fields else None


def _build_tolerance(tolerance: Json | str) -> Tolerance | Float32Sum:
    if isinstance(tolerance, str):
        return Tolerance()
    terms = _optional(parse_expression, tolerance, "float32_sum")
    return Tolerance(**tolerance) if terms is None else Float32Sum(terms)


def _build_buffer(buffer: Json, oracle: Path) -> BufferSpec:
    shape = tuple(map(parse_expression, buffer["shape"]))
    init = _optional(Initialisation, buffer, "init")
    function = _optional(partial(InputFunction, oracle), buffer, "function")
    return BufferSpec(
        buffer["name"],
        buffer["dtype"],
        shape,
        Role(buffer["role"]),
        init,
        read_texture(buffer),
        function,
        read_tensor_map(buffer),
    )


def _build_plan(plan: Json) -> Plan:
    lines = tuple(plan["launch"])
    statements = parse_program([PlanLine(text, None, 1) for text in lines])
    return Plan(statements, tuple(map(parse_scratch, plan.get("scratch", []))), lines)


def _build_public_case(case: Json) -> Case:
    init = _optional(Initialisation, case, "init")
    return Case(case["name"], _build_sizes(case["sizes"]), False, init)


def _build_hidden_case(case: Json) -> HiddenCase:
    choices = {name: build_choice(choice) for name, choice in case["sizes"].items()}
    return HiddenCase(case["name"], choices, _optional(Initialisation, case, "init"))


def _build_sizes(sizes: Json) -> dict[str, int]:
    """JSON Schema takes 32.0 for an integer."""
    return {name: int(value) for name, value in sizes.items()}


def _build_check(check: Json) -> CheckSpec:
    overrides = check.get("overrides", {})
    optional = {
        name: check[name]
        for name in ("headline", "bonus", "hint", "part", "kernel")
        if name in check
    }
    return CheckSpec(
        name=check["name"] if "name" in check else check["metric"],
        title=check["title"],
        metric=check["metric"],
        points=check["points"],
        threshold=_build_threshold(check),
        requires=tuple(check.get("requires", [])),
        excluded_on=tuple(check.get("excluded_on", [])),
        hints=tuple(ConditionalHint(**each) for each in check.get("hints", [])),
        overrides={gpu: _build_threshold(own) for gpu, own in overrides.items()} or None,
        **optional,
    )


def _build_threshold(fields: Json) -> Threshold:
    figures = {name: fields.get(name) for name in ("at_least", "at_most", "zero_at")}
    return Threshold(**figures, relative_to=_optional(ComparedWith, fields, "relative_to"))
