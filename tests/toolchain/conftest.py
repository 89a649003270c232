"""The real tools, and small helpers that run them on a text."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.records import Binary, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compilation import NotCompiled
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm

Compile = Callable[[str], Binary | NotCompiled]


def make_submission(text: str, name: str = "student.cu") -> Submission:
    return Submission(name, hashlib.sha256(text.encode()).hexdigest(), text)


@pytest.fixture(scope="session")
def nvcc() -> Nvcc:
    return find_nvcc(os.environ, run_tool, prefer_wheel=True)


@pytest.fixture(scope="session")
def nvdisasm() -> Nvdisasm:
    return find_nvdisasm(os.environ, run_tool)


@pytest.fixture(scope="session")
def compile_text(
    nvcc: Nvcc, nvdisasm: Nvdisasm, tmp_path_factory: pytest.TempPathFactory
) -> Compile:
    """Compiles a text for sm_90, once in a run: nothing that is shipped stands between these tests
    and the tools."""
    cache: Path = tmp_path_factory.mktemp("cache")

    def compile_(text: str) -> Binary | NotCompiled:
        submission = make_submission(text)
        return compile_submission(
            submission,
            nvcc=nvcc,
            nvdisasm=nvdisasm,
            arch="sm_90",
            run=run_tool,
            limits=ToolLimits(),
            cache=cache,
        )

    return compile_
