"""Makes the host program of a submission: the file that `grade host` writes, and the expected
values beside it where cpu.c is missing. The template is filled with the exercise's buffers, sizes
and rules, and the submission."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from grader.cpp.declarations import find_macros
from grader.cpp.lexer import find_names
from grader.cpp.tree import Value
from grader.cpp.types import CPP_NAMES
from grader.devices.gpus import read_gpus
from grader.errors import UsageError
from grader.explore.host_launches import (
    ANY_POINTER,
    Scope,
    format_expression,
    format_statement,
    needs_any_pointer,
)
from grader.grading.building import build, launched_kernels, make_program
from grader.grading.mistakes import SubmissionError
from grader.grading.other_exercise import read_kernel_exercise
from grader.grading.tools import find_toolchain
from grader.messages.hidden import describe_mistake
from grader.plumbing.cache import default_cache
from grader.records import SUBMISSION, DeviceBuffer, Failure, Kernel, Role, Submission
from grader.spec.cpu import CPU_FUNCTION, SIZE_TYPE, SUM_TYPE, cpu_parameters, find_cpu_file
from grader.spec.draws import draw_scalars, make_inputs
from grader.spec.exercise import BufferSpec, Case, Exercise, Initialisation, Tolerance
from grader.spec.oracle import load_oracle
from grader.spec.statements import Plan
from grader.spec.tolerance import (
    LARGEST_PRODUCT,
    LAST_PLACES,
    MAX_EXACT_INTEGER,
    PRODUCT_DEVIATION,
    SUM_FACTOR,
)
from grader.submission.source_file import read_submission

NATIVE = "native"
"""nvcc's name for the GPU of the machine that it runs on."""
CHECKED_FOR = "h100"
"""The GPU, by its name in `devices/gpus.json`, for the limits and the machine code of every
plan."""
SIZES = "emulated"
"""The benchmark with the program's default sizes: a loop on the processor verifies them in a second
or so."""
SEED = 1
MARKER = "// Written by `grade host`, which replaces this file when it is asked to write it again."
"""The first line of every host program."""
MAIN_AS = "submission_main"

_HALF = "float16"
_INCLUDE = r"^[ \t]*#[ \t]*include\b.*"
_ENVIRONMENT = Environment(
    variable_start_string="@",
    variable_end_string="@",
    block_start_string="@%",
    block_end_string="%@",
    trim_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
)
_DEFAULT_LINE = "the exercise's own launch line"


@dataclass(frozen=True)
class HostProgram:
    """The parts of a host program. `kernels`: of the plan's launches in order. `cpu`: the text of
    cpu.c; without it, inputs and outputs are read from a file beside the program.
    `submission_path`: the file name of the submission's lines. `file`: the path of the program.
    `program`: its executable."""

    exercise: Exercise
    submission_path: str
    submission_text: str
    plan: Plan
    kernels: Sequence[Kernel]
    buffers: Sequence[DeviceBuffer]
    macros: Mapping[str, Value]
    sizes: Mapping[str, int]
    cpu: str | None
    file: str
    program: str
    arch: str


@dataclass(frozen=True)
class Written:
    """The program's text, and the bytes of its `.expected` file if it needs one."""

    text: str
    expected: bytes | None


def make_host_program(
    folder: Path, submission: Path, target: Path, *, arch: str = NATIVE
) -> Written | Failure:
    """The host program of a submission, for `target`; a Failure where grading would fail before
    anything runs. UsageError and SpecError as of `grade`."""
    exercise = draw_scalars(read_kernel_exercise(folder, "grade host"), SEED)
    source = read_submission(submission)
    if not isinstance(source, Submission):
        return describe_mistake(source)
    info = read_gpus()[CHECKED_FOR].emulated_info
    tools = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))
    sizes = exercise.benchmark[SIZES]
    try:
        built = build(source, exercise, tools, arch=info.arch)
        plan = make_program(SUBMISSION, built, exercise, sizes=sizes, limits=info.limits)
        launched = launched_kernels(built, sizes)
    except SubmissionError as error:
        return error.failure
    drawn = all(each.function is None for each in exercise.buffers) and not exercise.scalars
    cpu = find_cpu_file(exercise) if drawn else None  # what the oracle fills is read from a file
    program = HostProgram(
        exercise=exercise,
        submission_path=str(submission),
        submission_text=source.text,
        plan=built.plan,
        kernels=launched,
        buffers=plan.buffers,
        macros=built.macros,
        sizes=sizes,
        cpu=cpu.read_text(encoding="utf-8") if cpu is not None else None,
        file=str(target),
        program=target.stem,
        arch=arch,
    )
    return Written(format_program(program), _compute_expected(exercise) if cpu is None else None)


