"""The uses of names in launch lines: values that a command line may omit, and values that it
lacks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cpp.cursor import quote
from grader.cpp.signatures import Parameter, read_parameters
from grader.errors import UsageError
from grader.records import Submission
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission


@dataclass(frozen=True)
class Use:
    """A name that is a whole argument: the kernel and its parameter, and the launch line. It is
    `const` where no launch may write to it."""

    kernel: str
    parameter: Parameter
    line: int | None

    @property
    def is_buffer(self) -> bool:
        """Whether the name is an array."""
        return self.parameter.is_pointer


Uses = Mapping[str, Use]


def find_uses(path: Path) -> dict[str, Use]:
    """The uses of names that are arguments of the file's kernels, in the order of the launch lines;
    empty where the file is not text or its lines are wrong: the run reports that. Raises UsageError
    where there is no such file."""
    source = read_submission(path)
    plan = read_plan(source) if isinstance(source, Submission) else None
    if not isinstance(source, Submission) or not isinstance(plan, Plan):
        return {}
    kernels = read_parameters(source.text)
    own = {scratch.name for scratch in plan.scratch}
    uses: dict[str, Use] = {}
    for launch in plan.launches:
        parameters = kernels.get(launch.kernel.name, ())
        for argument, parameter in zip(launch.arguments, parameters, strict=False):
            name = argument.bare_name
            if name is None or name in own:
                continue
            use = Use(launch.kernel.name, parameter, launch.line)
            known = uses.setdefault(name, use)
            if known.parameter.is_const and not parameter.is_const:
                uses[name] = replace(known, parameter=replace(parameter, is_const=False))
    return uses


def check_given(uses: Uses, given: Collection[str], sizes: Mapping[str, int]) -> None:
    """Raises UsageError for an array of the launch lines that is not given, with the options that
    would give it."""
    missing = {name: use for name, use in uses.items() if name not in given}
    arrays = [name for name, use in missing.items() if use.is_buffer]
    if not arrays:
        return
    use = missing[arrays[0]]
    raise UsageError(
        f"nothing is given for {', '.join(map(quote, arrays))}: in line {use.line}"
        f" {use.kernel} takes {quote(arrays[0])} as {quote(use.parameter.text)}",
        f"Add {' '.join(_option(name, missing[name], sizes) for name in arrays)}, say.",
    )


def _option(name: str, use: Use, sizes: Mapping[str, int]) -> str:
    """The option for an array: an array that is only read is drawn, other arrays are written."""
    shape = "" if len(sizes) == 1 else f":{','.join(sizes) or 'SHAPE'}"
    if use.parameter.is_const:
        integer = use.parameter.dtype is not None and "int" in use.parameter.dtype
        return f"--input {name}={'index' if integer else 'normal'}{shape}"
    if shape:
        return f"--output {name}={use.parameter.dtype or 'TYPE'}{shape}"
    return f"--output {name}" if use.parameter.dtype else f"--output {name}=TYPE"
