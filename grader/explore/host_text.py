"""The text of a host program: the template, filled with the exercise's buffers, sizes and rules,
and the submission."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from grader.cpp.declarations import find_macros
from grader.cpp.lexer import find_names
from grader.cpp.tree import Value
from grader.cpp.types import CPP_NAMES
from grader.explore.host_launches import (
    ANY_POINTER,
    Scope,
    format_expression,
    format_statement,
    needs_any_pointer,
)
from grader.records import DeviceBuffer, Kernel, Role
from grader.spec.cpu import CPU_FUNCTION, SIZE_TYPE, SUM_TYPE, cpu_parameters
from grader.spec.exercise import BufferSpec, Exercise, Initialisation, Tolerance
from grader.spec.statements import Plan
from grader.spec.tolerance import (
    LARGEST_PRODUCT,
    LAST_PLACES,
    MAX_EXACT_INTEGER,
    PRODUCT_DEVIATION,
    SUM_FACTOR,
)

MARKER = "// Written by `grade host`, which replaces this file when it is asked to write it again."
"""The first line of every host program."""
MAIN_AS = "submission_main"

_HALF = "float16"
_DEFAULT_LINE = "the exercise's own launch line"


@dataclass(frozen=True)
class HostProgram:
    """The parts of a host program.

    `launches` are the plan's kernels in order; `buffers` are the exercise's, then the scratch
    buffers of the plan. `cpu` is the text of the exercise's cpu.c; without it, inputs and outputs
    are read from a file beside the program. `submission_path` is the name for the submission's
    lines in compilers' messages, `file` the host program's own path, `program` the name of its
    executable.
    """

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


def format_program(program: HostProgram) -> str:
    """The whole file."""
    template = _read_template("host.cu")
    head, _, tail = template.partition("@submission@")
    head = _fill(head, _head_fields(program))
    fields = _tail_fields(program, taken=find_names(re.sub(r"//.*", "", template)))
    undefined = _undefine(program, _fill(tail, fields | {"undefined": ""}))
    tail = _fill(tail, fields | {"undefined": undefined})
    before = f"{_rename_main(program.submission_text)}#line 1 {_quote(program.submission_path)}\n"
    # Of the two line ends a backslash at the end of the submission takes one.
    after = program.submission_text.rstrip("\n") + "\n\n"
    if MAIN_AS in before:
        after += "#undef main\n"
    number = (head + before + after).count("\n") + 2
    return f"{head}{before}{after}#line {number} {_quote(program.file)}{tail}"


def _read_template(name: str) -> str:
    template = resources.files("grader.explore") / "templates" / f"{name}.template"
    return template.read_text(encoding="utf-8")


@cache
def read_parts() -> Mapping[str, str]:
    """The parts that only some programs need, or that occur several times, by name."""
    parts = re.split(r"^//@ (\w+)\n", _read_template("host_parts.cu"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _part(part: str, **fields: object) -> str:
    return _fill(read_parts()[part], fields)


def _fill(template: str, fields: Mapping[str, object]) -> str:
    return re.sub(r"@(\w+)@", lambda match: str(fields[match[1]]), template)


def _quote(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# --- before and around the submission -------------------------------------------------------------


def _head_fields(program: HostProgram) -> dict[str, object]:
    halves = any(buffer.dtype == _HALF for buffer in program.buffers)
    return {
        "marker": MARKER,
        "submission_name": program.submission_path,
        "exercise": program.exercise.id,
        "arch": program.arch,
        "program": program.program,
        "usage": _usage(program),
        "includes": "#include <cuda_fp16.h>\n" if halves else "",
        "cpu": _format_cpu(program.cpu) if program.cpu is not None else "",
    }


def _usage(program: HostProgram) -> str:
    if program.cpu is None:
        return "[--once] [--no-verify]"
    sizes = " ".join(f"[{name}" for name in program.sizes) + "]" * len(program.sizes)
    return f"{sizes} [--once] [--no-verify]"


def _format_cpu(text: str) -> str:
    """cpu.c in a namespace, and its includes before that."""
    includes = re.findall(r"^[ \t]*#[ \t]*include\b.*\n", text, re.MULTILINE)
    code = re.sub(r"^[ \t]*#[ \t]*include\b.*\n\n?", "", text, flags=re.MULTILINE)
    sums, end = "", ""
    if SUM_TYPE in text:
        sums, end = _part("double_sums", sum_type=SUM_TYPE), f"\n#undef {SUM_TYPE}"
    return _part("cpu", includes="".join(includes), sums=sums, code=code, end=end)


def _rename_main(text: str) -> str:
    """A macro that renames a `main` of the submission, if it may have one."""
    return f"#define main {MAIN_AS}\n" if "main" in find_names(text) else ""


def _undefine(program: HostProgram, tail: str) -> str:
    """Lines that undefine the submission's macros that would change the rest: all but the macros of
    its plan."""
    defined = dict.fromkeys(macro.name for macro in find_macros(program.submission_text))
    in_plan = program.plan.names - program.sizes.keys()
    changing = find_names(tail) - in_plan - {"CHECK"}
    lines = [f"#undef {name}\n" for name in defined if name in changing]
    title = "// Macros of the submission whose names mean something else below.\n"
    return f"{title}{''.join(lines)}\n" if lines else ""


# --- the program ----------------------------------------------------------------------------------


def _tail_fields(program: HostProgram, taken: frozenset[str]) -> dict[str, object]:
    has_cpu, sizes = program.cpu is not None, program.sizes
    names = [buffer.name for buffer in program.buffers]
    pointers = [f"{CPP_NAMES[buffer.dtype]} *{buffer.name}" for buffer in program.buffers]
    written = [buffer.name for buffer in program.buffers if buffer.role is not Role.INPUT]
    return {
        "program": program.program,
        "usage": _usage(program),
        "seed": "constexpr int seed = 1;\n" if has_cpu else "",
        "options": "".join(f"    Size {name} = {value};\n" for name, value in sizes.items()),
        "settable_sizes": ", ".join(f"&options.{name}" for name in sizes) if has_cpu else "",
        "helpers": "".join(_helpers(program)),
        "plan_parameters": ", ".join([*pointers, *(f"Size {name}" for name in sizes)]),
        "plan_arguments": ", ".join([*names, *sizes]),
        "launches": "".join(f"    {line}\n" for line in _launches(program, taken)),
        "compared": "the plain loop on the processor" if has_cpu else "NumPy's result",
        "sizes": "".join(f"    const Size {name} = options.{name};\n" for name in sizes),
        "allocations": "".join(_allocations(program)).rstrip("\n"),
        "inputs": "".join(_inputs(program)),
        "spoiling": "".join(_part("spoil", name=name) for name in written),
        "rates": "".join(_rates(program)),
        "verification": "".join(_verification(program)),
        "cleanup": "".join(f"    CHECK(cudaFree({name}));\n" for name in names),
    }


def _helpers(program: HostProgram) -> Iterator[str]:
    """The functions and types that only some programs need."""
    buffers = {buffer.name: buffer for buffer in program.buffers}
    pairs = zip(program.plan.launches, program.kernels, strict=True)
    if program.cpu is None:
        yield _part("read_array", program=program.program)
    else:
        inits = dict.fromkeys(map(_init_of, _buffers(program, Role.INPUT)))
        yield from (_part(f"fill_{init.value}") for init in inits)
    if any(buffer.dtype == _HALF for buffer in _buffers(program, Role.OUTPUT)):
        yield _part("to_floats")
    if any(needs_any_pointer(launch, kernel, buffers) for launch, kernel in pairs):
        yield _part("any_pointer", any_pointer=ANY_POINTER)


def _buffers(program: HostProgram, role: Role) -> list[BufferSpec]:
    return [buffer for buffer in program.exercise.buffers if buffer.role is role]


def _init_of(buffer: BufferSpec) -> Initialisation:
    return buffer.init or Initialisation.NORMAL


def _launches(program: HostProgram, taken: frozenset[str]) -> Iterator[str]:
    buffers = {buffer.name: buffer for buffer in program.buffers}
    scope = Scope(program.macros, buffers, taken, program.submission_text)
    for scalar in program.exercise.scalars:
        yield f"const {CPP_NAMES[scalar.dtype]} {scalar.name} = {scalar.plain!r};"
    kernels = dict(zip(program.plan.launches, program.kernels, strict=True))
    for statement in program.plan.statements:
        own = statement.line is not None
        yield f"// line {statement.line} of the submission" if own else f"// {_DEFAULT_LINE}"
        yield from format_statement(statement, kernels, scope)


def _allocations(program: HostProgram) -> Iterator[str]:
    shapes = {buffer.name: buffer.shape for buffer in program.exercise.buffers}
    shapes |= {buffer.name: buffer.shape for buffer in program.plan.scratch}
    for buffer in program.buffers:
        named = {"name": buffer.name, "element": CPP_NAMES[buffer.dtype]}
        extents = (format_expression(extent, program.macros) for extent in shapes[buffer.name])
        yield _part("count", extents=" * ".join(map(_parenthesised, extents)), **named)
        if buffer.role is not Role.SCRATCH:
            yield _part("host", **named)
        if buffer.role is Role.OUTPUT:
            yield _part("expected", **named)
        yield _part("device", **named)


def _parenthesised(text: str) -> str:
    return text if re.fullmatch(r"\w+|\w+\([^()]*\)", text) else f"({text})"


def _inputs(program: HostProgram) -> Iterator[str]:
    """Statements that make the inputs, and the expected outputs where these come from a file."""
    inputs, outputs = _buffers(program, Role.INPUT), _buffers(program, Role.OUTPUT)
    if program.cpu is not None:
        yield "    std::mt19937 random(seed);\n"
        for buffer in inputs:
            yield f"    fill_{_init_of(buffer).value}(host_{buffer.name}, random);\n"
    else:
        yield _part("open")
        yield from (f"    read_array(file, host_{buffer.name});\n" for buffer in inputs)
        yield from (f"    read_array(file, expected_{buffer.name});\n" for buffer in outputs)
        yield "    std::fclose(file);\n"
    yield from (_part("copy_in", name=buffer.name) for buffer in inputs)


def _rates(program: HostProgram) -> Iterator[str]:
    exercise = program.exercise
    rates = {"GB/s of useful bytes": exercise.useful_bytes, "GFLOP/s": exercise.useful_flops}
    for unit, formula in rates.items():
        if formula is not None:
            yield _part("rate", unit=unit, formula=format_expression(formula, program.macros))


def _verification(program: HostProgram) -> Iterator[str]:
    exercise, macros = program.exercise, program.macros
    if program.cpu is not None:
        arguments = ", ".join(map(_cpu_argument, cpu_parameters(exercise)))
        yield f"        {CPU_FUNCTION}({arguments});\n"
    yield from _tolerance(exercise, macros)
    for buffer in _buffers(program, Role.OUTPUT):
        shape = ", ".join(format_expression(extent, macros) for extent in buffer.shape)
        got, expected = (f"{which}_{buffer.name}" for which in ("host", "expected"))
        if buffer.dtype == _HALF:
            got, expected = f"to_floats({got})", f"to_floats({expected})"
        yield _part("copy_out", name=buffer.name, got=got, expected=expected, shape=shape)
    yield from (_part("unchanged", name=buffer.name) for buffer in _buffers(program, Role.INPUT))


def _cpu_argument(parameter: BufferSpec | str) -> str:
    if isinstance(parameter, str):
        return f"static_cast<{SIZE_TYPE}>({parameter})"
    return f"{'expected' if parameter.role is Role.OUTPUT else 'host'}_{parameter.name}.data()"


def _tolerance(exercise: Exercise, macros: Mapping[str, Value]) -> Iterator[str]:
    """The grader's own tolerance (`spec.tolerance`), for all sizes of the program."""
    rule = exercise.tolerance
    if isinstance(rule, Tolerance):
        yield _part("given_tolerance", absolute=rule.absolute, relative=rule.relative)
        return
    factors = [
        each for each in exercise.buffers if each.role is Role.INPUT and "int" not in each.dtype
    ]
    kinds = set(map(_init_of, factors))
    deviation = max(PRODUCT_DEVIATION[kind] for kind in kinds)
    terms = format_expression(rule.terms, macros)
    yield _part("sum_tolerance", spread=f"{deviation:g}", terms=terms)
    exact = ""
    if kinds <= LARGEST_PRODUCT.keys():
        largest = max(LARGEST_PRODUCT[kind] for kind in kinds)
        yield _part("exact", largest=largest, most=MAX_EXACT_INTEGER)
        exact = "exact ? 0.0 : "
    yield _part(
        "sum_bounds", exact=exact, factor=SUM_FACTOR, deviation=deviation, places=LAST_PLACES
    )
