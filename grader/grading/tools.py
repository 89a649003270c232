"""The compiler and the disassembler of a grading: which they are, where their answers are kept, and
what they see of this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from grader.records import RunTool, Submission, ToolLimits
from grader.sandbox.isolation import NO_ISOLATION, find_layer
from grader.sandbox.process import confine_tools, run_tool
from grader.toolchain.compilation import Order
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from grader.toolchain.tool_answers import keep_answers
from grader.toolchain.workspace import Compiler


@dataclass(frozen=True)
class Toolchain:
    """What compiles all programs of one grading, and where their machine code is kept."""

    nvcc: Nvcc
    nvdisasm: Nvdisasm
    cache: Path | None
    run: RunTool = run_tool
    isolation: str = NO_ISOLATION

    def order(self, source: Submission, arch: str, limits: ToolLimits) -> Order:
        """What has a source compiled for `arch`."""
        compiler = Compiler(self.nvcc, arch, self.run, limits)
        return Order(source, compiler, self.nvdisasm, self.cache)

    @property
    def versions(self) -> dict[str, str]:
        return {
            "nvcc": self.nvcc.version,
            "nvdisasm": self.nvdisasm.version,
            "compiler_isolation": self.isolation,
        }


def find_toolchain(*, prefer_wheel: bool, cache: Path | None, isolated: bool = True) -> Toolchain:
    """The compiler and disassembler of this machine; see `find_nvcc` for which one. Raises
    ToolMissing.

    `isolated`: they see of the machine's files only their own, the headers and the submission.
    """
    ask = run_tool if cache is None else keep_answers(run_tool, cache, os.environ)
    nvcc, nvdisasm = (
        find_nvcc(os.environ, ask, prefer_wheel=prefer_wheel),
        find_nvdisasm(os.environ, ask),
    )
    run = tool_runner(nvcc, nvdisasm, isolated=isolated)
    return Toolchain(nvcc, nvdisasm, cache, run, find_layer().value if isolated else NO_ISOLATION)


def tool_runner(nvcc: Nvcc, nvdisasm: Nvdisasm, *, isolated: bool) -> RunTool:
    """What runs the tools; `isolated`: they see of the machine's files only their own, the headers
    and the submission."""
    return (
        confine_tools([*nvcc.toolkit, *nvcc.include_roots, nvdisasm.path.resolve().parent])
        if isolated
        else run_tool
    )
