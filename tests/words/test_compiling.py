"""What is said of a submission that does not compile."""

from __future__ import annotations

import hashlib
import os

import pytest

from grader.folders import default_cache
from grader.records import CompileErrors, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission
from grader.words.compiling import tell_compile_mistake
from tests.support.compiling import find_tools

LAUNCHES_A_KERNEL = """__global__ void child(int *out) { out[0] = 1; }
__global__ void parent(int *out) { child<<<1, 1>>>(out); }
"""
MISSES_A_BRACE = "__global__ void k(int *out) { out[0] = 1;\n"


@pytest.mark.parametrize(
    ("text", "advice"),
    [(LAUNCHES_A_KERNEL, "dynamic parallelism"), (MISSES_A_BRACE, "first error first")],
)
def test_the_advice_suits_the_compiler_s_message(text: str, advice: str) -> None:
    nvcc, nvdisasm = find_tools()
    mistake = compile_submission(
        Submission("file.cu", hashlib.sha256(text.encode()).hexdigest(), text),
        nvcc=nvcc,
        nvdisasm=nvdisasm,
        arch="sm_90",
        run=run_tool,
        limits=ToolLimits(),
        cache=default_cache(os.environ),
    )
    assert isinstance(mistake, CompileErrors)
    assert advice in tell_compile_mistake(mistake).advice


def test_a_header_of_another_package_is_named_with_it() -> None:
    mistake = CompileErrors("file.cu", "curand_kernel.h: No such file or directory", 1, "")
    assert "pip install nvidia-curand" in tell_compile_mistake(mistake).advice
