"""Functions that numba compiles when their module is loaded: the machine code is kept beside the
module, or in the user's cache folder.

A worker that is confined can write no cache, so it loads the modules before; later ones take what
the first one left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]


def compiled(signature: str) -> Compile:
    """Compile a function for arguments of these types, or take it from the cache."""

    def compile_now(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(signature, cache=True)(function)
        except RuntimeError:  # no folder can be written: it takes seconds, each time
            return njit(signature)(function)

    return compile_now
