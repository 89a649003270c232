"""Whether a submission keeps to what an exercise, or a part of one, forbids: scratch memory,
`__device__` variables, atomics, headers.

All of it shows before anything runs, in the launch lines, the machine code and the list of included
files. No message holds a figure that follows from a case's sizes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from grader.errors import SpecError, SpecProblem
from grader.records import Binary, DeviceBuffer, DeviceVariable, Failure, Kernel, Status, Submission
from grader.sass import accesses_of
from grader.spec.expressions import Expression
from grader.spec.model import Atomics, Part, Task
from grader.spec.plans import Plan
from grader.spec.tokens import LanguageError, quote
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
        forbidden = next(
            (each for each in task.forbid.headers if name == each or name.startswith(f"{each}/")),
            None,
        )
        if forbidden is not None:
            line = _line_of_include(forbidden, source)
            what = f"line {line} includes" if line else "another header includes"
            advice = "Write what you need of it yourself."
            return _refuse(
                task, f"no header of {forbidden}", f"{what} {name}", line, source, advice
            )
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
    kernels = [
        by_symbol[symbol] for symbol in dict.fromkeys(launch.symbol for launch in resolved.launches)
    ]
    return (
        _check_scratch(task, forbid.scratch_bytes_above, plan, resolved.scratch, sizes, source)
        or _check_heap(task, forbid.scratch_bytes_above, kernels, source)
        or _check_variables(task, forbid.device_variable_bytes_above, kernels, binary, source)
        or _check_atomics(task, forbid.atomics, kernels, source)
    )


# --- memory ---------------------------------------------------------------------------------------


def _check_scratch(
    task: Task,
    limit: Expression | None,
    plan: Plan,
    scratch: Sequence[DeviceBuffer],
    sizes: Mapping[str, int],
    source: Submission,
) -> Failure | None:
    if limit is None or not scratch:
        return None
    most = _evaluate(task, limit, sizes)
    taken = accumulate(
        math.prod(buffer.shape) * np.dtype(buffer.dtype).itemsize for buffer in scratch
    )
    over = next(
        (declared for declared, total in zip(plan.scratch, taken, strict=True) if total > most),
        None,
    )
    if over is None:
        return None
    what = f"{f'line {over.line}' if over.line else 'the launch plan'} declares {quote(over.text)}"
    advice = "Work in the buffers that you are given, in shared memory and in registers."
    return _refuse(task, _words_of_scratch(limit), what, over.line, source, advice)


def _check_heap(
    task: Task, limit: Expression | None, kernels: Sequence[Kernel], source: Submission
) -> Failure | None:
    """The device's malloc, which takes as much as it likes: a kernel finds it by its address."""
    for kernel in kernels if limit is not None else ():
        named = (pointer.symbol for pointer in kernel.pointers.get(_ADDRESS_BANK, ()))
        if (
            limit is not None
            and _has_addresses(kernel)
            and any("malloc" in symbol for symbol in named)
        ):
            advice = "Take malloc and new out of the file; work in the buffers that you are given."
            return _refuse(
                task,
                _words_of_scratch(limit),
                f"the kernel {kernel.name} can call malloc",
                None,
                source,
                advice,
            )
    return None


def _words_of_scratch(limit: Expression) -> str:
    return (
        "no scratch memory"
        if limit.text.strip() == "0"
        else f"no more than {limit.text} bytes of scratch memory"
    )


def _check_variables(
    task: Task, limit: int | None, kernels: Sequence[Kernel], binary: Binary, source: Submission
) -> Failure | None:
    if limit is None or binary.variable_bytes <= limit:
        return None
    reaching = next((kernel for kernel in kernels if _has_addresses(kernel)), None)
    if reaching is None:
        return None
    line = _line_of_variable(
        max(binary.variables, key=lambda variable: variable.size_bytes), source
    )
    allowed = (
        f"no more than {limit:,} bytes of __device__ variables"
        if limit
        else "no __device__ variables"
    )
    what = f"the kernel {reaching.name} can reach {binary.variable_bytes:,} bytes of them"
    advice = (
        "Make them smaller, or keep their address out of this kernel: from one of them it reaches"
        " all."
    )
    return _refuse(
        task,
        allowed,
        what + (f", most of them declared in line {line}" if line else ""),
        line,
        source,
        advice,
    )


def _has_addresses(kernel: Kernel) -> bool:
    """Whether the code reads from a constant bank that holds addresses: of variables, of literal
    strings, of functions like malloc."""
    banks = tuple(f"c[{bank:#x}][" for bank in {_ADDRESS_BANK, *kernel.pointers})
    return any(
        bank in instruction.operands for instruction in kernel.instructions for bank in banks
    )


def _evaluate(task: Task, formula: Expression, sizes: Mapping[str, int]) -> int:
    try:
        return formula.evaluate(sizes)
    except LanguageError as error:
        base = f"$.parts.{task.name}" if isinstance(task, Part) else "$"
        raise SpecError(
            [SpecProblem("spec.json", f"{base}.forbid.scratch_bytes_above", error.message)]
        ) from None


# --- atomics --------------------------------------------------------------------------------------


def _check_atomics(
    task: Task, forbidden: Atomics | None, kernels: Sequence[Kernel], source: Submission
) -> Failure | None:
    if forbidden is None:
        return None
    spaces = _FORBIDDEN_SPACES[forbidden]
    for kernel in kernels:
        found = [
            each
            for each in kernel.instructions
            if any(access.atomic and access.space in spaces for access in accesses_of(each.opcode))
        ]
        if found:
            line = next((each.line for each in found if each.line), None)
            what = (
                f"the kernel {kernel.name} has one{f' in line {line}' if line else ''}"
                f" ({found[0].opcode})"
            )
            return _refuse(
                task,
                f"no {_ATOMICS_WORDS[forbidden]}",
                what,
                line,
                source,
                "Let each thread write elements of its own.",
            )
    return None


# --- places and words -----------------------------------------------------------------------------


def _name_header(path: Path, roots: Sequence[Path]) -> str:
    """A header as `#include` names it: its path in the innermost of the roots that it lies in."""
    inside = [path.relative_to(root).as_posix() for root in roots if path.is_relative_to(root)]
    return min(inside, key=len, default=path.name)


def _line_of_include(name: str, source: Submission) -> int | None:
    """The first line that includes a header of this name, or of a folder of this name."""
    directive = re.compile(rf'[ \t]*#[ \t]*include[ \t]*[<"]{re.escape(name)}[/.>"]')
    return next(
        (number for number, line in enumerate(source.lines, 1) if directive.match(line)), None
    )


def _line_of_variable(variable: DeviceVariable, source: Submission) -> int | None:
    """The first line that declares a variable of this name, which a symbol of C++ (`_ZN2ns5tableE`)
    holds behind its length."""
    lengths = re.finditer(r"\d{1,3}", variable.name)
    names = {variable.name} | {
        variable.name[found.end() : found.end() + int(found.group())] for found in lengths
    }
    for number, text in enumerate(source.lines, 1):
        line = text.partition("//")[0]
        if ("__device__" in line or "__managed__" in line) and not names.isdisjoint(
            re.findall(r"[A-Za-z_]\w*", line)
        ):
            return number
    return None


def _refuse(
    task: Task, allowed: str, found: str, line: int | None, source: Submission, advice: str
) -> Failure:
    owner = f"the part {task.name}" if isinstance(task, Part) else "the exercise"
    detail = f"{line} | {source.line(line)}" if line else ""
    return Failure(Status.REJECTED, f"{owner} allows {allowed}: {found}", detail, advice)
