"""What a host does between launches, in launch lines: loops, swaps, copies, constant memory."""

from __future__ import annotations

import numpy as np
import pytest

import grader

SCAN = """
__global__ void step(float *out, const float *in, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i >= d ? in[i] + in[i - d] : in[i];
}
// scratch: float a[n]
// scratch: float b[n]
// launch: cudaMemcpyAsync(a, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
// launch: cudaMemset(b, 0, n * sizeof(float)); dim3 block(128), grid(ceil_div(n, block_size));
// launch: for (int d = 1; d < n; d *= 2) {
// launch:     step<<<grid, block>>>(b, a, n, d); std::swap(a, b);
// launch: }
// launch: cudaDeviceSynchronize(); cudaMemcpy(y, a, n * 4, cudaMemcpyDefault);
"""


@pytest.mark.parametrize("isolated", [True, False])
def test_a_scan_of_many_launches(isolated: bool) -> None:
    n = 1000
    x = np.arange(n, dtype=np.float32)
    source = SCAN.replace("block_size", "128")
    given = {"inputs": {"x": x}, "outputs": {"y": ("float32", (n,))}, "sizes": {"n": n}}
    run = grader.run(source, **given, isolated=isolated, check=True)
    np.testing.assert_array_equal(run.outputs["y"], np.cumsum(x, dtype=np.float64))
    assert len(run.launches) == 10
    assert not run.findings


WEIGHTS = """
namespace filter { __constant__ float weights[9]; __constant__ int shift; }
__device__ float scale = 2;
__global__ void convolve(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < 9; ++k)
        sum += filter::weights[k] * in[(i + k + filter::shift) % n];
    out[i] = scale * sum;
}
"""


@pytest.mark.parametrize(
    ("lines", "factors", "shift"),
    [
        (["cudaMemcpyToSymbol(filter::weights, w)"], range(1, 10), 0),
        (["cudaMemcpyToSymbol(filter::weights, w + 3, 12, 8)"], [0, 0, 4, 5, 6, 0, 0, 0, 0], 0),
        (
            [
                "cudaMemcpyToSymbol(shift, j); cudaMemcpyToSymbol(weights, w, sizeof(float))",
                "convolve<<<1, 64>>>(out, x, 64); cudaMemcpyFromSymbol(v, weights)",
                "cudaMemcpyToSymbol(weights, v, 4, 32); cudaMemset(v, 0, 4)",
                "cudaMemcpyToSymbol(weights, v, 4)",
            ],
            [0, 0, 0, 0, 0, 0, 0, 0, 1],
            5,
        ),
    ],
)
def test_constant_memory_is_filled_from_buffers(
    lines: list[str], factors: list[int], shift: int
) -> None:
    x = np.arange(64, dtype=np.float32) % 17
    text = "".join(f"// launch: {line}\n" for line in lines)
    given = {"x": x, "w": np.arange(1, 10, dtype=np.float32), "j": np.array([5], dtype=np.int32)}
    source = f"{WEIGHTS}// scratch: float v[9]\n{text}// launch: convolve<<<1, 64>>>(out, x, 64)\n"
    run = grader.run(source, inputs=given, outputs={"out": ("float32", (64,))}, isolated=False)
    wanted = sum(factor * np.roll(x, -k - shift) for k, factor in enumerate(factors))
    np.testing.assert_array_equal(run.outputs["out"], 2 * wanted)


POINTERS = """
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int others[4] = {10, 20, 30, 40};
// launch: cudaMemcpyToSymbol(table, w, 8, 4)
// launch: pick<<<1, 8>>>(out)
__global__ void pick(int* out)
{
    const int* from = threadIdx.x % 2 ? table : others;
    out[threadIdx.x] = from[threadIdx.x / 2];
}
"""


def test_pointers_to_constant_memory_read_what_was_copied_there() -> None:
    given = {"w": np.array([70, 80], dtype=np.int32)}
    run = grader.run(POINTERS, inputs=given, outputs={"out": ("int32", (8,))}, check=True)
    assert run.outputs["out"].tolist() == [10, 1, 20, 70, 30, 80, 40, 4]
    assert not run.findings


COUNT = """
__global__ void mark(int *out, int place, int value) { atomicAdd(out + place, value); }
"""


@pytest.mark.parametrize(
    ("lines", "counts"),
    [
        (["int i = 3; while (i--) mark<<<1, 1>>>(y, i, 1)"], []),
        (["int i = 3; while (i > 0) { i--; mark<<<1, 1>>>(y, i, 1); }"], [1, 1, 1]),
        (["for (int i = 0, k = 8; i < k; ++i, k -= 2)", "mark<<<1, 1>>>(y, i, k)"], [8, 6, 4]),
        (
            ["for (unsigned i = 4; i; i >>= 1) // halves", "mark<<<1, 1>>>(y, i, 1)"],
            [0, 1, 1, 0, 1],
        ),
        (
            [
                "for (int i = 0; ; i++) { if (i == 2) continue;",
                "if (i > 4) break; else mark<<<1, 1>>>(&y[i], 0, i); }",
            ],
            [0, 1, 0, 3, 4],
        ),
        (
            [
                "if (n % 2 == 0 && !(n > 100)) { mark<<<1, 1>>>(y, 0, 1);",
                "}",
                "else",
                "{ mark<<<1, 1>>>(y, 1, 1);",
                "}",
            ],
            [1],
        ),
        (
            [
                "int *p = y + 2; const int two = 2; p += two;",
                "{ int two = 7; mark<<<1, 1>>>(p, 0, two);}",
                "mark<<<1, two / 2>>>(p, 1, two);",
            ],
            [0, 0, 0, 0, 7, 2],
        ),
        (
            [
                "int half = 0; do { mark<<<{1, 1}, {1}>>>(y, half, 'A'); half++;",
                "} while (half < 2)",
            ],
            [65, 65],
        ),
        (["n /= 32; float f = 2.5; f *= 2; mark<<<1, 1>>>(y, n, f > 4 ? (int)f : 0)"], [0, 0, 5]),
        (
            [
                "cudaFuncSetAttribute((const void *)mark, cudaFuncAttributeMaxDynamicSharedMemorySize,"
                " 65536); cudaStream_t s, t[2]; cudaStreamCreate(&s); cudaEventRecord(e, s)",
                "mark<<<1, 1, 65536, s>>>(y, 0, 9); cudaGetLastError();",
            ],
            [9],
        ),
    ],
)
def test_statements_of_c(lines: list[str], counts: list[int]) -> None:
    source = COUNT + "".join(f"// launch: {line}\n" for line in lines)
    outputs = {"y": np.zeros(16, dtype=np.int32)}
    if not counts:
        with pytest.raises(grader.SubmissionError, match="expected"):
            grader.run(source, outputs=outputs, sizes={"n": 64}, isolated=False)
        return
    run = grader.run(source, outputs=outputs, sizes={"n": 64}, isolated=False)
    np.testing.assert_array_equal(run.outputs["y"][: len(counts)], counts)
    assert not run.outputs["y"][len(counts) :].any()


def test_copies_and_fills_take_modelled_time_of_the_plan() -> None:
    source = SCAN.replace("block_size", "128")
    n = 256
    run = grader.run(
        source,
        inputs={"x": np.ones(n, dtype=np.float32)},
        outputs={"y": ("float32", (n,))},
        sizes={"n": n},
        model=True,
        isolated=False,
    )
    assert all(launch.time is not None for launch in run.launches)
