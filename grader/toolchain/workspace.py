"""A private folder for a run of nvcc on a submission.

The submission lies alone in its folder under a fixed name, and nvcc writes to another folder. So
the same text sees the same files in every run, and the next run compiles exactly the checked text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.errors import GraderError
from grader.plumbing.shortages import AGAIN
from grader.records import Completed, RunTool, ToolLimits
from grader.toolchain.nvcc import Nvcc

_WALL_FACTOR = 4
"""Of wall time to the limit of processor time."""
SOURCE_NAME = "submission.cu"
DEPENDENCIES_NAME = "dependencies"


@dataclass(frozen=True)
class Workspace:
    """The folders of a run: the submission's, and the folder for written files."""

    source: Path
    out: Path


@contextmanager
def open_workspace(text: str) -> Iterator[Workspace]:
    """A workspace that holds `text` as the submission; removed with all that was written into
    it."""
    with tempfile.TemporaryDirectory(prefix="grader-") as folder:
        workspace = Workspace(Path(folder) / "source", Path(folder) / "out")
        workspace.source.mkdir()
        workspace.out.mkdir()
        (workspace.source / SOURCE_NAME).write_bytes(text.encode())
        yield workspace


@dataclass(frozen=True)
class Compiler:
    """An nvcc, the architecture that it compiles for, and how it is run."""

    nvcc: Nvcc
    arch: str
    run: RunTool
    limits: ToolLimits


OPTIONS = ("-O3", "-lineinfo")


def compile_options(arch: str) -> tuple[str, ...]:
    """Options that every run on a submission shares, because the text can see some of them
    (`__OPTIMIZE__`)."""
    return (*OPTIONS, f"-arch={arch}")


def nvcc_command(compiler: Compiler, action: str, *, dependencies: str = "-MD") -> list[str]:
    """The command line of `nvcc action` on the submission, without its output. `dependencies` are
    options of gcc's preprocessor; its list of files is the workspace's `dependencies`."""
    listing = f"{dependencies},-MF,../out/{DEPENDENCIES_NAME},-MT,all,-fno-diagnostics-show-caret"
    options = (*compile_options(compiler.arch), "-Xcompiler", listing)
    return [str(compiler.nvcc.path), action, *options, SOURCE_NAME]


def run_nvcc(
    compiler: Compiler, workspace: Workspace, action: str, *, output: str, dependencies: str = "-MD"
) -> Completed:
    """Run `nvcc action` (`-E`, `-cubin`) on the submission; `dependencies`: see `nvcc_command`. The
    limits' time is processor time. Raises GraderError if the compiler gets less than half of it in
    four times as long."""
    argv = [*nvcc_command(compiler, action, dependencies=dependencies), "-o", f"../out/{output}"]
    seconds = compiler.limits.wall_seconds
    limits = replace(compiler.limits, wall_seconds=_WALL_FACTOR * seconds, cpu_seconds=seconds)
    completed = compiler.run(argv, cwd=workspace.source, limits=limits)
    if completed.limit == "time" and completed.cpu_seconds < seconds / 2:
        raise GraderError(
            f"the compiler got {completed.cpu_seconds:.1f} s of processor time in"
            f" {limits.wall_seconds:g} s, and may use {seconds:g} s",
            f"The machine is overloaded, or a disk hangs: use fewer --jobs, {AGAIN}",
        )
    return completed
