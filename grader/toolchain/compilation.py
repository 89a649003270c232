"""Compiles a submission by nvcc, nvdisasm and c++filt, or takes their outputs from the cache.

This module imports little, so that the compiler starts before the rest of the grader is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self

from grader.cpp.lexer import lines_of_code
from grader.plumbing.cache import cache_key
from grader.records import CompileMistake, Completed, ForeignFile, Submission
from grader.toolchain.artifacts import Artifacts, keep_artifacts, read_artifacts
from grader.toolchain.blame import settle
from grader.toolchain.demangle import demangle
from grader.toolchain.dependencies import check_failed_run, check_files, read_dependencies
from grader.toolchain.front_end import compile_ready, needs_all_features
from grader.toolchain.nvcc import Nvcc, Nvdisasm
from grader.toolchain.ready import ReadyRun
from grader.toolchain.workspace import (
    SOURCE_NAME,
    Compiler,
    Workspace,
    compile_options,
    open_workspace,
    run_nvcc,
)

NotCompiled = CompileMistake | ForeignFile
"""The result of a compilation without machine code."""
CUBIN_NAME = "submission.cubin"


@dataclass(frozen=True)
class Order:
    """A compilation: its input and its tools. `cache` is a folder, or None for no cache."""

    submission: Submission
    compiler: Compiler
    nvdisasm: Nvdisasm
    cache: Path | None

    @cached_property
    def keys(self) -> tuple[str, str]:
        """The names of the cache's entries: see `artifacts_keys`."""
        text, compiler = self.submission.text, self.compiler
        return artifacts_keys(text, compiler.nvcc, self.nvdisasm, compiler.arch)

    @property
    def is_done(self) -> bool:
        """Whether there is an entry of the cache for it."""
        return self.cache is not None and any((self.cache / key).is_file() for key in self.keys)

    def asks_for_the_same(self, other: Order) -> bool:
        """Whether both orders have equal inputs, limits and tools."""
        run = self.compiler.run
        return self == replace(other, compiler=replace(other.compiler, run=run))


class Compilation:
    """The running tools, in a thread of their own. `close` stops them."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._stop = Event()
        self._pool = ThreadPoolExecutor(1)
        compiler = order.compiler
        limits = replace(compiler.limits, stop=self._stop)
        bound = replace(order, compiler=replace(compiler, limits=limits))
        self._made = self._pool.submit(find_artifacts, bound)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def result(self) -> Artifacts | NotCompiled:
        """Waits for the result. Raises as `find_artifacts` does."""
        return self._made.result()

    def close(self) -> None:
        """End a compilation that still runs."""
        self._stop.set()
        self._pool.shutdown()


def find_artifacts(order: Order) -> Artifacts | NotCompiled:
    """The tools' outputs for the submission, from the cache if it has them; else the student's
    mistake. Raises ToolMissing, and GraderError if the machine or a tool is at fault."""
    if order.cache and (artifacts := find_kept(order.cache, order.keys)):
        return artifacts
    compiler = order.compiler
    made = settle(lambda: _make_artifacts(order), compiler)
    if order.cache is None or not isinstance(made, Artifacts):
        return made
    of_text, of_code = order.keys
    return keep_artifacts(order.cache, of_text if made.warnings else of_code, made)


def artifacts_keys(text: str, nvcc: Nvcc, nvdisasm: Nvdisasm, arch: str) -> tuple[str, str]:
    """The names of the cache's entries for a text that these tools compile, and for its code. Files
    that differ only in comments share the second, which has no warnings: they quote comments."""
    tools = (nvcc.identity, nvdisasm.version, *compile_options(arch))
    return cache_key(text, *tools), cache_key(lines_of_code(text), *tools)


def find_kept(cache: Path, keys: Iterable[str]) -> Artifacts | None:
    """The first entry with one of these names, if there is one."""
    return next(filter(None, (read_artifacts(cache, key) for key in keys)), None)


def _make_artifacts(order: Order) -> Artifacts | NotCompiled:
    submission, compiler = order.submission, order.compiler
    nvcc, run, arch = compiler.nvcc, compiler.run, compiler.arch
    with open_workspace(submission.text) as workspace:
        if isinstance(run, ReadyRun):
            from grader.toolchain.nvdisasm import begin_to_read

            begin_to_read(order.nvdisasm, arch, run)
        completed = _run(compiler, workspace)
        if needs_all_features(completed, compiler.arch):
            compiler = replace(compiler, arch=f"{compiler.arch}a")
            completed = _run(compiler, workspace)
        if completed.limit or completed.returncode != 0:
            from grader.toolchain.diagnostics import explain_failed_run

            return check_failed_run(compiler, workspace) or explain_failed_run(
                completed, submission, nvcc=nvcc, limits=compiler.limits, run=run
            )
        # The files that this compilation read, not those of an earlier run of the preprocessor.
        if rejected := check_files(read_dependencies(workspace), nvcc):
            return rejected
        # Loaded on use, while nvcc runs: they read machine code.
        from grader.toolchain.cubin_bounds import find_symbols
        from grader.toolchain.diagnostics import clean_warnings
        from grader.toolchain.nvdisasm import disassemble

        cubin = workspace.out / CUBIN_NAME
        content = cubin.read_bytes()
        symbols = find_symbols(content, submission, arch=arch, run=run)
        if not isinstance(symbols, list):
            return symbols
        listing = disassemble(
            cubin,
            nvdisasm=order.nvdisasm,
            run=run,
            stop=compiler.limits.stop,
            cache=order.cache,
        )
    # Under the name that every submission has here: an entry of the cache serves equal files of
    # different names.
    warnings = clean_warnings(completed, replace(submission, name=SOURCE_NAME), nvcc=nvcc, run=run)
    return Artifacts(content, listing, demangle(symbols, run), warnings)


def _run(compiler: Compiler, workspace: Workspace) -> Completed:
    return compile_ready(compiler, workspace, CUBIN_NAME) or run_nvcc(
        compiler, workspace, "-cubin", output=CUBIN_NAME
    )
