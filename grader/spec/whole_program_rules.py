"""Rules of the `program` of a spec beyond the JSON schema, and its `WholeProgram`.

As in `spec.semantics`, the functions take parts of the sound copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from grader.cpp.cursor import LanguageError, did_you_mean, quote
from grader.cpp.expressions import parse_expression
from grader.messages.syntax import describe_error
from grader.metrics import CHECKED_CASES, CORRECTNESS, METRICS
from grader.records.predictions import PREDICTIONS
from grader.spec.exercise import Case, HiddenCase
from grader.spec.schema import Json, Problem, fields, items
from grader.spec.whole_program import (
    FILES_FOLDER,
    PLACEHOLDER,
    ExpectedFrom,
    LeastWork,
    ProgramInput,
    RunSpec,
    WholeProgram,
)

OF_KERNELS = (
    *("sizes", "buffers", "scalars", "default_plan", "baseline_plan", "comparisons", "parts"),
    *("cases", "forbid", "benchmark", "useful_bytes", "useful_flops", "units", "what_if"),
)
"""Fields of exercises that grade kernels."""
_NOT_FOR_PROGRAMS = "grades kernels; this exercise grades programs"


def whole_program_problems(spec: Json, folder: Path) -> Iterator[Problem]:
    """All mistakes of the sound parts of the `program` of a spec."""
    program = fields(spec, "program")
    for field in OF_KERNELS:
        if field in spec:
            yield Problem(f"$.{field}", "this field belongs to exercises that grade kernels")
    yield from _file_problems(program, folder)
    yield from _run_problems(program)
    for index, check in items(spec, "checks"):
        yield from _check_problems(check, f"$.checks[{index}]")


def _file_problems(program: Json, folder: Path) -> Iterator[Problem]:
    for field in ("supplied", "submit"):
        for index, name in enumerate(program.get(field) or []):
            if name is not None and _leaves(name):
                yield Problem(f"$.program.{field}[{index}]", "must be a path below the folder")
    supplied = program.get("supplied") or []
    for index, name in enumerate(supplied):
        if name and not _leaves(name) and not (folder / FILES_FOLDER / name).is_file():
            path = f"$.program.supplied[{index}]"
            yield Problem(path, f"there is no file {FILES_FOLDER}/{name} in the exercise")
    for index, name in enumerate(program.get("submit") or []):
        if name is not None and name in supplied:
            message = f"{quote(name)} is a supplied file, too"
            yield Problem(f"$.program.submit[{index}]", message)


def _leaves(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or "\\" in name


def _run_problems(program: Json) -> Iterator[Problem]:
    seen: set[str] = set()
    runs = fields(program, "runs")
    places = [
        (f"$.program.runs.{kind}[{index}]", run)
        for kind in ("public", "hidden")
        for index, run in items(runs, kind)
    ]
    for path, run in places:
        name = str(run.get("name"))
        if name in seen:
            yield Problem(f"{path}.name", f"there are two runs named {quote(name)}")
        seen.add(name)
    measured = fields(program, "measured")
    for path, run in (*places, ("$.program.measured", measured)):
        yield from _placeholder_problems(path, run)
        if program.get("expected") == ExpectedFrom.SPEC and "stdout" not in run:
            yield Problem(f"{path}.stdout", "this field is missing: the expected output")
        if program.get("expected") not in (ExpectedFrom.SPEC, None) and "stdout" in run:
            message = "give the expected output here, or by the oracle or reference, not both"
            yield Problem(f"{path}.stdout", message)
    for name, text in fields(program, "least").items():
        yield from _formula_problems(f"$.program.least.{name}", text, measured)


def _placeholder_problems(path: str, run: Json) -> Iterator[Problem]:
    sizes = fields(run, "sizes")
    texts = [(f"{path}.args[{i}]", text) for i, text in enumerate(run.get("args") or [])]
    texts += [(f"{path}.stdin", run.get("stdin"))]
    texts += [(f"{path}.files.{name}", text) for name, text in fields(run, "files").items()]
    for place, text in texts:
        for name in PLACEHOLDER.findall(text or ""):
            if name not in sizes:
                yield Problem(place, f"there is no size {quote(name)}{did_you_mean(name, sizes)}")


def _formula_problems(path: str, text: str | None, measured: Json) -> Iterator[Problem]:
    try:
        if text is not None:
            parse_expression(text).evaluate(fields(measured, "sizes"))
    except LanguageError as error:
        yield Problem(path, f"column {error.column}: {describe_error(error)}")


def _check_problems(check: Json, path: str) -> Iterator[Problem]:
    metric = check.get("metric")
    row = METRICS.get(metric or "")
    known = metric in (None, CORRECTNESS, CHECKED_CASES, PREDICTIONS)
    if row and not (known or row.count or row.program):
        yield Problem(f"{path}.metric", f"{metric} {_NOT_FOR_PROGRAMS}")
    for field in ("relative_to", "part"):
        if field in check:
            yield Problem(f"{path}.{field}", f"this field {_NOT_FOR_PROGRAMS}")
    if "kernel" in check and row and row.count is None:
        yield Problem(f"{path}.kernel", f"{metric} belongs to the whole program")


def build_whole_program(program: Json) -> WholeProgram:
    """The program of a sound spec."""
    runs = [*program["runs"]["public"], *program["runs"]["hidden"]]
    measured = program["measured"]
    least = {name: parse_expression(text) for name, text in program.get("least", {}).items()}
    return WholeProgram(
        tuple(program["supplied"]),
        tuple(program["submit"]),
        tuple(program.get("nvcc", [])),
        {run["name"]: _build_run(run) for run in runs},
        ExpectedFrom(program["expected"]),
        _build_run(measured),
        {name: int(value) for name, value in measured.get("sizes", {}).items()},
        tuple(program.get("outputs", [])),
        LeastWork(**least),
    )


def _build_run(run: Json) -> RunSpec:
    given = ProgramInput(tuple(run.get("args", [])), run.get("stdin", ""), run.get("files", {}))
    return RunSpec(given, int(run.get("exit_code", 0)), run.get("stdout"))


def build_cases(program: Json) -> tuple[tuple[Case, ...], tuple[HiddenCase, ...]]:
    """The public and the hidden cases: names and sizes of the runs."""
    public = tuple(
        Case(run["name"], {name: int(size) for name, size in run.get("sizes", {}).items()}, False)
        for run in program["runs"]["public"]
    )
    hidden = tuple(
        HiddenCase(run["name"], {n: build_choice(c) for n, c in run.get("sizes", {}).items()})
        for run in program["runs"]["hidden"]
    )
    return public, hidden


def build_choice(choice: int | list[int] | dict[str, int]) -> range | tuple[int, ...]:
    """The values that a size is drawn from."""
    if isinstance(choice, dict):
        return range(int(choice["from"]), int(choice["to"]) + 1)
    return tuple(map(int, choice if isinstance(choice, list) else [choice]))