def check_replaceable(target: Path, *, force: bool) -> None:
    """UsageError where the file exists and is not a host program, unless `force`."""
    if force or not target.exists():
        return
    try:
        with target.open(encoding="utf-8", errors="replace") as file:
            ours = file.readline().rstrip("\n") == MARKER
    except OSError as error:
        raise UsageError(
            f"{target} cannot be read: {error.strerror}", "Name another file with -o."
        ) from error
    if not ours:
        raise UsageError(
            f"{target} is there already, and `grade host` did not write it",
            "Name another file, or use --force to replace it.",
        )


def expected_file(target: Path) -> Path:
    """The file beside the program with the inputs and outputs that it cannot compute."""
    return target.with_suffix(".expected")


def next_commands(target: Path, submission: Path, *, arch: str) -> tuple[str, ...]:
    """The next shell commands, in order, for the folder in which `grade host` ran."""
    program = target.with_suffix("")
    run = shlex.quote(str(program) if program.is_absolute() else f"./{program}")
    profile = shlex.quote(submission.stem)
    files = f"{shlex.quote(str(program))} {shlex.quote(str(target))}"
    return (
        f"nvcc -O3 -std=c++17 -lineinfo -arch={arch} -o {files}",
        run,
        f"ncu --set full -f -o {profile} {run} --once",
        f"ncu --import {profile}.ncu-rep --page details",
        f"compute-sanitizer {run} --once",
        f"compute-sanitizer --tool racecheck {run} --once",
    )


def _compute_expected(exercise: Exercise) -> bytes:
    """Inputs, then outputs, in the order of the spec and the machine's byte order."""
    case = Case("host program", exercise.benchmark[SIZES], hidden=False)
    inputs = make_inputs(exercise, case, SEED)
    outputs = load_oracle(exercise)(inputs, case.sizes)
    ordered = [inputs[buffer.name] for buffer in exercise.buffers if buffer.role is Role.INPUT]
    ordered += [outputs[buffer.name] for buffer in exercise.buffers if buffer.role is Role.OUTPUT]
    return b"".join(array.tobytes() for array in ordered)


def format_program(program: HostProgram) -> str:
    """The whole file."""
    template = _read_template("host.cu")
    fields = _fields(program, taken=find_names(re.sub(r"//.*|@%.*", "", template)))
    head, tail = map(_ENVIRONMENT.from_string, template.split("@submission@"))
    before = head.render(fields)
    # The submission may have a `main` of its own.
    has_main = "main" in find_names(program.submission_text)
    if has_main:
        before += f"#define main {MAIN_AS}\n"
    before += f"#line 1 {_quote(program.submission_path)}\n"
    # Of the two line ends a backslash at the end of the submission takes one.
    before += program.submission_text.rstrip("\n") + "\n\n"
    if has_main:
        before += "#undef main\n"
    undefined = _undefine(program, tail.render(fields, undefined=""))
    number = before.count("\n") + 2
    after = tail.render(fields, undefined=undefined)
    return f"{before}#line {number} {_quote(program.file)}{after}"


def _read_template(name: str) -> str:
    template = resources.files("grader.explore") / "templates" / f"{name}.template"
    return template.read_text(encoding="utf-8")


