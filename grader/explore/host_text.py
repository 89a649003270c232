"""The text of a host program: the template with the exercise's buffers, sizes and rules, and the
submission, filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from grader.cpp.declarations import find_macros
from grader.cpp.lexer import find_names
from grader.cpp.types import CPP_NAMES
from grader.explore.host_launches import (
    ANY_POINTER,
    Scope,
    format_expression,
    format_launch,
    needs_any_pointer,
)
from grader.records import DeviceBuffer, Kernel, Role
from grader.spec.cpu import CPU_FUNCTION, SIZE_TYPE, SUM_TYPE, cpu_parameters
from grader.spec.exercise import BufferSpec, Exercise, Initialisation, Tolerance
from grader.spec.launch_lines import Plan
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


@dataclass(frozen=True)
class HostProgram:
    """What a host program is made of.

    `launches` are the plan's kernels in order; `buffers` are the exercise's, then the scratch
    buffers of the plan. `cpu` is the text of the exercise's cpu.c; without it, inputs and outputs
    are read from a file beside the program. `submission_path` is how compilers are to name the
    submission's lines, `file` the host program's own path, `program` the name of what it compiles
    to.
    """

    exercise: Exercise
    submission_path: str
    submission_text: str
    plan: Plan
    kernels: Sequence[Kernel]
    buffers: Sequence[DeviceBuffer]
    macros: Mapping[str, int]
    sizes: Mapping[str, int]
    cpu: str | None
    file: str
    program: str
    arch: str


def format_program(program: HostProgram) -> str:
    """The whole file."""
    template = _read_template("host.cu")
    taken = find_names(template)
    head, _, tail = template.partition("@submission@")
    head = _fill(head, _head_fields(program))
    fields = _tail_fields(program, taken)
    tail = _fill(
        tail, fields | {"undefined": _undefine(program, _fill(tail, fields | {"undefined": ""}))}
    )
    before = f"{_rename_main(program.submission_text)}#line 1 {_quote(program.submission_path)}\n"
    after = (
        program.submission_text.rstrip("\n") + "\n\n"
    )  # a backslash at the end takes the empty line only
    if MAIN_AS in before:
        after += "#undef main\n"
    number = (head + before + after).count("\n") + 2
    return f"{head}{before}{after}#line {number} {_quote(program.file)}{tail}"


def _read_template(name: str) -> str:
    template = resources.files("grader.explore") / "templates" / f"{name}.template"
    return template.read_text(encoding="utf-8")


def _read_helpers(names: Iterable[str], program: str) -> Iterator[str]:
    """The functions and types of these names, each of which only some programs need."""
    parts = re.split(r"^//@ (\w+)\n", _read_template("helpers.cu"), flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    fields = {"program": program, "any_pointer": ANY_POINTER, "sum_type": SUM_TYPE}
    return (_fill(texts[name], fields) for name in names)


def _fill(template: str, fields: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda match: fields[match[1]], template)


def _quote(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# --- before and around the submission -------------------------------------------------------------


def _head_fields(program: HostProgram) -> dict[str, str]:
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
    sizes = "".join(f"[{name} " for name in program.sizes).rstrip() + "]" * len(program.sizes)
    return (
        f"{sizes} [--once] [--no-verify]" if program.cpu is not None else "[--once] [--no-verify]"
    )


def _format_cpu(text: str) -> str:
    """cpu.c in a namespace, and what it includes before that."""
    includes = re.findall(r"^[ \t]*#[ \t]*include\b.*\n", text, re.MULTILINE)
    code = re.sub(r"^[ \t]*#[ \t]*include\b.*\n\n?", "", text, flags=re.MULTILINE)
    sums, end = "", ""
    if SUM_TYPE in text:
        sums, end = "".join(_read_helpers(["double_sums"], "")), f"#undef {SUM_TYPE}\n"
    title = f"// ==== The task on the processor {'=' * 81}"
    return (
        f"\n{''.join(includes)}\n{title}\n\n{sums}namespace host_program {{\n\n{code}\n}}  //"
        f" namespace host_program\n{end}"
    )


def _rename_main(text: str) -> str:
    """A macro that keeps a `main` of the submission out of the way, if it may have one."""
    return f"#define main {MAIN_AS}\n" if "main" in find_names(text) else ""


def _undefine(program: HostProgram, tail: str) -> str:
    """Lines that undefine the submission's macros which would change what follows: all but those
    that its plan uses."""
    defined = dict.fromkeys(macro.name for macro in find_macros(program.submission_text))
    code = find_names(tail)
    in_plan = program.plan.names - program.sizes.keys()
    lines = [
        f"#undef {name}\n"
        for name in defined
        if name in code and name not in in_plan and name != "CHECK"
    ]
    return (
        f"// Macros of the submission whose names mean something else below.\n{''.join(lines)}\n"
        if lines
        else ""
    )


# --- the program ----------------------------------------------------------------------------------


def _tail_fields(program: HostProgram, taken: frozenset[str]) -> dict[str, str]:
    exercise, macros = program.exercise, program.macros
    outputs = [buffer for buffer in exercise.buffers if buffer.role is Role.OUTPUT]
    names = [buffer.name for buffer in program.buffers]
    pointers = [f"{CPP_NAMES[buffer.dtype]} *{buffer.name}" for buffer in program.buffers]
    return {
        "program": program.program,
        "usage": _usage(program),
        "seed": "constexpr int seed = 1;\n" if program.cpu is not None else "",
        "options": "".join(
            f"    Size {name} = {value};\n" for name, value in program.sizes.items()
        ),
        "settable_sizes": (
            ", ".join(f"&options.{name}" for name in program.sizes)
            if program.cpu is not None
            else ""
        ),
        "helpers": _helpers(program),
        "plan_parameters": ", ".join([*pointers, *(f"Size {name}" for name in program.sizes)]),
        "plan_arguments": ", ".join([*names, *program.sizes]),
        "launches": "".join(f"    {line}\n" for line in _launches(program, taken)),
        "compared": (
            "the plain loop on the processor" if program.cpu is not None else "what NumPy computed"
        ),
        "sizes": "".join(f"    const Size {name} = options.{name};\n" for name in program.sizes),
        "allocations": "\n".join(_allocations(program)),
        "inputs": "".join(f"    {line}\n" for line in _inputs(program)),
        "spoiling": "".join(
            f"        CHECK(cudaMemset({buffer.name}, spoiled_byte, {buffer.name}_count *"
            f" sizeof(*{buffer.name})));\n"
            for buffer in program.buffers
            if buffer.role is not Role.INPUT
        ),
        "rates": _rates(exercise, macros),
        "verification": "".join(f"        {line}\n" for line in _verification(program, outputs)),
        "cleanup": "".join(f"    CHECK(cudaFree({name}));\n" for name in names),
    }


def _helpers(program: HostProgram) -> str:
    """The functions and types that only some programs need."""
    inputs = [buffer for buffer in program.exercise.buffers if buffer.role is Role.INPUT]
    buffers = {buffer.name: buffer for buffer in program.buffers}
    pairs = zip(program.plan.launches, program.kernels, strict=True)
    halves = any(
        buffer.dtype == _HALF and buffer.role is Role.OUTPUT for buffer in program.exercise.buffers
    )
    if program.cpu is None:
        names = ["read_array"]
    else:
        names = [f"fill_{init.value}" for init in dict.fromkeys(map(_init_of, inputs))]
    names += ["to_floats"] * halves
    names += ["any_pointer"] * any(
        needs_any_pointer(launch, kernel, buffers) for launch, kernel in pairs
    )
    return "".join(_read_helpers(names, program.program))


def _init_of(buffer: BufferSpec) -> Initialisation:
    return buffer.init or Initialisation.NORMAL


def _launches(program: HostProgram, taken: frozenset[str]) -> Iterator[str]:
    scope = Scope(program.macros, {buffer.name: buffer for buffer in program.buffers}, taken)
    for launch, kernel in zip(program.plan.launches, program.kernels, strict=True):
        where = (
            f"line {launch.line} of the submission"
            if launch.line is not None
            else "the exercise's own launch line"
        )
        yield f"// {where}"
        yield from format_launch(launch, kernel, scope)
        yield "CHECK(cudaGetLastError());"


def _allocations(program: HostProgram) -> Iterator[str]:
    shapes = {buffer.name: buffer.shape for buffer in program.exercise.buffers}
    shapes |= {buffer.name: buffer.shape for buffer in program.plan.scratch}
    for buffer in program.buffers:
        element, name = CPP_NAMES[buffer.dtype], buffer.name
        extents = " * ".join(
            _parenthesised(format_expression(extent, program.macros)) for extent in shapes[name]
        )
        yield f"    const std::size_t {name}_count = static_cast<std::size_t>({extents});"
        if buffer.role is not Role.SCRATCH:
            yield f"    std::vector<{element}> host_{name}({name}_count);"
        if buffer.role is Role.OUTPUT:
            yield f"    std::vector<{element}> expected_{name}({name}_count);"
        yield f"    {element} *{name} = nullptr;"
        yield f"    CHECK(cudaMalloc(&{name}, {name}_count * sizeof(*{name})));"


def _parenthesised(text: str) -> str:
    return text if re.fullmatch(r"\w+|\w+\([^()]*\)", text) else f"({text})"


def _inputs(program: HostProgram) -> Iterator[str]:
    """Statements that make the inputs, and where they come from a file, the expected outputs."""
    buffers = program.exercise.buffers
    inputs = [buffer for buffer in buffers if buffer.role is Role.INPUT]
    if program.cpu is not None:
        yield "std::mt19937 random(seed);"
        yield from (
            f"fill_{_init_of(buffer).value}(host_{buffer.name}, random);" for buffer in inputs
        )
    else:
        yield 'std::FILE *file = std::fopen((std::string(argv[0]) + ".expected").c_str(), "rb");'
        yield from (f"read_array(file, host_{buffer.name});" for buffer in inputs)
        yield from (
            f"read_array(file, expected_{buffer.name});"
            for buffer in buffers
            if buffer.role is Role.OUTPUT
        )
        yield "std::fclose(file);"
    for buffer in inputs:
        size = f"{buffer.name}_count * sizeof(*{buffer.name})"
        yield (
            f"CHECK(cudaMemcpy({buffer.name}, host_{buffer.name}.data(), {size},"
            " cudaMemcpyHostToDevice));"
        )


def _rates(exercise: Exercise, macros: Mapping[str, int]) -> str:
    rates = [(exercise.useful_bytes, "GB/s of useful bytes")]
    if exercise.useful_flops is not None:
        rates.append((exercise.useful_flops, "GFLOP/s"))
    return "".join(
        f'        std::printf(", %.1f {unit}",'
        f" static_cast<double>({format_expression(formula, macros)}) / time_ms / 1e6);\n"
        for formula, unit in rates
    )


def _verification(program: HostProgram, outputs: Sequence[BufferSpec]) -> Iterator[str]:
    exercise, macros = program.exercise, program.macros
    if program.cpu is not None:
        arguments = [
            (
                f"static_cast<{SIZE_TYPE}>({each})"
                if isinstance(each, str)
                else f"{'expected' if each.role is Role.OUTPUT else 'host'}_{each.name}.data()"
            )
            for each in cpu_parameters(exercise)
        ]
        yield f"{CPU_FUNCTION}({', '.join(arguments)});"
    yield from _tolerance(exercise, macros)
    for buffer in outputs:
        name, shape = (
            buffer.name,
            ", ".join(format_expression(extent, macros) for extent in buffer.shape),
        )
        yield (
            f"CHECK(cudaMemcpy(host_{name}.data(), {name}, {name}_count * sizeof(*{name}),"
            " cudaMemcpyDeviceToHost));"
        )
        got, expected = (
            f"to_floats({each})" if buffer.dtype == _HALF else each
            for each in (f"host_{name}", f"expected_{name}")
        )
        yield (
            f'if (!verify("{name}", {got}, {expected}, {{{shape}}}, absolute, relative)) right ='
            " false;"
        )
    for buffer in exercise.buffers:
        if buffer.role is Role.INPUT:
            yield (
                f'if (!verify_unchanged("{buffer.name}", {buffer.name}, host_{buffer.name})) right'
                " = false;"
            )


def _tolerance(exercise: Exercise, macros: Mapping[str, int]) -> Iterator[str]:
    """The grader's own tolerance (`spec.tolerance`), of whatever sizes the program is given."""
    rule = exercise.tolerance
    if isinstance(rule, Tolerance):
        yield (
            f"const double absolute = {rule.absolute!r}, relative = {rule.relative!r};  // the"
            " exercise's tolerance"
        )
        return
    kinds = {_init_of(buffer) for buffer in exercise.buffers if buffer.role is Role.INPUT}
    terms, deviation = (
        format_expression(rule.terms, macros),
        max(PRODUCT_DEVIATION[kind] for kind in kinds),
    )
    yield (
        "// So far may rounding take a float32 sum of this many products, of standard deviation"
        f" {deviation:g}, in whatever order it is"
    )
    yield (
        "// added up: the grader's own tolerance. Products of factors in tf32 or half are off by"
        " more."
    )
    yield (
        "const double roundoff = std::ldexp(1.0, -24);  // the largest relative error of one"
        " rounding to float32"
    )
    yield f"const Size terms = {terms};"
    exact = ""
    if kinds <= LARGEST_PRODUCT.keys():
        largest = max(LARGEST_PRODUCT[kind] for kind in kinds)
        yield (
            f"const bool exact = terms * {largest} <= {MAX_EXACT_INTEGER};  // every partial sum is"
            " an integer that float32 holds"
        )
        exact = "exact ? 0.0 : "
    yield (
        f"const double absolute = {exact}{SUM_FACTOR} * roundoff * {deviation!r} * terms, relative"
        f" = {exact}{LAST_PLACES} * roundoff;"
    )
