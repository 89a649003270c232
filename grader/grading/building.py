"""Builds a source for a device: reads its plan, checks its includes, evaluates its macros and
compiles it.

The submission, the naive baseline and the hidden reference are all built here, so that the compared
programs are compiled with the same options.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.cpp.tree import Value
from grader.devices.plan_limits import check_memory
from grader.grading.mistakes import SubmissionError, refuse, value_of
from grader.grading.tools import Toolchain
from grader.records import (
    Binary,
    DeviceBuffer,
    Kernel,
    LaunchLimits,
    NoConstant,
    PlanMistake,
    Program,
    Recipe,
    Submission,
    ToolLimits,
)
from grader.spec.draws import device_buffers
from grader.spec.exercise import Exercise, Part, Task
from grader.spec.statements import Plan
from grader.submission.instances import add_instances
from grader.submission.lookups import check_lookups
from grader.submission.plan import macro_names, open_questions, read_macros, read_plan, unanswered
from grader.submission.resolve import find_kernels, resolve_plan
from grader.submission.rules import check_headers, check_includes, check_rules
from grader.submission.scalars import NO_SCALARS, Scalar
from grader.toolchain.artifacts import Artifacts
from grader.toolchain.compilation import Compilation, NotCompiled, Order, find_artifacts
from grader.toolchain.compile import read_ordered
from grader.toolchain.constants import ask_compiler
from grader.toolchain.preprocess import preprocess
from grader.toolchain.workspace import OPTIONS, Compiler


@dataclass(frozen=True)
class Built:
    """A compiled source: its plan, the values of macros and constants in the plan, and its kernels.

    `rules_of`: the task whose rules restrict the plan; None for a plan of the exercise. `types`
    maps template arguments as written to the compiler's names of the types.
    """

    source: Submission
    plan: Plan
    macros: Mapping[str, Value]
    binary: Binary
    rules_of: Task | None = None
    types: Mapping[str, str] = field(default_factory=dict)


def build(
    source: Submission,
    exercise: Exercise,
    tools: Toolchain,
    *,
    arch: str,
    plan: Plan | None = None,
    begun: Compilation | None = None,
) -> Built:
    """Reads the plan, refuses forbidden includes and compiles for `arch`. The exercise's rules do
    not apply to a given `plan`. `begun`: a compilation that has started. Raises SubmissionError.
    """
    rules_of = exercise if plan is None else None
    parts = [part.name for part in exercise.parts]
    if plan is None:
        plan = value_of(read_plan(source, parts=parts)) or exercise.default_plan
    of_parts = (read_plan(source, part=part, parts=parts) for part in parts)
    limits = ToolLimits(wall_seconds=exercise.limits.compile_seconds)
    return build_plan(
        source,
        plan,
        names_of(exercise),
        tools,
        arch=arch,
        limits=limits,
        rules_of=rules_of,
        begun=begun,
        others=[each for each in of_parts if isinstance(each, Plan)],
    )


def build_plan(  # noqa: PLR0913 - keyword arguments of a compilation
    source: Submission,
    plan: Plan,
    names: Collection[str],
    tools: Toolchain,
    *,
    arch: str,
    limits: ToolLimits,
    rules_of: Task | None = None,
    begun: Compilation | None = None,
    others: Sequence[Plan] = (),
) -> Built:
    """Refuses forbidden includes and lookups of files, and compiles for `arch`, with the template
    instances that the plan and `others` launch. `names`: the buffers, sizes and scalars that the
    plan may use besides macros. Raises SubmissionError.

    Compiler and preprocessor run at the same time. An error of the preprocessor hides the errors of
    the compiler. `begun`: a compilation that has started.
    """
    refuse(check_lookups(source.text))
    order = tools.order(add_instances(source, (plan, *others), names), arch, limits)
    if begun is None or not begun.order.asks_for_the_same(order):
        begun = Compilation(order)
    with begun:
        macros = _explain_macros(source, plan, names, rules_of, tools, arch=arch, limits=limits)
        binary = _read(begun.result(), order)
    built = Built(source, plan, macros, binary, rules_of)
    return _with_constants(built, names, order.compiler, tools)


def compile_source(
    source: Submission, tools: Toolchain, *, arch: str, limits: ToolLimits
) -> Binary:
    """The kernels of a source for `arch`, with the recipe that compiles them again. Raises
    SubmissionError."""
    order = tools.order(source, arch, limits)
    return _read(find_artifacts(order), order)


def with_recipe(binary: Binary, source: Submission) -> Binary:
    """The binary with the means for SourceModule to load it as this source's machine code."""
    sha256 = hashlib.sha256(binary.cubin).hexdigest()
    return replace(binary, recipe=Recipe(source.text, OPTIONS, sha256))


def names_of(task: Task) -> frozenset[str]:
    """The names of a task that a plan may use."""
    buffers, scalars = (each.name for each in task.buffers), (each.name for each in task.scalars)
    return frozenset((*task.size_names, *buffers, *scalars))


def build_part(
    built: Built, plan: Plan, part: Part, tools: Toolchain, *, arch: str, limits: ToolLimits
) -> Built:
    """The same source with the plan of a part. Raises SubmissionError."""
    names = names_of(part)
    macros = _explain_macros(built.source, plan, names, part, tools, arch=arch, limits=limits)
    made = replace(built, plan=plan, macros=macros, rules_of=part)
    return _with_constants(made, names, tools.order(built.source, arch, limits).compiler, tools)


def make_program(
    label: str, built: Built, task: Task, *, sizes: Mapping[str, int], limits: LaunchLimits
) -> Program:
    """The program with its launches evaluated for these sizes. Its `buffers` are the task's
    buffers, then the plan's scratch buffers.

    Raises SubmissionError: a mistake in the plan (`launch_error`), more memory than the device has,
    or a violated rule of the task (`rejected`).
    """
    buffers = device_buffers(task, sizes)
    scalars = {scalar.name: scalar.plain for scalar in task.scalars}
    return launch_on(label, built, buffers, sizes=sizes, limits=limits, scalars=scalars)


def launch_on(
    label: str,
    built: Built,
    buffers: Sequence[DeviceBuffer],
    *,
    sizes: Mapping[str, int],
    limits: LaunchLimits,
    scalars: Mapping[str, Scalar] = NO_SCALARS,
) -> Program:
    """The program with its launches evaluated for these buffers, sizes and scalars. Raises
    SubmissionError as `make_program` does."""
    resolved = resolve_plan(
        built.plan,
        sizes=sizes,
        macros=built.macros,
        buffers=buffers,
        kernels=built.binary.kernels,
        limits=limits,
        source=built.source.text,
        scalars=scalars,
        types=built.types,
        symbols=built.binary.symbols,
    )
    if isinstance(resolved, PlanMistake):
        raise SubmissionError(resolved)
    if built.rules_of is not None:
        refuse(
            check_rules(
                built.rules_of,
                built.plan,
                resolved,
                binary=built.binary,
                sizes=sizes,
                source=built.source,
            )
        )
    program = Program(label, built.binary, resolved.steps, (*buffers, *resolved.scratch))
    refuse(check_memory(program.buffers, built.binary.variable_bytes, limits))
    return program


def launched_kernels(built: Built, sizes: Mapping[str, int]) -> list[Kernel]:
    """The kernel of each launch, in the order of the plan's text. Raises SubmissionError."""
    return value_of(
        find_kernels(
            built.plan,
            sizes=sizes,
            macros=built.macros,
            kernels=built.binary.kernels,
            types=built.types,
            source=built.source.text,
        )
    )


def _read(made: Artifacts | NotCompiled, order: Order) -> Binary:
    """The kernels of a compilation, with their recipe. Raises SubmissionError."""
    return with_recipe(read_ordered(value_of(made), order), order.submission)


def _with_constants(
    built: Built, known: Collection[str], compiler: Compiler, tools: Toolchain
) -> Built:
    """Adds the compiler's values of the plan's names that are no macro, buffer, size or scalar.
    Raises SubmissionError."""
    plan, source = built.plan, built.source
    explained = (*known, *built.macros)
    questions = open_questions(plan, explained, built.binary.kernels, source.text)
    answers = ask_compiler(source, questions, compiler, tools.cache)
    if isinstance(answers, NoConstant):
        raise SubmissionError(unanswered(plan, answers, source.text))
    integers = {name: answer for name, answer in answers.items() if isinstance(answer, int)}
    types = {name: str(answer) for name, answer in answers.items()}
    return replace(built, macros={**built.macros, **integers}, types=types)


def _explain_macros(
    source: Submission,
    plan: Plan,
    known: Collection[str],
    rules_of: Task | None,
    tools: Toolchain,
    *,
    arch: str,
    limits: ToolLimits,
) -> dict[str, Value]:
    """The values of the plan's macros. Refuses a source with forbidden includes."""
    names = macro_names(plan, known)
    seen = value_of(
        preprocess(
            source,
            names,
            nvcc=tools.nvcc,
            arch=arch,
            run=tools.run,
            limits=limits,
            cache=tools.cache,
        )
    )
    roots = tools.nvcc.include_roots
    refuse(check_includes(seen.files, roots))
    if rules_of is not None:
        refuse(check_headers(rules_of, seen.files, roots, source))
    return value_of(read_macros(plan, seen.macros, source.text))
