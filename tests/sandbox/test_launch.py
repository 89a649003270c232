"""The start of a program under a tool of NVIDIA, which loads its libraries into the program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from grader.sandbox.landlock import landlock_version
from grader.sandbox.launch import LaunchOrder, Place, launch_command
from grader.sandbox.system_calls import filter_known

pytestmark = pytest.mark.skipif(
    landlock_version() == 0 or not filter_known(), reason="needs Landlock and seccomp"
)
LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) void start() {
    write(1, "here\\n", 5);
    unsetenv("LD_PRELOAD");
}
int execve(const char *path, char *const arguments[], char *const variables[]) {
    char preload[4096] = "LD_PRELOAD=" OWN_PATH, *with[1000] = {preload};
    for (int n = 0; n < 998 && variables[n]; n++)
        with[n + 1] = variables[n];
    int (*start_program)(const char *, char *const[], char *const[]) = dlsym(RTLD_NEXT, "execve");
    return start_program(path, arguments, with);
}
"""
"""Like Nsight Compute's, it names itself in LD_PRELOAD when a program starts, and not before."""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    source, library = tmp_path / "tool.c", tmp_path / "tool" / "libtool.so"
    library.parent.mkdir()
    source.write_text(LIBRARY)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", f'-DOWN_PATH="{library}"', "-o", library, source], check=True
    )
    return library


def run(library: Path, place: Place) -> subprocess.CompletedProcess[str]:
    order = LaunchOrder(("/bin/true",), (), (), 10, 1 << 30, 1 << 20, place=place)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    command = launch_command(order)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def test_a_tool_s_library_loads_into_the_program(library: Path) -> None:
    done = run(library, Place.TOOL)
    assert (done.stdout.count("here"), done.stderr) == (2, "")  # in Python, and in the program


def test_without_a_tool_the_program_cannot_read_the_library(library: Path) -> None:
    done = run(library, Place.GPU)
    assert done.stdout.count("here") == 1
    assert "cannot be preloaded" in done.stderr
