"""Finds the compiled kernel that a launch line names: both sides in a normal form, and a helpful
error if none fits."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.cpp.brackets import split_arguments
from grader.cpp.cursor import LanguageError, error_at, problem_at, quote
from grader.cpp.declarations import find_kernels
from grader.cpp.expressions import Expression
from grader.cpp.lexer import symbol_name
from grader.cpp.types import DEMANGLED_NAMES, normal_integer_type
from grader.records import Kernel, Obstacle
from grader.spec.launch_lines import KernelName, TypeName
from grader.submission.scope import Scope

NormalArgument = int | str

_DEMANGLED_INTEGER = re.compile(r"(?:\([^()]*\))?(-?[0-9]+)[uUlL]*")
_BOOLEANS = {"true": 1, "false": 0}
_MOST_SHOWN = 12


@dataclass(frozen=True)
class _Instance:
    """A kernel with its name taken apart: `ns::k<32, float>` gives `ns::k` and (32, "float")."""

    kernel: Kernel
    base: str
    arguments: tuple[NormalArgument, ...]


def find_kernel(
    wanted: KernelName, kernels: Sequence[Kernel], scope: Scope, *, argument_count: int | None
) -> Kernel:
    """The kernel that `wanted` names; LanguageError if there is none or several.

    Of overloads it is that with `argument_count` parameters, if given. A bare name without a value
    is a type.
    """
    instances = [_take_apart(kernel) for kernel in kernels]
    name = symbol_name(wanted.name)
    named = [instance for instance in instances if instance.base == name]
    named = named or [instance for instance in instances if instance.base.endswith(f"::{name}")]
    if not named:
        raise _no_such_kernel(wanted, kernels, scope.source)
    arguments = [_normalise_argument(each, scope) for each in wanted.template_arguments or ()]
    fitting = _choose_overload(_fit(named, tuple(arguments)), argument_count)
    if len(fitting) == 1 or (fitting and argument_count is None):
        return fitting[0].kernel
    shown = _show_list([instance.kernel.name for instance in fitting or named])
    if not fitting:
        instance = f"{wanted.name}<{', '.join(map(str, arguments))}>"
        position = wanted.position
        raise problem_at(position, Obstacle.NO_INSTANCE, instance=instance, shown=shown)
    written = quote(str(wanted))
    if _are_overloads(fitting):
        shown = _show_list([_show_signature(instance.kernel) for instance in fitting])
        message = f"{written} with {argument_count} arguments may be any of {shown}"
        advice = (
            "The number of arguments must distinguish overloads; give one of the kernels another"
            " name."
        )
    else:
        message = f"{written} may be any of {shown}"
        advice = "Write the whole name, with its namespace and all its template arguments."
    raise error_at(wanted.position, message, advice)


def _fit(named: Sequence[_Instance], arguments: tuple[NormalArgument, ...]) -> list[_Instance]:
    """Instances with exactly these arguments, else instances that begin with them (the rest are
    default arguments)."""
    exact = [instance for instance in named if instance.arguments == arguments]
    return exact or [
        instance for instance in named if instance.arguments[: len(arguments)] == arguments
    ]


def _choose_overload(
    fitting: Sequence[_Instance], argument_count: int | None
) -> Sequence[_Instance]:
    """The only overload with so many parameters, if there is exactly one; else all that fit."""
    chosen = [instance for instance in fitting if len(instance.kernel.parameters) == argument_count]
    return chosen if _are_overloads(fitting) and len(chosen) == 1 else fitting


def _are_overloads(instances: Sequence[_Instance]) -> bool:
    return len(instances) > 1 and len({instance.kernel.name for instance in instances}) == 1


# --- normal forms ---------------------------------------------------------------------------------


def _take_apart(kernel: Kernel) -> _Instance:
    base, bracket, rest = kernel.name.partition("<")
    arguments = split_arguments(rest.rstrip().removesuffix(">")) if bracket else []
    return _Instance(
        kernel, symbol_name(base.strip()), tuple(normalise_text(argument) for argument in arguments)
    )


def has_argument(kernels: Sequence[Kernel], text: str) -> bool:
    """Whether any kernel has this template argument as it is written."""
    wanted = normalise_text(text)
    return any(wanted in _take_apart(kernel).arguments for kernel in kernels)


def _normalise_argument(argument: Expression | TypeName, scope: Scope) -> NormalArgument:
    if argument.text in scope.types:
        return normalise_text(scope.types[argument.text])
    if isinstance(argument, TypeName):
        return normalise_text(argument.text)
    if argument.bare_name is not None and argument.bare_name not in scope.values:
        return normalise_text(argument.text)
    return scope.evaluate(argument)


def normalise_text(text: str) -> NormalArgument:
    """A template argument as the demangler prints it or a student writes it: `32u`, `(bool)1`,
    `true` are ints, the rest is a type."""
    text = symbol_name(text.strip())
    integer = _DEMANGLED_INTEGER.fullmatch(text)
    if integer is not None:
        return int(integer[1])
    return _BOOLEANS[text] if text in _BOOLEANS else normalise_type(text)


def normalise_type(text: str) -> str:
    """A type with `const` after the qualified part, with aliases resolved and without superfluous
    spaces: `const float *` gives `float const*`."""
    text = re.sub(r"\s+", " ", re.sub(r"\s*([*&<>,:()\[\]])\s*", r"\1", text.strip()))
    match = re.fullmatch(r"((?:[A-Za-z_]\w*)(?: [A-Za-z_]\w*)*)(.*)", text)
    if match is None:
        return text
    words = match[1].split()
    qualifiers = sorted({word for word in words if word in ("const", "volatile")})
    base = normal_integer_type([word for word in words if word not in ("const", "volatile")])
    return " ".join([DEMANGLED_NAMES.get(base, base), *qualifiers]) + match[2]


# --- words ----------------------------------------------------------------------------------------


def _no_such_kernel(wanted: KernelName, kernels: Sequence[Kernel], source: str) -> LanguageError:
    name = wanted.name.rsplit("::", 1)[-1]
    if find_kernels(source).get(name):
        message = f"{quote(wanted.name)} is a template without an instance"
        advice = (
            f"Add the explicit instantiation `template __global__ void {wanted}(...);`, with the"
            " parameters' types, below it."
        )
        return error_at(wanted.position, message, advice)
    names = [_take_apart(kernel).base for kernel in kernels]
    bases = {base.rsplit("::", 1)[-1]: base for base in names}
    close = difflib.get_close_matches(name, bases, n=1)
    guess = f"; did you mean {quote(bases[close[0]])}?" if close else ""
    advice = "The file has no kernel: write a __global__ function."
    if kernels:
        advice = f"The file's kernels are: {_show_list([kernel.name for kernel in kernels])}."
    return error_at(wanted.position, f"there is no kernel {quote(wanted.name)}{guess}", advice)


def _show_list(items: Sequence[str]) -> str:
    more = f" and {len(items) - _MOST_SHOWN} more" if len(items) > _MOST_SHOWN else ""
    return ", ".join(items[:_MOST_SHOWN]) + more


def _show_signature(kernel: Kernel) -> str:
    types = (each.type or f"{each.size_bytes} bytes" for each in kernel.parameters)
    return f"{kernel.name}({', '.join(types)})"
