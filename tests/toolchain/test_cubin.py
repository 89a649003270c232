"""Cubins that are not those of a submission."""

from __future__ import annotations

import subprocess
from pathlib import Path

from grader.toolchain.cubin import read_cubin
from grader.toolchain.elf import Elf
from tests.support.compiling import find_tools


def test_a_cubin_without_kernels_is_read(tmp_path: Path) -> None:
    """nvcc links an empty cubin to every program."""
    source, cubin = tmp_path / "a.cu", tmp_path / "a.cubin"
    source.write_text("")
    nvcc, _ = find_tools(prefer_wheel=True)
    subprocess.run([nvcc.path, "-arch=sm_90", "-cubin", "-o", cubin, source], check=True)
    assert read_cubin(Elf(cubin.read_bytes()), arch="sm_90") == ()
