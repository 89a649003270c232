"""Instances of templates that launch lines name and their file does not make: host code would make
them by launching them, and launch lines are no code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from grader.cpp.declarations import find_kernels
from grader.cpp.lexer import find_names, read_code
from grader.records import Submission
from grader.spec.statements import Plan

_FUNCTIONS = frozenset({"ceil_div", "min", "max"})
"""Of launch lines, which the file does not know."""


def add_instances(source: Submission, plans: Sequence[Plan], names: Collection[str]) -> Submission:
    """The source with a use of each template instance that the plans launch, so that the compiler
    emits it; the compiler's message on an instance points at its launch line. `names` are known to
    launch lines only: an instance that uses one of them is left out, and so are the instances of a
    kernel that the file itself instantiates."""
    open_ = find_open_templates(source.text)
    if not open_:
        return source
    wanted: dict[str, int] = {}
    for plan in plans:
        unknown = {*names, *plan.variables, *_FUNCTIONS}
        for launch in plan.launches:
            kernel = str(launch.kernel)
            if launch.line is None or launch.kernel.template_arguments is None:
                continue
            if launch.kernel.name.rpartition("::")[2] not in open_:
                continue
            if not find_names(kernel) & unknown:
                wanted.setdefault(kernel, launch.line)
    uses = [
        f"\n#line {line}\nnamespace {{ [[maybe_unused]] const void* const"
        f" launched_instance_{number} = (const void*)&{kernel}; }}"
        for number, (kernel, line) in enumerate(wanted.items())
    ]
    return replace(source, text="".join((source.text, *uses, "\n"))) if uses else source


def find_open_templates(source: str) -> set[str]:
    """The kernels of a source that are templates and that it does not instantiate explicitly."""
    if "template" not in source:
        return set()
    templates = {name for name, template in find_kernels(source).items() if template}
    return templates - _find_instantiated(source)


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
