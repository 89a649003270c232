"""Places of host code by its debug information: lines, inlined functions, objects without any."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from grader.messages.host_findings import is_own
from grader.records.programs import Frame, HostPlace
from grader.sandbox.process import run_tool
from grader.toolchain.host_lines import find_places

SOURCE = """\
#include "call.h"
extern "C" __attribute__((noipa)) void stop() { asm volatile(""); }
int main()
{
    return call(1);
}
"""
HEADER = """\
extern "C" void stop();
static inline __attribute__((always_inline)) int call(int x)
{
    stop();
    return x;
}
"""


def compile_(folder: Path, *options: str) -> Path:
    (folder / "main.cpp").write_text(SOURCE)
    (folder / "call.h").write_text(HEADER)
    program = folder / "program"
    subprocess.run(["g++", *options, "main.cpp", "-o", program], cwd=folder, check=True)
    return program


def return_address(program: Path) -> int:
    """The offset behind the call of `stop` in `main`."""
    listing = subprocess.run(
        ["objdump", "-d", "--disassemble=main", program], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    call = next(n for n, line in enumerate(listing) if re.search(r"\bcallq?\b.*<stop>", line))
    return int(listing[call + 1].split(":")[0], 16)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_return_address_has_the_line_of_its_call(tmp_path: Path, level: str) -> None:
    program = compile_(tmp_path, "-g", level, "-fno-optimize-sibling-calls")
    frame = Frame(str(program), return_address(program))
    inner, outer = find_places([frame], run_tool)[frame]
    assert (Path(inner.file).name, inner.line) == ("call.h", 4)
    assert (Path(outer.file).name, outer.line, outer.function) == ("main.cpp", 5, "main")
    assert is_own(outer)


def test_without_debug_information_the_object_is_the_place(tmp_path: Path) -> None:
    program = compile_(tmp_path, "-O0")
    frame = Frame(str(program), return_address(program))
    assert find_places([frame], run_tool)[frame] == (HostPlace("program", None, "main"),)


def test_an_absent_object_is_named() -> None:
    frame = Frame("/none/libx.so", 16)
    (place,) = find_places([frame], run_tool)[frame]
    assert place == HostPlace("libx.so")
    assert not is_own(place)
