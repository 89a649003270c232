"""What is error_text of a submission that does not compile."""

from __future__ import annotations

import hashlib
import os

import pytest

from grader.messages.sources import describe_compile_mistake
from grader.plumbing.cache import default_cache
from grader.records import CompileErrors, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission
from tests.support.compiling import find_tools

LAUNCHES_A_KERNEL = """__global__ void child(int *out) { out[0] = 1; }
__global__ void parent(int *out) { child<<<1, 1>>>(out); }
"""
MISSES_A_BRACE = "__global__ void k(int *out) { out[0] = 1;\n"


@pytest.mark.parametrize(
    ("text", "message", "advice"),
    [
        (
            LAUNCHES_A_KERNEL,
            "file.cu does not compile: line 2: a kernel or __device__ function launches a kernel;"
            " dynamic parallelism is not supported",
            "Give each launch a // launch: line",
        ),
        (
            "__global__ void größe(int *out) {}\n",
            "file.cu does not compile: line 1: Universal character",
            "nvcc accepts only ASCII letters in names of kernels",
        ),
        (MISSES_A_BRACE, "file.cu does not compile: line 1: expected a", "first error first"),
    ],
)
def test_words_and_advice_suit_the_compiler_s_message(text: str, message: str, advice: str) -> None:
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
    failure = describe_compile_mistake(mistake)
    assert failure.message.startswith(message)
    assert advice in failure.advice


def test_a_header_of_another_package_is_named_with_it() -> None:
    mistake = CompileErrors("file.cu", "curand_kernel.h: No such file or directory", 1, "")
    assert "pip install nvidia-curand" in describe_compile_mistake(mistake).advice
