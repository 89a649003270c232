"""Whether a submission keeps to what an exercise, or a part of one, forbids: scratch memory,
`__device__` variables, atomics, headers.

All of it shows before anything runs, in the launch lines, the machine code and the list of included
files. No message holds a figure that follows from a case's sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import attrgetter
from pathlib import Path

from grader.cpp.cursor import LanguageError, quote
from grader.cpp.declarations import find_includes
from grader.cpp.expressions import Expression
from grader.cpp.lexer import read_code
from grader.errors import SpecError, SpecProblem
from grader.records import Binary, DeviceVariable, Failure, Kernel, Status, Submission
from grader.sass import accesses_of
from grader.spec.exercise import Atomics, Part, Task
from grader.spec.launch_lines import Plan
from grader.spec.reader import SPEC_FILE
from grader.submission.resolve import ResolvedPlan

_FORBIDDEN_SPACES = {Atomics.GLOBAL: ("global",), Atomics.ALL: ("global", "shared")}
_ATOMICS_WORDS = {Atomics.GLOBAL: "atomics on global memory", Atomics.ALL: "atomics"}
_ADDRESS_BANK = 4
"""The constant bank with the addresses of variables and of the system's functions."""


def check_headers(
    task: Task, files: Iterable[str], roots: Sequence[Path], source: Submission
) -> Failure | None:
    """A Failure (`rejected`) for the first of `files`, resolved paths below the `roots`, that is a
    header the task forbids."""
    for file in files if task.forbid.headers else ():
        name = _name_header(Path(file), roots)
        for each in task.forbid.headers:
            if name == each or name.startswith(f"{each}/"):
                line = _line_of_include(each, source)
                what = f"line {line} includes" if line else "another header includes"
                advice = "Write what you need of it yourself."
                breach = _Breach(f"no header of {each}", f"{what} {name}", line, advice)
                return _refuse(task, breach, source)
    return None


def check_rules(
    task: Task,
    plan: Plan,
    resolved: ResolvedPlan,
    *,
    binary: Binary,
    sizes: Mapping[str, int],
    source: Submission,
) -> Failure | None:
    """A Failure (`rejected`) for the first thing in a plan for the task that is forbidden, headers
    aside."""
    forbid = task.forbid
    by_symbol = {kernel.symbol: kernel for kernel in binary.kernels}
    symbols = dict.fromkeys(launch.symbol for launch in resolved.launches)
    kernels = [by_symbol[symbol] for symbol in symbols]
    breach = None
    if (formula := forbid.scratch_bytes_above) is not None:
        words = f"no more than {formula.text} bytes of scratch memory"
        allowed = "no scratch memory" if formula.text.strip() == "0" else words
        most = _evaluate(task, formula, sizes)
        breach = _check_scratch(allowed, most, plan, resolved) or _check_heap(allowed, kernels)
    if breach is None and forbid.device_variable_bytes_above is not None:
        breach = _check_variables(forbid.device_variable_bytes_above, kernels, binary, source)
    if breach is None and forbid.atomics is not None:
        breach = _check_atomics(forbid.atomics, kernels)
    return None if breach is None else _refuse(task, breach, source)


@dataclass(frozen=True)
class _Breach:
    """What is allowed, what was found instead and in which line, and what to try."""

    allowed: str
    found: str
    line: int | None
    advice: str


def _refuse(task: Task, breach: _Breach, source: Submission) -> Failure:
    owner = f"the part {task.name}" if isinstance(task, Part) else "the exercise"
    detail = f"{breach.line} | {source.line(breach.line)}" if breach.line else ""
    message = f"{owner} allows {breach.allowed}: {breach.found}"
    return Failure(Status.REJECTED, message, detail, breach.advice)


# --- memory ---------------------------------------------------------------------------------------


def _check_scratch(allowed: str, most: int, plan: Plan, resolved: ResolvedPlan) -> _Breach | None:
    taken = accumulate(buffer.size_bytes for buffer in resolved.scratch)
    for declared, total in zip(plan.scratch, taken, strict=True):
        if total > most:
            where = f"line {declared.line}" if declared.line else "the launch plan"
            advice = "Work in the buffers that you are given, in shared memory and in registers."
            found = f"{where} declares {quote(declared.text)}"
            return _Breach(allowed, found, declared.line, advice)
    return None


