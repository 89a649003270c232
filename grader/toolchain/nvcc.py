"""Finds nvcc and nvdisasm: the program, its version, and the folders that its `#include`
reaches."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.errors import ToolMissing
from grader.plumbing.shortages import LEAST_FREE_BYTES, find_full_folder, reported_fault
from grader.records import Completed, RunTool, ToolLimits

_LIMITS = ToolLimits(wall_seconds=60.0)
_HOST_COMPILER_ADVICE = (
    "Install a C++ compiler (Debian and Ubuntu: `apt install g++`) of a version that this nvcc"
    " supports."
)
_NVCC_ADVICE = (
    "Install the package nvidia-cuda-nvcc (`pip install` of the grader brings it), or set"
    " GRADER_NVCC to an nvcc."
)
_NVDISASM_ADVICE = (
    "Install the package nvidia-cuda-nvdisasm (`pip install` of the grader brings it), or set"
    " GRADER_NVDISASM to its path."
)


@dataclass(frozen=True)
class Nvcc:
    """An nvcc that can compile. `version` is for example `13.5.37`; `include_roots` are resolved
    folders.

    `identity` distinguishes this compiler and its host compiler from others, wherever they are
    installed. `toolkit` are the folders that the compiler itself needs: its toolkit, and that of a
    wrapper around it.
    """

    path: Path
    version: str
    include_roots: tuple[Path, ...]
    identity: str
    toolkit: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Nvdisasm:
    """An nvdisasm and its version."""

    path: Path
    version: str


def find_nvcc(environ: Mapping[str, str], run: RunTool, *, prefer_wheel: bool) -> Nvcc:
    """The nvcc to use: `$GRADER_NVCC`, else the wheel's or the program on PATH; `prefer_wheel`
    decides which comes first.

    Raises ToolMissing if there is none, or if it cannot work (no g++, or an unsupported g++).
    """
    wheel, on_path = _in_wheel("nvidia-cuda-nvcc", "nvcc"), _program("nvcc", environ)
    found = (wheel, on_path) if prefer_wheel else (on_path, wheel)
    path = _choose("GRADER_NVCC", environ, found)
    if path is None:
        raise ToolMissing("There is no nvcc.", _NVCC_ADVICE)
    about = _version_text(path, run, _NVCC_ADVICE)
    search = _include_search(path, run)
    host = re.search(r"^(?:gcc|clang) version .*$", search, re.MULTILINE)
    return Nvcc(
        path,
        _version(about),
        _include_roots(search),
        f"{about}\n{host.group() if host else ''}",
        _toolkit(path, search),
    )


def find_nvdisasm(environ: Mapping[str, str], run: RunTool) -> Nvdisasm:
    """`$GRADER_NVDISASM`, else the wheel's, which knows the most toolkits, else the program beside
    nvcc, else the program on PATH.

    Raises ToolMissing.
    """
    nvccs = (_program(environ.get("GRADER_NVCC", ""), environ), _program("nvcc", environ))
    beside = (_program(str(nvcc.with_name("nvdisasm")), environ) for nvcc in nvccs if nvcc)
    wheel = _in_wheel("nvidia-cuda-nvdisasm", "nvdisasm")
    found = (wheel, *beside, _program("nvdisasm", environ))
    path = _choose("GRADER_NVDISASM", environ, found)
    if path is None:
        raise ToolMissing("There is no nvdisasm.", _NVDISASM_ADVICE)
    return Nvdisasm(path, _version(_version_text(path, run, _NVDISASM_ADVICE)))


def _choose(variable: str, environ: Mapping[str, str], found: Iterable[Path | None]) -> Path | None:
    """The program that the variable names, if it is set; else the first program found."""
    if variable in environ:
        return _program(environ[variable], environ)
    return next((path for path in found if path is not None), None)


def _in_wheel(distribution: str, program: str) -> Path | None:
    """The program of an installed distribution, whose folder is named after the CUDA version."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = (
        Path(str(file.locate()))
        for file in files
        if file.name == program and file.parent.name == "bin"
    )
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def _program(name: str, environ: Mapping[str, str]) -> Path | None:
    found = shutil.which(name, path=environ.get("PATH", os.defpath))
    return Path(found) if found else None


def _version_text(path: Path, run: RunTool, advice: str) -> str:
    completed = run([str(path), "--version"], limits=_LIMITS)
    if completed.returncode != 0:
        raise ToolMissing(f"{path} does not run: {_last_line(completed)}", advice)
    return completed.stdout.strip()


def _version(about: str) -> str:
    found = re.search(r"\bV(\d+(?:\.\d+)+)", about)
    return found.group(1) if found else "unknown"


def _include_search(path: Path, run: RunTool) -> str:
    """The output of nvcc and the host compiler with -v while nvcc preprocesses an empty file."""
    with tempfile.TemporaryDirectory(prefix="grader-") as folder:
        (Path(folder) / "empty.cu").touch()
        completed = run(
            [str(path), "-v", "-E", "-Xcompiler", "-v", "empty.cu", "-o", "empty.ii"],
            cwd=Path(folder),
            limits=_LIMITS,
        )
    if completed.returncode != 0:
        fault = find_full_folder(LEAST_FREE_BYTES) or reported_fault(completed.stderr)
        raise fault or ToolMissing(
            f"{path} cannot use the host compiler: {_last_line(completed)}", _HOST_COMPILER_ADVICE
        )
    return completed.stderr


def _include_roots(search: str) -> tuple[Path, ...]:
    """The folders between gcc's (and clang's) `search starts here` and `End of search list`, each
    once."""
    listed = re.search(
        r"^#include <\.\.\.> search starts here:\n(.*?)^End of search list",
        search,
        re.MULTILINE | re.DOTALL,
    )
    folders = listed.group(1).splitlines() if listed else []
    return tuple(dict.fromkeys(Path(folder.strip()).resolve() for folder in folders))


def _toolkit(path: Path, search: str) -> tuple[Path, ...]:
    """The folders that nvcc (`TOP`) and gcc (`COMPILER_PATH`, `LIBRARY_PATH`) report as their own,
    and the folders of their programs."""
    found = re.findall(r"^(?:#\$ TOP|COMPILER_PATH|LIBRARY_PATH)=(.+)$", search, re.MULTILINE)
    compiler = shutil.which("gcc")
    programs = [path, Path(compiler)] if compiler else [path]
    listed = (Path(folder) for line in found for folder in line.split(":") if folder)
    folders = [*(program.resolve().parent for program in programs), *listed]
    return tuple(dict.fromkeys(folder.resolve() for folder in folders if folder.is_absolute()))


def _last_line(completed: Completed) -> str:
    lines = (completed.stderr or completed.stdout).strip().splitlines()
    lines = [line for line in lines if " error: " in line] or lines
    return " ".join(lines[-2:]) if lines else f"exit code {completed.returncode}"