@cache
def read_fills() -> Mapping[str, str]:
    """The functions that fill an input, by name."""
    parts = re.split(r"^//@ (\w+)\n", _read_template("host_fills.cu"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _quote(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _undefine(program: HostProgram, tail: str) -> str:
    """Lines that undefine macros of the submission, not of its plan, that change the rest."""
    defined = dict.fromkeys(macro.name for macro in find_macros(program.submission_text))
    in_plan = program.plan.names - program.sizes.keys()
    changing = find_names(tail) - in_plan - {"CHECK"}
    lines = [f"#undef {name}\n" for name in defined if name in changing]
    title = "// Macros of the submission whose names mean something else below.\n"
    return f"{title}{''.join(lines)}\n" if lines else ""


def _fields(program: HostProgram, taken: frozenset[str]) -> dict[str, object]:
    """The values of the template."""
    exercise, sizes, macros = program.exercise, program.sizes, program.macros
    has_cpu = program.cpu is not None
    inputs = [buffer for buffer in exercise.buffers if buffer.role is Role.INPUT]
    outputs = [buffer for buffer in exercise.buffers if buffer.role is Role.OUTPUT]
    buffers = {buffer.name: buffer for buffer in program.buffers}
    expressions = {buffer.name: buffer.shape for buffer in exercise.buffers}
    expressions |= {buffer.name: buffer.shape for buffer in program.plan.scratch}
    shapes = {
        name: [format_expression(extent, macros) for extent in shape]
        for name, shape in expressions.items()
    }
    pairs = zip(program.plan.launches, program.kernels, strict=True)
    rates = {"GB/s of useful bytes": exercise.useful_bytes, "GFLOP/s": exercise.useful_flops}
    return {
        "marker": MARKER,
        "path": program.submission_path,
        "exercise": exercise,
        "arch": program.arch,
        "program": program.program,
        "usage": _usage(program),
        "dtypes": {buffer.dtype for buffer in program.buffers},
        "elements": CPP_NAMES,
        "sizes": sizes,
        "settable": [f"&options.{name}" for name in sizes] if has_cpu else [],
        "buffers": program.buffers,
        "inputs": inputs,
        "outputs": outputs,
        "shapes": shapes,
        "extents": {name: " * ".join(map(_parenthesised, each)) for name, each in shapes.items()},
        "init_of": _init_of,
        "fills": [read_fills()[f"fill_{init}"] for init in dict.fromkeys(map(_init_of, inputs))],
        "has_half_outputs": any(buffer.dtype == _HALF for buffer in outputs),
        "any_pointer": ANY_POINTER,
        "has_any_pointer": any(needs_any_pointer(*pair, buffers) for pair in pairs),
        "plan_parameters": [
            *(f"{CPP_NAMES[buffer.dtype]} *{buffer.name}" for buffer in program.buffers),
            *(f"Size {name}" for name in sizes),
        ],
        "plan_arguments": [*buffers, *sizes],
        "launches": list(_launches(program, taken)),
        "rates": {
            unit: format_expression(formula, macros)
            for unit, formula in rates.items()
            if formula is not None
        },
        **_cpu_fields(program),
        **_tolerance(exercise, macros),
    }


def _usage(program: HostProgram) -> str:
    if program.cpu is None:
        return "[--once] [--no-verify]"
    sizes = " ".join(f"[{name}" for name in program.sizes) + "]" * len(program.sizes)
    return f"{sizes} [--once] [--no-verify]"


def _cpu_fields(program: HostProgram) -> dict[str, object]:
    """cpu.c in two parts, its includes and the rest, and the arguments of its function."""
    text = program.cpu or ""
    return {
        "has_cpu": program.cpu is not None,
        "cpu_includes": "".join(re.findall(rf"{_INCLUDE}\n", text, re.MULTILINE)),
        "cpu_code": re.sub(rf"{_INCLUDE}\n\n?", "", text, flags=re.MULTILINE),
        "has_sums": SUM_TYPE in text,
        "sum_type": SUM_TYPE,
        "cpu_function": CPU_FUNCTION,
        "cpu_arguments": list(map(_cpu_argument, cpu_parameters(program.exercise))),
    }


def _init_of(buffer: BufferSpec) -> Initialisation:
    return buffer.init or Initialisation.NORMAL


def _launches(program: HostProgram, taken: frozenset[str]) -> Iterator[str]:
    buffers = {buffer.name: buffer for buffer in program.buffers}
    kernels = dict(zip(program.plan.launches, program.kernels, strict=True))
    scope = Scope(program.macros, buffers, taken, program.submission_text, kernels)
    for scalar in program.exercise.scalars:
        yield f"const {CPP_NAMES[scalar.dtype]} {scalar.name} = {scalar.plain!r};"
    for statement in program.plan.statements:
        own = statement.line is not None
        yield f"// line {statement.line} of the submission" if own else f"// {_DEFAULT_LINE}"
        yield from format_statement(statement, scope)


def _parenthesised(text: str) -> str:
    return text if re.fullmatch(r"\w+|\w+\([^()]*\)", text) else f"({text})"


def _cpu_argument(parameter: BufferSpec | str) -> str:
    if isinstance(parameter, str):
        return f"static_cast<{SIZE_TYPE}>({parameter})"
    return f"{'expected' if parameter.role is Role.OUTPUT else 'host'}_{parameter.name}.data()"


def _tolerance(exercise: Exercise, macros: Mapping[str, Value]) -> dict[str, object]:
    """The grader's own tolerance (`spec.tolerance`), for all sizes of the program."""
    rule = exercise.tolerance
    if isinstance(rule, Tolerance):
        return {"tolerance": rule}
    factors = [
        each for each in exercise.buffers if each.role is Role.INPUT and "int" not in each.dtype
    ]
    kinds = set(map(_init_of, factors))
    exact = kinds <= LARGEST_PRODUCT.keys()
    return {
        "tolerance": rule,
        "deviation": max(PRODUCT_DEVIATION[kind] for kind in kinds),
        "terms": format_expression(rule.terms, macros),
        "largest": max(LARGEST_PRODUCT[kind] for kind in kinds) if exact else None,
        "exact": "exact ? 0.0 : " if exact else "",
        "most_exact": MAX_EXACT_INTEGER,
        "sum_factor": SUM_FACTOR,
        "last_places": LAST_PLACES,
    }
