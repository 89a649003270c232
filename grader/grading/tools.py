"""The compiler and the disassembler of a grading: finds them, caches their results and isolates
them from the machine's files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from grader.records import RunTool, Submission, ToolLimits
from grader.sandbox.isolation import NO_ISOLATION, find_layer
from grader.sandbox.process import confine_tools, run_tool
from grader.toolchain.compilation import Order
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from grader.toolchain.ready import ReadyRun
from grader.toolchain.tool_answers import keep_answers
from grader.toolchain.workspace import Compiler


@dataclass(frozen=True)
class Toolchain:
    """The tools that compile all programs of one grading, and the cache of their machine code."""

    nvcc: Nvcc
    nvdisasm: Nvdisasm
    cache: Path | None
    run: RunTool = run_tool
    isolation: str = NO_ISOLATION

    def order(self, source: Submission, arch: str, limits: ToolLimits) -> Order:
        """The order to compile a source for `arch`."""
        compiler = Compiler(self.nvcc, arch, self.run, limits)
        return Order(source, compiler, self.nvdisasm, self.cache)

    @property
    def versions(self) -> dict[str, str]:
        return {
            "nvcc": self.nvcc.version,
            "nvdisasm": self.nvdisasm.version,
            "compiler_isolation": self.isolation,
        }


@dataclass(frozen=True)
class _Kept:
    """The tools that a process keeps ready; a fork of it has none."""

    process: int
    several: bool
    runs: dict[object, ReadyRun] = field(default_factory=dict)


_kept: _Kept | None = None


@contextmanager
def keep_tools_ready(*, several: bool = True) -> Iterator[None]:
    """Within, this process keeps its tools ready, see `toolchain.ready`. For one compilation, only
    nvdisasm becomes ready, while nvcc runs: a compiler that becomes ready takes longer than
    nvcc."""
    global _kept
    outer, own = _kept, _Kept(os.getpid(), several)
    _kept = own
    try:
        yield
    finally:
        _kept = outer
        for run in own.runs.values():
            run.close()


def find_toolchain(*, prefer_wheel: bool, cache: Path | None, isolated: bool = True) -> Toolchain:
    """The compiler and disassembler of this machine; `find_nvcc` documents the search order. Raises
    ToolMissing.

    `isolated`: they see only their own files, the headers and the submission.
    """
    ask = run_tool if cache is None else keep_answers(run_tool, cache, os.environ)
    nvcc = find_nvcc(os.environ, ask, prefer_wheel=prefer_wheel)
    nvdisasm = find_nvdisasm(os.environ, ask)
    run = tool_runner(nvcc, nvdisasm, isolated=isolated)
    if _kept is not None and _kept.process == os.getpid():
        ready = ReadyRun(run, several=_kept.several)
        run = _kept.runs.setdefault((nvcc, nvdisasm, isolated), ready)
    return Toolchain(nvcc, nvdisasm, cache, run, find_layer().value if isolated else NO_ISOLATION)


def tool_runner(nvcc: Nvcc, nvdisasm: Nvdisasm, *, isolated: bool) -> RunTool:
    """Runs the tools. `isolated`: they see only their own files, the headers and the submission."""
    if not isolated:
        return run_tool
    return confine_tools([*nvcc.toolkit, *nvcc.include_roots, nvdisasm.path.resolve().parent])
