"""A private folder for one run of nvcc on a submission.

The submission lies alone in its folder under a fixed name, and whatever nvcc writes goes to another
one: the same text sees the same files in every run, so that what was checked in one run is what the
next one compiles.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.records import Completed, RunTool, ToolLimits
from grader.toolchain.nvcc import Nvcc

SOURCE_NAME = "submission.cu"
DEPENDENCIES_NAME = "dependencies"


@dataclass(frozen=True)
class Workspace:
    """The folders of one run: the submission's and that of the written files."""

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


def run_nvcc(
    compiler: Compiler, workspace: Workspace, action: str, *, output: str, dependencies: str = "-MD"
) -> Completed:
    """Run `nvcc action` (`-E`, `-cubin`) on the submission.

    `dependencies` are options of gcc's preprocessor; its list of files is the workspace's
    `dependencies`.
    """
    listing = f"{dependencies},-MF,../out/{DEPENDENCIES_NAME},-MT,all,-fno-diagnostics-show-caret"
    argv = [str(compiler.nvcc.path), action, *compile_options(compiler.arch)]
    argv += ["-Xcompiler", listing, "-o", f"../out/{output}", SOURCE_NAME]
    return compiler.run(argv, cwd=workspace.source, limits=compiler.limits)
