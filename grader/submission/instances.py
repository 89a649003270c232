"""Instances of templates that launch lines name and their file does not make: host code would make
them by launching them, and launch lines are no code."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

from grader.cpp.declarations import find_kernels
from grader.cpp.lexer import find_names, read_code
from grader.records import Submission
from grader.spec.launch_lines import KernelName
from grader.spec.statements import Plan

_FUNCTIONS = frozenset({"ceil_div", "min", "max"})
"""Of launch lines, which the file does not know."""


def add_instances(source: Submission, plan: Plan, names: Collection[str]) -> Submission:
    """The source with a use of each instance that the plan launches, which makes the compiler emit
    it; what the compiler says of one stands at its launch line. `names` are those that only launch
    lines know: an instance that is named by one of them is left out, and so are those of a kernel
    that the file instantiates itself."""
    templates = {name for name, template in find_kernels(source.text).items() if template}
    open_ = templates - _find_instantiated(source.text)
    unknown = {*names, *plan.variables, *_FUNCTIONS}
    wanted = {
        str(launch.kernel): launch.line
        for launch in reversed(plan.launches)
        if _base(launch.kernel) in open_ and not find_names(str(launch.kernel)) & unknown
    }
    uses = [
        f"\n#line {line}\nnamespace {{ [[maybe_unused]] const void* const"
        f" launched_instance_{number} = (const void*)&{kernel}; }}"
        for number, (kernel, line) in enumerate(wanted.items())
        if line is not None
    ]
    return replace(source, text="".join((source.text, *uses, "\n"))) if uses else source


def _base(kernel: KernelName) -> str | None:
    """The name without its namespaces; None where no template arguments are written."""
    return None if kernel.template_arguments is None else kernel.name.rpartition("::")[2]


def _find_instantiated(source: str) -> set[str]:
    """The names in explicit instantiations: `template __global__ void k<32>(float*);`."""
    found: set[str] = set()
    explicit = False
    for token, after in pairwise(read_code(source)):
        if token.text == "template":
            explicit = after.text != "<"
        elif token.text in (";", "{"):
            explicit = False
        elif explicit:
            found.add(token.text)
    return found
