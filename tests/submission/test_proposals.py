"""Launch lines that are read from a host's code: they say what the host does, and can be run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import grader
from grader.submission.proposals import propose_lines

SCAN = r"""
#include <cstdio>
#include <cstdlib>
#include <utility>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) exit(1); } while (0)
__global__ void scale(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
__global__ void step(float *out, const float *in, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i >= d ? in[i] + in[i - d] : in[i];
}
void check(int i) { if (i) { printf("x"); } }
int main(int argc, char **argv) {
    int N = argc > 1 ? atoi(argv[1]) : 1 << 20, unused = 3;
    size_t bytes = N * sizeof(float);
    float *h_x = (float *)malloc(bytes);
    float *d_x, *d_y, *d_tmp;
    cudaStream_t stream; cudaStreamCreate(&stream);
    cudaMalloc(&d_x, bytes); CHECK(cudaMalloc((void **)&d_y, bytes));
    CHECK(cudaMalloc(&d_tmp, N * sizeof(float)));
    for (int i = 0; i < N; i++) h_x[i] = i;
    cudaMemcpy(d_x, h_x, bytes, cudaMemcpyHostToDevice);
    int threads = 256;  // a comment
    dim3 grid((N + threads - 1) / threads), block(threads);
    CHECK(cudaMemset(d_y, 0, bytes));
    scale<<<grid, block>>>(d_tmp, d_x, N);
    CHECK(cudaGetLastError());
    int d = 1;
    while (d < N) {
        step<<<grid, block, 0, stream>>>(d_y, d_tmp, N, d);
        std::swap(d_y, d_tmp);
        d *= 2;
    }
    if (argc > 2)
        step<<<grid, block>>>(d_y, d_tmp, N, d);
    cudaMemcpy(d_y, d_tmp, bytes, cudaMemcpyDeviceToDevice);
    cudaDeviceSynchronize();
    cudaMemcpy(h_x, d_y, bytes, cudaMemcpyDeviceToHost);
    printf("%f\n", h_x[0]);
    return 0;
}
"""


def test_a_main_is_read_as_launch_lines() -> None:
    assert propose_lines(SCAN, ["x", "y", "n"]) == (
        "// scratch: float d_tmp[n]",
        "// launch: size_t bytes = n * sizeof(float);",
        "// launch: int threads = 256;",
        "// launch: dim3 grid((n + threads - 1) / threads), block(threads);",
        "// launch: cudaMemset(y, 0, bytes);",
        "// launch: scale<<<grid, block>>>(d_tmp, x, n);",
        "// launch: int d = 1;",
        "// launch: while (d < n) {",
        "// launch:     step<<<grid, block, 0, stream>>>(y, d_tmp, n, d);",
        "// launch:     std::swap(y, d_tmp);",
        "// launch:     d *= 2;",
        "// launch: }",
        "// launch: if (argc > 2) {",
        "// launch:     step<<<grid, block>>>(y, d_tmp, n, d);",
        "// launch: }",
        "// launch: cudaMemcpy(y, d_tmp, bytes, cudaMemcpyDeviceToDevice);",
    )


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("__global__ void k() {}", ()),
        ("__global__ void k() { k<<<1, 1>>>(); }", ()),
        ("int main() { return 0; }", ()),
        ("int main() { k<<<1, 32>>>(dev_x); }", ("// launch: k<<<1, 32>>>(x);",)),
        ("void run(float *xDev) { k<<<1, 32>>>(xDev); }", ("// launch: k<<<1, 32>>>(xDev);",)),
        (
            'extern "C" { void a() { k<<<1, 1>>>(); } }\nint main() { k<<<2, 2>>>(); a(); }',
            ("// launch: k<<<2, 2>>>();",),
        ),
        (
            "int main() { { int b = 4, c = 5; CHECK(cudaMemcpyToSymbol(m, h_x, 4,"
            " 0, cudaMemcpyHostToDevice)); k<float><<<b, 1>>>(d_x, foo(3)); k<<<b, 1>>>(x_d); } }",
            (
                "// launch: int b = 4, c = 5;",
                "// launch: cudaMemcpyToSymbol(m, x, 4, 0);",
                "// launch: k<<<b, 1>>>(x);",
            ),
        ),
        (
            "int main() { int d = 1; do { k<<<1, d>>>(d_x); d *= 2; } while (d < n); k<<<2, 2>>>(); }",
            (
                "// launch: int d = 1;",
                "// launch: do {",
                "// launch:     k<<<1, d>>>(x);",
                "// launch:     d *= 2;",
                "// launch: } while (d < n);",
                "// launch: k<<<2, 2>>>();",
            ),
        ),
        ("int main() { for (int i = 0; i < 3; ++i) k<<<1, 1>>>(", ()),
        ("int main() { do k<<<1, 1>>>();", ()),
        ("int main() { for (;;) { { ( k<<<1, 1>>>();", ()),
        ("int main() { " + "{" * 5000 + "k<<<1, 1>>>();" + "}" * 5001, ()),
        ("int main() { " + "if (1) " * 5000 + "k<<<1, 1>>>(); }", ()),
    ],
)
def test_what_can_be_read(source: str, lines: tuple[str, ...]) -> None:
    assert propose_lines(source, ["x", "n"]) == lines


def test_a_run_without_launch_lines_proposes_some_that_can_be_run() -> None:
    n = 1000
    x = np.arange(n, dtype=np.float32)
    given = {"inputs": {"x": x}, "outputs": {"y": ("float32", (n,))}, "sizes": {"n": n}}
    source = SCAN.replace(
        "    if (argc > 2)\n        step<<<grid, block>>>(d_y, d_tmp, N, d);\n", ""
    )
    with pytest.raises(grader.SubmissionError) as caught:
        grader.run(source, **given, isolated=False)  # type: ignore[arg-type]
    proposed = caught.value.advice.partition("\n")[2]
    run = grader.run(f"{source}\n{proposed}\n", **given, isolated=False)  # type: ignore[arg-type]
    np.testing.assert_array_equal(run.outputs["y"], 2 * np.cumsum(x, dtype=np.float64))


def test_a_default_plan_that_does_not_fit_proposes_launch_lines(tmp_path: Path) -> None:
    source = "__global__ void k(float *o) {}\nint main() { float *d_out; int rows = 4; k<<<rows, 1>>>(d_out); }\n"
    path = tmp_path / "mine.cu"
    path.write_text(source)
    score = grader.grade("exercises/transpose", path, device="emulated:h100", isolated=False)
    assert score.status == "launch_error"
    assert "// launch: k<<<rows, 1>>>(out);" in score.advice
