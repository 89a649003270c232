"""Checks a submission against the features that an exercise, or a part of it, forbids: scratch
memory, `__device__` variables, atomics, headers.

The checks need no run: they read the launch lines, the machine code and the list of included files.
No fact contains a figure that follows from a case's sizes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from operator import attrgetter
from pathlib import Path

from grader.cpp.cursor import LanguageError
from grader.cpp.declarations import find_includes
from grader.cpp.expressions import Expression
from grader.cpp.lexer import read_code
from grader.errors import SpecError, SpecProblem
from grader.messages.syntax import describe_error
from grader.plumbing.paths import lies_under
from grader.records import (
    AtomicUse,
    Binary,
    Breach,
    DeviceVariable,
    ForeignFile,
    HeaderUse,
    HeapUse,
    Kernel,
    ScratchUse,
    Submission,
    VariableUse,
)
from grader.sass import accesses_of
from grader.spec.exercise import Atomics, Part, Task
from grader.spec.reader import SPEC_FILE
from grader.spec.statements import Plan
from grader.submission.resolve import ResolvedPlan

_FORBIDDEN_SPACES = {Atomics.GLOBAL: ("global",), Atomics.ALL: ("global", "shared")}
_ADDRESS_BANK = 4
"""The constant bank with the addresses of variables and of the system's functions."""


def check_headers(
    task: Task, files: Iterable[str], roots: Sequence[Path], source: Submission
) -> Breach | None:
    """The first of `files`, resolved paths below the `roots`, that is a header the task forbids."""
    for file in files if task.forbid.headers else ():
        name = _name_header(Path(file), roots)
        for each in task.forbid.headers:
            if name == each or name.startswith(f"{each}/"):
                line = _line_of_include(each, source)
                return _make_breach(task, HeaderUse(each, name, line), source)
    return None


def check_rules(
    task: Task,
    plan: Plan,
    resolved: ResolvedPlan,
    *,
    binary: Binary,
    sizes: Mapping[str, int],
    source: Submission,
) -> Breach | None:
    """The first thing in a plan for the task that is forbidden, headers aside."""
    forbid = task.forbid
    by_symbol = {kernel.symbol: kernel for kernel in binary.kernels}
    symbols = dict.fromkeys(launch.symbol for launch in resolved.launches)
    kernels = [by_symbol[symbol] for symbol in symbols]
    use: ScratchUse | HeapUse | VariableUse | AtomicUse | None = None
    if (formula := forbid.scratch_bytes_above) is not None:
        most_bytes = _evaluate(task, formula, sizes)
        use = _find_scratch(formula.text, most_bytes, plan, resolved)
        use = use or _find_heap(formula.text, kernels)
    if use is None and forbid.device_variable_bytes_above is not None:
        use = _find_variables(forbid.device_variable_bytes_above, kernels, binary, source)
    if use is None and forbid.atomics is not None:
        use = _find_atomics(forbid.atomics, kernels)
    return None if use is None else _make_breach(task, use, source)


def _make_breach(
    task: Task,
    use: HeaderUse | ScratchUse | HeapUse | VariableUse | AtomicUse,
    source: Submission,
) -> Breach:
    part = task.name if isinstance(task, Part) else None
    quoted = f"{use.line} | {source.line(use.line)}" if use.line else ""
    return Breach(use, part, quoted)


# --- memory ---------------------------------------------------------------------------------------


def _find_scratch(
    most: str, most_bytes: int, plan: Plan, resolved: ResolvedPlan
) -> ScratchUse | None:
    taken = accumulate(buffer.size_bytes for buffer in resolved.scratch)
    for declared, total in zip(plan.scratch, taken, strict=True):
        if total > most_bytes:
            return ScratchUse(most, declared.text, declared.line)
    return None


def _find_heap(most: str, kernels: Sequence[Kernel]) -> HeapUse | None:
    """The device's malloc, which takes as much as it likes: a kernel finds it by its address."""
    for kernel in kernels:
        named = (pointer.symbol for pointer in kernel.pointers.get(_ADDRESS_BANK, ()))
        if _has_addresses(kernel) and any("malloc" in symbol for symbol in named):
            return HeapUse(most, kernel.name)
    return None


def _find_variables(
    most_bytes: int, kernels: Sequence[Kernel], binary: Binary, source: Submission
) -> VariableUse | None:
    reaching = next((kernel for kernel in kernels if _has_addresses(kernel)), None)
    if binary.variable_bytes <= most_bytes or reaching is None:
        return None
    largest = max(binary.variables, key=lambda variable: variable.size_bytes)
    line = _line_of_variable(largest, source)
    return VariableUse(most_bytes, reaching.name, binary.variable_bytes, line)


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
        raise SpecError([SpecProblem(SPEC_FILE, path, describe_error(error))]) from None


# --- atomics --------------------------------------------------------------------------------------


def _find_atomics(forbidden: Atomics, kernels: Sequence[Kernel]) -> AtomicUse | None:
    spaces = _FORBIDDEN_SPACES[forbidden]
    for kernel in kernels:
        found = [
            each
            for each in kernel.instructions
            if any(access.atomic and access.space in spaces for access in accesses_of(each.opcode))
        ]
        if found:
            line = next((each.line for each in found if each.line), None)
            return AtomicUse(forbidden is Atomics.ALL, kernel.name, found[0].opcode, line)
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


def check_includes(files: Sequence[str], allowed_roots: Sequence[Path]) -> ForeignFile | None:
    """The first of `files` that lies under none of the roots after links and `..` are resolved.

    `files` are absolute paths from the preprocessor; a relative path is refused.
    """
    is_inside = lies_under(root.resolve() for root in allowed_roots)
    foreign = next((file for file in files if not _is_allowed(file, is_inside)), None)
    return None if foreign is None else ForeignFile(foreign)


def _is_allowed(file: str, is_inside: Callable[[str], bool]) -> bool:
    path = Path(file)
    if not path.is_absolute():
        return False
    try:
        return is_inside(str(path.resolve()))
    except (OSError, ValueError, RuntimeError):  # a loop of links, or a null character
        return False
