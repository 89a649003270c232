"""Finds the array accesses in one line of CUDA, so that a hint can quote `tile[threadIdx.x][threadIdx.y + j]`.

This is no C++ parser: where it is not sure, it gives nothing, and the hint quotes the whole line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.S)
_SHARED = re.compile(r"__shared__([^;]*);")
_SUBSCRIPT = re.compile(r"([A-Za-z_]\w*)\s*\[")
_ASSIGNED = re.compile(r"\s*(?:\.\w+\s*)?(?:(?P<compound>[-+*/%&|^]|<<|>>)?=(?!=)|(?P<step>\+\+|--))")
_QUOTE_LENGTH = 90


@dataclass(frozen=True)
class Access:
    """One subscripted expression. `stored`: it is the target of an assignment (of a compound one: read too)."""

    name: str
    text: str
    stored: bool
    read: bool


def quote_access(line: str, *, shared: bool, stored: bool, shared_names: frozenset[str]) -> str:
    """The one access of the wanted kind in a source line, or else the line itself without its comment, in backquotes."""
    wanted = [
        access
        for access in find_accesses(line)
        if (access.name in shared_names) is shared and (access.stored if stored else access.read)
    ]
    return wanted[0].text if len({access.text for access in wanted}) == 1 else f"`{_shorten(line)}`"


def find_shared_names(source: str) -> frozenset[str]:
    """Names of the arrays that a submission declares `__shared__`."""
    declarations: Sequence[str] = _SHARED.findall(_strip_comments(source))
    return frozenset(name for declaration in declarations for name in _SUBSCRIPT.findall(declaration))


def find_accesses(line: str) -> tuple[Access, ...]:
    """The subscripted expressions of a line from left to right, those inside of other subscripts too."""
    code = _strip_comments(line)
    accesses = []
    for match in _SUBSCRIPT.finditer(code):
        end = _end_of_subscripts(code, match.end() - 1)
        if end is None:
            continue
        assigned = _ASSIGNED.match(code, end)
        reads = assigned is None or bool(assigned["compound"] or assigned["step"])
        text = " ".join(code[match.start() : end].split())
        accesses.append(Access(match.group(1), text, stored=assigned is not None, read=reads))
    return tuple(accesses)


def _strip_comments(code: str) -> str:
    return _COMMENT.sub(" ", code)


def _end_of_subscripts(code: str, start: int) -> int | None:
    """The end of `[...]` or `[...][...]` that opens at `start`; None when a bracket stays open."""
    depth = 0
    for position in range(start, len(code)):
        depth += {"[": 1, "]": -1}.get(code[position], 0)
        if depth == 0 and not code[position + 1 :].lstrip().startswith("["):
            return position + 1
    return None


def _shorten(line: str) -> str:
    code = " ".join(_strip_comments(line).split())
    return code if len(code) <= _QUOTE_LENGTH else f"{code[: _QUOTE_LENGTH - 4]} ..."
