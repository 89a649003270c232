"""The emulator's runtime of this machine: compiled once into the user's cache folder, and loaded
once by a process."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from grader.emulator.cpp import CompilerFailed, Runtime, load
from grader.errors import ToolMissing
from grader.plumbing.cache import default_cache
from grader.plumbing.shortages import (
    AGAIN,
    FREE_MEMORY,
    LEAST_FREE_BYTES,
    find_full_folder,
    reported_fault,
)

Made = TypeVar("Made")

COMPILER = "g++"
_INSTALL = (
    "Install a C++ compiler (Debian and Ubuntu: `apt install g++`); `grade doctor` tells whether it"
    " is found."
)
_ADVICE_BY_OUTPUT = (
    (r"Killed|ended with -\d", f"{FREE_MEMORY}, {AGAIN}"),
    (r"timed out", f"The machine is busy: wait until other programs have ended, {AGAIN}"),
    (r"unrecognized .*option|for .-march=", "Install a newer g++: the code is C++17."),
    (
        r"fatal error: .*No such file|cannot find -l|cannot execute",
        "Parts of g++ are missing (Debian and Ubuntu: `apt install --reinstall g++ libc6-dev`).",
    ),
)
_ADVICE = (
    "The output above is the compiler's own. Check that `g++` compiles a small C++17 program into a"
    " shared library (`-shared -fPIC`), and install another version of it if it does not."
)


@cache
def emulator_runtime() -> Runtime:
    """The runtime; a process that confines itself later calls this first. Raises ToolMissing."""
    return compile_with(lambda compiler: load(default_cache(os.environ) / "runtime", compiler))


def compile_with(compile_code: Callable[[str], Made]) -> Made:
    """The result of `compile_code(path of the compiler)`. Raises ToolMissing if there is no
    compiler or if it fails."""
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise ToolMissing("The emulated device needs a C++ compiler.", _INSTALL)
    try:
        return compile_code(compiler)
    except CompilerFailed as error:
        message = f"{compiler} does not compile the C++ code of the emulated device."
        raise ToolMissing(message, _advise(str(error)), detail=str(error)) from error


def _advise(output: str) -> str:
    lack = find_full_folder(LEAST_FREE_BYTES) or reported_fault(output)
    if lack is not None:
        return f"{lack}: {lack.advice}"
    fitting = (advice for found, advice in _ADVICE_BY_OUTPUT if re.search(found, output))
    return next(fitting, _ADVICE)
