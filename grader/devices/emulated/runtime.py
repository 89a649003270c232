"""The emulator's runtime of this machine: compiled once into the user's cache folder, and loaded
once by a process."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache

from grader.emulator.cpp import CompilerFailed, Runtime, load
from grader.errors import ToolMissing
from grader.plumbing.cache import default_cache
from grader.plumbing.shortages import (
    AGAIN,
    FREE_MEMORY,
    ROOM_BYTES,
    find_full_folder,
    reported_fault,
)

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
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise ToolMissing("The emulated device needs a C++ compiler.", _INSTALL)
    try:
        return load(default_cache(os.environ) / "runtime", compiler)
    except CompilerFailed as error:
        message = f"{compiler} does not compile the C++ code of the emulated device."
        raise ToolMissing(message, _advise(str(error)), detail=str(error)) from error


def _advise(output: str) -> str:
    lack = find_full_folder(ROOM_BYTES) or reported_fault(output)
    if lack is not None:
        return f"{lack}: {lack.advice}"
    fitting = (advice for found, advice in _ADVICE_BY_OUTPUT if re.search(found, output))
    return next(fitting, _ADVICE)
