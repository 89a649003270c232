"""CUDA toolkits of other versions, as far as their parts are Python packages: fetched by pip into a
cache folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.plumbing.cache import default_cache
from grader.records import Binary, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission, read_compiled
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from grader.toolchain.workspace import compile_options

NVCC = tuple(f"13.{minor}" for minor in range(6))
NVRTC = tuple(f"12.{minor}" for minor in (4, 5, 6, 8, 9))  # there is no toolkit 12.7
NVDISASM = tuple(f"13.{minor}" for minor in range(2, 6))
ARCH = "sm_90"

_NVCC_PARTS = ("nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime")
_NO_NETWORK = re.compile(
    r"from versions: none|Connection|Temporary failure|timed out|Network is unreachable"
)
_PIP_SECONDS = 600


@dataclass(frozen=True)
class Nvrtc:
    """A library that compiles in the process that loads it: `library` is its file, `version` that
    of its toolkit."""

    library: Path
    version: str


def fetch_nvcc(version: str) -> Nvcc:
    """The nvcc of a toolkit with the compiler, the assembler and the headers that belong to it."""
    next_minor = f"13.{int(version.partition('.')[2]) + 1}"
    wanted = [*(f"{part}=={version}.*" for part in _NVCC_PARTS), f"nvidia-cuda-cccl<{next_minor}"]
    path = _fetch(f"nvcc-{version}", wanted, "bin/nvcc")
    return find_nvcc(
        {"PATH": os.environ["PATH"], "GRADER_NVCC": str(path)}, run_tool, prefer_wheel=True
    )


def fetch_nvdisasm(version: str) -> Nvdisasm:
    path = _fetch(f"nvdisasm-{version}", [f"nvidia-cuda-nvdisasm=={version}.*"], "bin/nvdisasm")
    return find_nvdisasm({"PATH": os.environ["PATH"], "GRADER_NVDISASM": str(path)}, run_tool)


def fetch_nvrtc(version: str) -> Nvrtc:
    return Nvrtc(
        _fetch(f"nvrtc-{version}", [f"nvidia-cuda-nvrtc-cu12=={version}.*"], "lib/libnvrtc.so.12"),
        version,
    )


def compile_kernels(source: Submission, compiler: Nvcc | Nvrtc, nvdisasm: Nvdisasm) -> Binary:
    """The kernels of a source by this compiler, read by this nvdisasm."""
    if isinstance(compiler, Nvcc):
        made = compile_submission(
            source,
            nvcc=compiler,
            nvdisasm=nvdisasm,
            arch=ARCH,
            run=run_tool,
            limits=ToolLimits(),
            cache=None,
        )
        assert isinstance(made, Binary), made
        return made
    return read_again(
        _compile_with_nvrtc(source.text, compiler.library), source, compiler.version, nvdisasm
    )


def read_again(cubin: bytes, source: Submission, compiler: str, nvdisasm: Nvdisasm) -> Binary:
    return read_compiled(
        cubin, source, nvcc_version=compiler, nvdisasm=nvdisasm, arch=ARCH, run=run_tool
    )


def _fetch(name: str, wanted: list[str], program: str) -> Path:
    """The file `program` of these packages, from the cache folder or else from pip; skips where
    there is no network."""
    folder = default_cache(os.environ) / "toolkits" / name
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as private:
            pip = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--retries",
                "1",
                "--target",
                f"{private}/it",
                *wanted,
            ]
            done = subprocess.run(
                pip, capture_output=True, text=True, check=False, timeout=_PIP_SECONDS
            )
            if done.returncode != 0 and _NO_NETWORK.search(done.stderr):
                pytest.skip(
                    f"no network to fetch {' '.join(wanted)} by:"
                    f" {done.stderr.strip().splitlines()[-1]}"
                )
            assert done.returncode == 0, done.stderr
            if not folder.exists():  # another worker may have been faster
                Path(private, "it").rename(folder)
    (found,) = folder.glob(f"nvidia/*/{program}")
    return found


def _compile_with_nvrtc(text: str, library: Path) -> bytes:
    """In a process of its own: two versions do not live in one."""
    with tempfile.TemporaryDirectory() as folder:
        (source := Path(folder, "submission.cu")).write_text(text)
        options = [option.replace("-O3", "--dopt=on") for option in compile_options(ARCH)]
        script = [
            sys.executable,
            str(Path(__file__).with_name("nvrtc_script.py")),
            str(library),
            str(source),
            *options,
        ]
        environ = {**os.environ, "LD_LIBRARY_PATH": str(library.parent)}
        done = subprocess.run(script, capture_output=True, check=False, env=environ, cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout
