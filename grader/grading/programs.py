"""From a source text to something that a device can run: its plan, the includes that it may use,
its macros and its machine code.

The submission, the naive baseline and the hidden reference all come this way, so that what is
compared is compiled alike.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.room import check_room
from grader.grading.as_nvcc import Settings, tool_runner, with_recipe
from grader.records import Binary, Failure, LaunchLimits, Program, RunTool, Submission, ToolLimits
from grader.sandbox.isolation import NO_ISOLATION, find_layer
from grader.sandbox.process import run_tool
from grader.spec.draws import device_buffers
from grader.spec.exercise import Exercise, Part, Task
from grader.spec.launch_lines import Plan
from grader.submission.includes import check_includes
from grader.submission.lookups import check_lookups
from grader.submission.plan import macro_names, read_macros, read_plan
from grader.submission.resolve import resolve_plan
from grader.submission.rules import check_headers, check_rules
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from grader.toolchain.preprocess import preprocess


@dataclass(frozen=True)
class Toolchain:
    """What compiles all programs of one grading, and where their machine code is kept."""

    nvcc: Nvcc
    nvdisasm: Nvdisasm
    cache: Path | None
    run: RunTool = run_tool
    isolation: str = NO_ISOLATION

    @property
    def versions(self) -> dict[str, str]:
        return {
            "nvcc": self.nvcc.version,
            "nvdisasm": self.nvdisasm.version,
            "compiler_isolation": self.isolation,
        }


@dataclass(frozen=True)
class Built:
    """A source that compiled: its plan, the macros that the plan uses, and its kernels.

    `rules_of` is the task that says what the plan may not use; None for a plan of the exercise's
    own.
    """

    source: Submission
    plan: Plan
    macros: Mapping[str, int]
    binary: Binary
    rules_of: Task | None = None


def find_toolchain(*, prefer_wheel: bool, cache: Path | None, isolated: bool = True) -> Toolchain:
    """The compiler and disassembler of this machine; see `find_nvcc` for which one. Raises
    ToolMissing.

    `isolated`: they see of the machine's files only their own, the headers and the submission.
    """
    nvcc, nvdisasm = (
        find_nvcc(os.environ, run_tool, prefer_wheel=prefer_wheel),
        find_nvdisasm(os.environ, run_tool),
    )
    run = tool_runner(nvcc, nvdisasm, isolated=isolated)
    return Toolchain(nvcc, nvdisasm, cache, run, find_layer().value if isolated else NO_ISOLATION)


def build(
    source: Submission, exercise: Exercise, tools: Toolchain, *, arch: str, plan: Plan | None = None
) -> Built | Failure:
    """Read the plan (or take the one that is given, which the exercise's rules do not bind), refuse
    forbidden includes, and compile for `arch`.
    """
    rules_of = exercise if plan is None else None
    own = read_plan(source, parts=[part.name for part in exercise.parts]) if plan is None else plan
    if isinstance(own, Failure):
        return own
    if refused := check_lookups(source.text):
        return refused
    plan = own or exercise.default_plan
    limits = ToolLimits(wall_seconds=exercise.limits.compile_seconds)
    macros = _explain_macros(source, plan, exercise, rules_of, tools, arch=arch, limits=limits)
    if isinstance(macros, Failure):
        return macros
    binary = compile_submission(
        source,
        nvcc=tools.nvcc,
        nvdisasm=tools.nvdisasm,
        arch=arch,
        run=tools.run,
        limits=limits,
        cache=tools.cache,
    )
    if isinstance(binary, Failure):
        return binary
    return Built(source, plan, macros, _repeatable(binary, source, tools, limits), rules_of)


def _repeatable(binary: Binary, source: Submission, tools: Toolchain, limits: ToolLimits) -> Binary:
    """The binary with its recipe, where its machine code is kept."""
    if tools.cache is None:
        return binary
    isolated, search_path = tools.isolation != NO_ISOLATION, os.environ.get("PATH", os.defpath)
    return with_recipe(
        binary,
        source,
        Settings(
            tools.nvcc, tools.nvdisasm, tools.cache, limits.wall_seconds, isolated, search_path
        ),
    )


def build_part(
    built: Built, plan: Plan, part: Part, tools: Toolchain, *, arch: str, limits: ToolLimits
) -> Built | Failure:
    """What was built, with the plan of a part in the place of its own."""
    macros = _explain_macros(built.source, plan, part, part, tools, arch=arch, limits=limits)
    return (
        macros
        if isinstance(macros, Failure)
        else replace(built, plan=plan, macros=macros, rules_of=part)
    )


def _explain_macros(
    source: Submission,
    plan: Plan,
    task: Task,
    rules_of: Task | None,
    tools: Toolchain,
    *,
    arch: str,
    limits: ToolLimits,
) -> dict[str, int] | Failure:
    """The values of the macros that the plan uses; a Failure also where the source includes what it
    may not."""
    known = {*task.size_names, *(buffer.name for buffer in task.buffers)}
    seen = preprocess(
        source, macro_names(plan, known), nvcc=tools.nvcc, arch=arch, run=tools.run, limits=limits
    )
    if isinstance(seen, Failure):
        return seen
    roots = tools.nvcc.include_roots
    refused = check_includes(seen.files, roots) or (
        check_headers(rules_of, seen.files, roots, source) if rules_of else None
    )
    return refused or read_macros(plan, seen.macros, source.text)


def make_program(
    label: str, built: Built, task: Task, *, sizes: Mapping[str, int], limits: LaunchLimits
) -> Program | Failure:
    """The built source with its launches worked out for these sizes. `buffers` holds the task's,
    then its own scratch.

    A Failure: a mistake in the plan (`launch_error`), more memory than the device has for it, or
    something that its task forbids (`rejected`).
    """
    buffers = device_buffers(task, sizes)
    resolved = resolve_plan(
        built.plan,
        sizes=sizes,
        macros=built.macros,
        buffers=buffers,
        kernels=built.binary.kernels,
        limits=limits,
        source=built.source.text,
    )
    if isinstance(resolved, Failure):
        return resolved
    if built.rules_of is not None:
        refused = check_rules(
            built.rules_of,
            built.plan,
            resolved,
            binary=built.binary,
            sizes=sizes,
            source=built.source,
        )
        if refused is not None:
            return refused
    program = Program(label, built.binary, resolved.launches, (*buffers, *resolved.scratch))
    return check_room(program.buffers, built.binary.variable_bytes, limits) or program
