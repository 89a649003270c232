"""Finds the kernel parameters that are copies: scratch buffers that an earlier launch of the file
fills from one input.

This is not a C++ parser: in doubt, it finds no copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.cpp.lexer import Kind, Token, read_code
from grader.messages.hints import Copy
from grader.spec.statements import Plan


def find_copies(text: str, plan: Plan, inputs: Sequence[str]) -> Mapping[str, Copy]:
    """By the parameter's name, the copies that kernels of a submission read; `inputs` are the
    exercise's."""
    scratch = {buffer.name for buffer in plan.scratch}
    made: dict[str, Copy] = {}
    found: dict[str, Copy] = {}
    parameters = dict(_list_parameters(read_code(text)))
    for launch in plan.launches:
        given = [argument.bare_name for argument in launch.arguments]
        names = parameters.get(launch.kernel.name, ())
        if len(names) == len(given):
            found |= {
                name: made[buffer]
                for name, buffer in zip(names, given, strict=True)
                if buffer in made
            }
        taken = [name for name in given if name in inputs]
        filled = [name for name in given if name in scratch and name not in made]
        if len(taken) == len(filled) == 1:
            made[str(filled[0])] = Copy(str(taken[0]), launch.kernel.name)
    return found


def _list_parameters(tokens: Sequence[Token]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each kernel with the names of its parameters: the last name before every comma of its
    parentheses."""
    opened = kernel = None
    names: list[str] = []
    for before, token, after in zip(
        [*tokens[:1], *tokens], tokens, [*tokens[1:], *tokens[-1:]], strict=False
    ):
        if token.text == "__global__":
            opened, kernel, names = False, None, []
        elif (
            opened is False
            and token.kind is Kind.NAME
            and after.text == "("
            and token.text != "__launch_bounds__"
        ):
            opened, kernel = True, token.text
        elif opened and token.text in (",", ")") and before.kind is Kind.NAME:
            names.append(before.text)
            if token.text == ")":
                yield str(kernel), tuple(names)
                opened = None
