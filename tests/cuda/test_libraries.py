"""cuBLAS and cuRAND: results of NumPy or of the definition, memory of the device, modelled times."""

from __future__ import annotations

import numpy as np
import pytest

import grader
from grader.records.timeline import ActivityKind

BLAS = r"""
#include <cstdio>
#include <cublas_v2.h>
__global__ void fill(float *x, int n, int m) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = i % m - m / 2;
}
int main() {
    const int m = 40, n = 30, k = 50;
    float *a, *b, *c, result[m * n], alpha = 2, beta = 3, dot, norm;
    int largest;
    cudaMalloc(&a, m * k * 4); cudaMalloc(&b, k * n * 4); cudaMalloc(&c, m * n * 4);
    fill<<<1, 256>>>(a, m * k, 7); fill<<<1, 256>>>(b, k * n, 5); fill<<<1, 256>>>(c, m * n, 3);
    cublasHandle_t handle;
    cublasCreate(&handle);
    // a is stored as its transpose, with k rows
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, a, k, b, k, &beta, c, m);
    cublasGetMatrix(m, n, 4, c, m, result, m);
    for (float each : result) printf("%g\n", each);
    cublasSdot(handle, 20, a, -1, b, 2, &dot);
    cublasSnrm2(handle, 20, a, 1, &norm);
    cublasIsamin(handle, 20, a, 1, &largest);
    printf("%g %g %d\n", dot, norm, largest);
    cublasStatus_t bad = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, result, m,
                                     b, k, &beta, c, m);
    printf("%s\n", cublasGetStatusName(bad));
    return cublasDestroy(handle);
}
"""
RANDOM = r"""
#include <cstdio>
#include <curand.h>
int main() {
    const int n = 100000;
    static float host[n];
    static double precise[n];
    float *device;
    cudaMalloc(&device, sizeof host);
    curandGenerator_t one, other;
    curandCreateGenerator(&one, CURAND_RNG_PSEUDO_DEFAULT);
    curandSetPseudoRandomGeneratorSeed(one, 42);
    curandGenerateUniform(one, device, n);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (float each : host) printf("%.9g\n", each);
    curandCreateGeneratorHost(&other, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    curandGenerateNormalDouble(other, precise, n, 5, 2);
    for (double each : precise) printf("%.9g\n", each);
    curandSetPseudoRandomGeneratorSeed(one, 42);
    curandGenerateUniform(one, device, 1);
    cudaMemcpy(precise, device, 4, cudaMemcpyDeviceToHost);
    printf("%d\n", *reinterpret_cast<float *>(precise) == host[0]);
}
"""


def test_products_and_sums_equal_numpys() -> None:
    run = grader.exec_program(BLAS, nvcc=("-lcublas",))
    assert run.exit_code == 0, run.stderr
    assert run.stdout is not None
    *products, sums, status = run.stdout.split("\n")[:-1]
    m, n, k = 40, 30, 50
    a, b, c = (np.arange(size) % of - of // 2 for size, of in ((m * k, 7), (k * n, 5), (m * n, 3)))
    expected = 2 * a.reshape(m, k) @ b.reshape(n, k).T + 3 * c.reshape(n, m).T
    assert [float(each) for each in products] == expected.T.ravel().tolist()
    dot = int(a[:20][::-1] @ b[:40:2])
    assert sums == f"{dot} {np.linalg.norm(a[:20]):.6g} {abs(a[:20]).argmin() + 1}"
    assert status == "CUBLAS_STATUS_EXECUTION_FAILED"
    assert "cublasSgemm" in (run.stderr or "")
    product = next(each for each in run.timeline if each.name == "cublasSgemm")
    assert product.kind is ActivityKind.KERNEL
    assert product.ms == pytest.approx(0.002, abs=1e-4)
    assert any(note.startswith("cublasSgemm: 1 call, ") for note in run.notes)


def test_random_numbers_have_their_distribution() -> None:
    run = grader.exec_program(RANDOM, nvcc=("-lcurand",))
    assert run.exit_code == 0, run.stderr
    *numbers, again = (run.stdout or "").split()
    uniform, normal = np.array(numbers, float).reshape(2, -1)
    assert 0 < uniform.min() < 1e-3
    assert 1 - 1e-3 < uniform.max() <= 1
    assert uniform.mean() == pytest.approx(0.5, abs=5e-3)
    assert abs(np.corrcoef(uniform[1:], uniform[:-1])[0, 1]) < 0.01
    assert normal.mean() == pytest.approx(5, abs=0.05)
    assert normal.std() == pytest.approx(2, abs=0.05)
    assert again == "1"
