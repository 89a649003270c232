"""Runs tests of the emulator with a C++ runtime that has address and undefined-behaviour sanitizers.

    python -m tests.support.sanitized             a short choice: 30 s on two cores, with compilation
    python -m tests.support.sanitized --long      all of tests/emulator: 10 minutes of processor
    python -m tests.support.sanitized tests/...   these tests; options of pytest are passed on

The runtime checks untrusted addresses. An access that a check lets through by mistake ends the run
here with a stack trace. NumPy's arrays have guard zones because libasan is loaded first. The
compiled kernels (LLVM) are not instrumented.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

import pytest

from grader.devices.emulated import runtime
from grader.emulator.cpp import SANITIZED, load

SHORT = ("test_faults.py", "test_tensor_maps.py", "test_textures.py")
OPTIONS = ("-p", "tests.support.sanitized", "-o", "addopts=", "-q", "--capture=sys")
"""The sanitizers write to file descriptor 2, which `--capture=sys` leaves alone."""


def pytest_configure(config: pytest.Config) -> None:
    """Let every test of this process use the sanitized runtime."""
    runtime.load = partial(load, options=SANITIZED)


def main(arguments: list[str]) -> int:
    libraries = [
        subprocess.check_output([runtime.COMPILER, f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    environ = os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python does not free all memory at its end
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    chosen = [argument for argument in arguments if argument != "--long"]
    if not any(argument.startswith("tests/") for argument in chosen):
        names = SHORT if "--long" not in arguments else ("",)
        chosen += [f"tests/emulator/{name}" for name in names]
    command = [sys.executable, "-m", "pytest", *OPTIONS, *chosen]
    return subprocess.run(command, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