def _check_heap(allowed: str, kernels: Sequence[Kernel]) -> _Breach | None:
    """The device's malloc, which takes as much as it likes: a kernel finds it by its address."""
    for kernel in kernels:
        named = (pointer.symbol for pointer in kernel.pointers.get(_ADDRESS_BANK, ()))
        if _has_addresses(kernel) and any("malloc" in symbol for symbol in named):
            advice = "Take malloc and new out of the file; work in the buffers that you are given."
            return _Breach(allowed, f"the kernel {kernel.name} can call malloc", None, advice)
    return None


def _check_variables(
    limit: int, kernels: Sequence[Kernel], binary: Binary, source: Submission
) -> _Breach | None:
    reaching = next((kernel for kernel in kernels if _has_addresses(kernel)), None)
    if binary.variable_bytes <= limit or reaching is None:
        return None
    largest = max(binary.variables, key=lambda variable: variable.size_bytes)
    line = _line_of_variable(largest, source)
    allowed = f"no more than {limit:,} bytes of" if limit else "no"
    what = f"the kernel {reaching.name} can reach {binary.variable_bytes:,} bytes of them"
    if line:
        what += f", most of them declared in line {line}"
    advice = (
        "Make them smaller, or keep their address out of this kernel: from one of them it reaches"
        " all."
    )
    return _Breach(f"{allowed} __device__ variables", what, line, advice)


def _has_addresses(kernel: Kernel) -> bool:
    """Whether the code reads from a constant bank that holds addresses: of variables, of literal
    strings, of functions like malloc."""
    banks = [f"c[{bank:#x}][" for bank in {_ADDRESS_BANK, *kernel.pointers}]
    return any(bank in each.operands for each in kernel.instructions for bank in banks)


def _evaluate(task: Task, formula: Expression, sizes: Mapping[str, int]) -> int:
    try:
        return formula.evaluate(sizes)
    except LanguageError as error:
        base = f"$.parts.{task.name}" if isinstance(task, Part) else "$"
        path = f"{base}.forbid.scratch_bytes_above"
        raise SpecError([SpecProblem(SPEC_FILE, path, error.message)]) from None


# --- atomics --------------------------------------------------------------------------------------


def _check_atomics(forbidden: Atomics, kernels: Sequence[Kernel]) -> _Breach | None:
    spaces = _FORBIDDEN_SPACES[forbidden]
    for kernel in kernels:
        found = [
            each
            for each in kernel.instructions
            if any(access.atomic and access.space in spaces for access in accesses_of(each.opcode))
        ]
        if found:
            line = next((each.line for each in found if each.line), None)
            where = f" in line {line}" if line else ""
            what = f"the kernel {kernel.name} has one{where} ({found[0].opcode})"
            advice = "Let each thread write elements of its own."
            return _Breach(f"no {_ATOMICS_WORDS[forbidden]}", what, line, advice)
    return None


# --- places -----------------------------------------------------------------------------


def _name_header(path: Path, roots: Sequence[Path]) -> str:
    """A header as `#include` names it: its path in the innermost of the roots that it lies in."""
    inside = [path.relative_to(root).as_posix() for root in roots if path.is_relative_to(root)]
    return min(inside, key=len, default=path.name)


def _line_of_include(name: str, source: Submission) -> int | None:
    """The first line that includes a header of this name, or of a folder of this name."""
    lines = (
        line
        for line, included in find_includes(source.text)
        if included == name or included.startswith((f"{name}/", f"{name}."))
    )
    return next(lines, None)


def _line_of_variable(variable: DeviceVariable, source: Submission) -> int | None:
    """The first line that declares a variable of this name, which a symbol of C++ (`_ZN2ns5tableE`)
    holds behind its length."""
    lengths = re.finditer(r"\d{1,3}", variable.name)
    names = {variable.name} | {
        variable.name[found.end() : found.end() + int(found.group())] for found in lengths
    }
    for line, tokens in groupby(read_code(source.text), key=attrgetter("line")):
        words = {token.text for token in tokens}
        if words & {"__device__", "__managed__"} and words & names:
            return int(line)
    return None
