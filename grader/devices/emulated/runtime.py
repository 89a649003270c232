"""The emulator's runtime of this machine: compiled once into the user's cache folder, and loaded
once by a process."""

from __future__ import annotations

import os
import shutil
from functools import cache

from grader.emulator.cpp import CompilerFailed, Runtime, load
from grader.errors import ToolMissing
from grader.folders import default_cache

COMPILER = "g++"
_ADVICE = (
    "Install a C++ compiler (Debian and Ubuntu: `apt install g++`); `grade doctor` tells whether it"
    " is found."
)


@cache
def emulator_runtime() -> Runtime:
    """The runtime; a process that is to be confined calls this before. Raises ToolMissing."""
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise ToolMissing("The emulated device needs a C++ compiler.", _ADVICE)
    try:
        return load(default_cache(os.environ) / "runtime", compiler)
    except CompilerFailed as error:
        message = f"{compiler} cannot compile what the emulated device runs with."
        raise ToolMissing(message, _ADVICE, detail=str(error)) from error
