"""Source names and parameter types of mangled C++ symbols, through c++filt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.cpp.brackets import split_arguments
from grader.cpp.lexer import source_text
from grader.errors import GraderError
from grader.records import RunTool


@dataclass(frozen=True)
class Signature:
    """A function as the source names it (`ns::k<32, 8>`); `types` is None for C linkage, whose
    symbols carry none."""

    name: str
    types: tuple[str, ...] | None


def demangle(symbols: Sequence[str], run: RunTool) -> dict[str, str]:
    """Symbol to its demangled name by c++filt, in letters of the source; an unmangled symbol maps
    to itself. Raises GraderError if c++filt fails."""
    if not symbols:
        return {}
    # binutils come with every g++ that can assemble, so c++filt is there where nvcc works.
    completed = run(["c++filt", *symbols])
    if completed.returncode != 0:
        raise GraderError(
            f"c++filt failed: {completed.stderr.strip() or f'exit code {completed.returncode}'}",
            "`grade doctor` checks the tools.",
        )
    return dict(zip(symbols, map(source_text, completed.stdout.splitlines()), strict=True))


def parse_signature(text: str) -> Signature:
    """The signature in a demangled `void ns::k<32, 8>(float*, int)`.

    The return type, which only template instances carry, the suffixes of integer template arguments
    and the names of anonymous namespaces are left out: a launch line does not write them.
    """
    if not text.endswith(")"):
        return Signature(text, None)
    start = _matching_parenthesis(text)
    name = split_arguments(text[:start], " ")[-1].replace("(anonymous namespace)::", "")
    plain = re.sub(r"\b(\d+)(?:u|l|ul|ll|ull)\b", r"\1", name)
    return Signature(plain, tuple(split_arguments(text[start + 1 : -1])))


def _matching_parenthesis(text: str) -> int:
    """Index of the parenthesis that the last character closes."""
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth == 0:
            return i
    return len(text)
