"""Templates that launch lines instantiate: which uses are added to a source, and that kernels run
by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grader
from grader.grading.building import build
from grader.grading.tools import find_toolchain
from grader.records import Submission
from grader.spec.reader import read_exercise
from grader.spec.statements import Plan
from grader.submission.instances import add_instances
from grader.submission.plan import read_plan
from grader.submission.source_file import parse_submission

KERNELS = """\
template <typename T, int N>
__global__ void scale(T* y, const T* x) {
  if (threadIdx.x < N) y[threadIdx.x] = x[threadIdx.x] * T(N);
}
namespace ops {
template <int N> __global__ void add(float* y) { if (threadIdx.x < 8) y[threadIdx.x] += N; }
template <class T> static __device__ T twice(T x) { return 2 * x; }
}
__global__ void plain(float* y) {}
"""
X = np.arange(8, dtype=np.float32)
GIVEN: dict[str, Any] = {"inputs": {"x": X}, "outputs": {"y": X}, "sizes": {"n": 8}}


TRANSPOSE = Path(__file__).resolve().parents[2] / "exercises" / "transpose"
OF_PARTS = """\
// launch: copy<float, 32><<<1, 32>>>(out, in, rows, cols)
// launch in_place: mirror<float><<<1, 32>>>(data, n)
template <typename T, int N> __global__ void copy(T* out, const T* in, int, int) { *out = *in; }
template <typename T> __global__ void mirror(T* data, int n) { *data += n; }
"""


def added(lines: str, kernels: str = KERNELS) -> str:
    source = parse_submission((lines + kernels).encode(), "a.cu")
    assert isinstance(source, Submission)
    plan = read_plan(source)
    assert isinstance(plan, Plan)
    return add_instances(source, [plan], {"x", "y", "n"}).text.removeprefix(source.text)


def test_each_instance_is_used_once_at_its_line() -> None:
    lines = "// launch: ops::add<2><<<1, 8>>>(y)\n// launch: ops::add<2><<<1, 8>>>(y)\n"
    text = added(
        lines + "// launch: plain<<<1, 8>>>(y)\n// launch: scale<float, 4><<<1, 8>>>(y, x)\n"
    )
    assert text.count("&ops::add<2>;") == text.count("&scale<float, 4>;") == 1
    assert text.index("#line 1") < text.index("&ops") < text.index("#line 4") < text.index("&scale")
    assert "plain" not in text


@pytest.mark.parametrize(
    ("line", "kernels"),
    [
        ("plain<<<1, 8>>>(y)", KERNELS),
        ("ops::add<n><<<1, 8>>>(y)", KERNELS),
        ("ops::add<max(2, 3)><<<1, 8>>>(y)", KERNELS),
        ("ops::add<2><<<1, 8>>>(y)", KERNELS + "template __global__ void ops::add<2>(float*);\n"),
    ],
)
def test_what_the_file_makes_or_cannot_name_is_left_alone(line: str, kernels: str) -> None:
    assert added(f"// launch: {line}\n", kernels) == ""


def test_templates_run_without_an_explicit_instance() -> None:
    lines = "constexpr int FOUR = 4;\n// launch: scale<float, FOUR><<<1, 8>>>(y, x)\n"
    run = grader.run(lines + "// launch: ops::add<2><<<1, 8>>>(y)\n" + KERNELS, **GIVEN)
    assert run.outputs["y"].tolist() == [2, 6, 10, 14, 6, 7, 8, 9]
    assert [line.line for line in run.launches[0].lines] == [5, 6, 7]
    assert run.source.endswith("plain(float* y) {}\n")


def test_an_instance_that_cannot_be_is_told_at_its_launch_line() -> None:
    with pytest.raises(grader.SubmissionError) as refused:
        grader.run("\n// launch: ops::add<float><<<1, 8>>>(y)\n" + KERNELS, **GIVEN)
    assert refused.value.line == 2
    assert "launched_instance" not in refused.value.message


def test_a_grading_has_those_of_the_exercise_and_of_its_parts(cache: Path) -> None:
    source = parse_submission(OF_PARTS.encode(), "a.cu")
    assert isinstance(source, Submission)
    tools = find_toolchain(prefer_wheel=True, cache=cache)
    built = build(source, read_exercise(TRANSPOSE), tools, arch="sm_90")
    assert {kernel.name for kernel in built.binary.kernels} == {"copy<float, 32>", "mirror<float>"}
    assert built.source == source
