"""Compiles what tests run: with the grader's toolchain, and from the one cache of a test run (see
conftest.py)."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

from grader.plumbing.cache import default_cache
from grader.records import Binary, Completed, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm

DEFAULT_LEVEL = 3
"""The optimisation level that ptxas has without an option."""


@functools.cache
def find_tools(*, prefer_wheel: bool = True) -> tuple[Nvcc, Nvdisasm]:
    """The compiler and the disassembler of this machine."""
    return find_nvcc(os.environ, run_tool, prefer_wheel=prefer_wheel), find_nvdisasm(
        os.environ, run_tool
    )


def compile_source(
    source: Submission,
    *,
    arch: str = "sm_90",
    prefer_wheel: bool = True,
    level: int = DEFAULT_LEVEL,
) -> Binary:
    """The kernels of a source that compiles; `level` is ptxas's."""
    nvcc, nvdisasm = find_tools(prefer_wheel=prefer_wheel)
    cache = default_cache(os.environ)
    if level != DEFAULT_LEVEL:
        cache /= f"ptxas-O{level}"  # the cache's keys do not know of it

    def run(argv: Sequence[str], **settings: Any) -> Completed:  # noqa: ANN401 - a RunTool that adds an option
        levelled = level != DEFAULT_LEVEL and argv[0] == str(nvcc.path)
        options = ["-Xptxas", f"-O{level}"] if levelled else []
        return run_tool([argv[0], *options, *argv[1:]], **settings)

    binary = compile_submission(
        source, nvcc=nvcc, nvdisasm=nvdisasm, arch=arch, run=run, limits=ToolLimits(), cache=cache
    )
    assert isinstance(binary, Binary), f"{source.name}: {binary}"
    return binary
