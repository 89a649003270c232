"""Which array an access to shared memory means."""

from __future__ import annotations

import pytest

from grader.records import Binary, Kernel

from .conftest import Compile

SOURCE = """
__device__ float inlined(const float* row, int i) {
    return row[i + 1];  // first
}
extern "C" __global__ void several(float* y, const int* x) {
    __shared__ float first[40];
    __shared__ short small[3];
    __shared__ float4 second[10];
    extern __shared__ float rest[];
    int t = threadIdx.x;
    first[t] = t;  // first
    small[t % 3] = t;  // small
    second[x[t]].y = t;  // second
    rest[t] = t;  // rest
    __syncthreads();
    const float* either = x[0] > 3 ? first : rest;
    y[t] = either[t + 5];  // unknown
    y[t] += inlined(first, t);
    atomicAdd(&first[x[t]], 1.0f);  // first
    float total = 0.0f;
    for (int i = 0; i < x[1]; ++i) total += second[i].x + second[i].y;  // second
    y[t + 32] = total + small[0];
}
"""
ALONE = """
extern "C" __global__ void alone(float* y) {
    __shared__ float tile[40];
    tile[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[39 - threadIdx.x];
}
"""


@pytest.fixture
def kernel(compile_text: Compile) -> Kernel:
    return read_kernel(compile_text(SOURCE))


def read_kernel(binary: object) -> Kernel:
    assert isinstance(binary, Binary)
    return binary.kernels[0]


def test_each_access_means_the_array_of_its_line(kernel: Kernel) -> None:
    meant = {
        (each.line, kernel.shared_uses[each.offset].array.name)
        for each in kernel.instructions
        if each.offset in kernel.shared_uses
    }
    told = {
        (number, line.split("// ")[1])
        for number, line in enumerate(SOURCE.split("\n"), 1)
        if "// " in line
    }
    unknown = {line for line, name in told if name == "unknown"}
    assert {pair for pair in told if pair[0] not in unknown} <= meant
    assert {pair for pair in meant if pair[0] in dict(told)} <= told


def test_an_access_may_be_anywhere_in_its_array(kernel: Kernel) -> None:
    extents = {
        use.array.name: use.extent for use in kernel.shared_uses.values() if not use.slack_bytes
    }
    assert extents["first"] == (0, 160)
    assert extents["small"] == (160, 166)
    assert extents["second"] == (176, 336)
    assert extents["rest"][0] == 336


def test_one_array_has_no_neighbour(compile_text: Compile) -> None:
    kernel = read_kernel(compile_text(ALONE))
    assert len(kernel.shared_arrays) == 1
    assert not kernel.shared_uses
