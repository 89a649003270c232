// Gaussian elimination in double precision with many small launches in one stream.
#include "check.h"
#include <cmath>
#include <vector>

__global__ void eliminate(double *a, double *b, int n, int pivot)
{
    int row = pivot + 1 + blockIdx.x;
    double factor = a[row * n + pivot] / a[pivot * n + pivot];
    for (int column = pivot + 1 + threadIdx.x; column < n; column += blockDim.x)
        a[row * n + column] -= factor * a[pivot * n + column];
    if (threadIdx.x == 0)
        b[row] -= factor * b[pivot];
}

int main()
{
    const int n = 60;
    std::vector<double> a(n * n), b(n), x(n);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            a[i * n + j] = (i * j + i + 2 * j) % 17 + (i == j ? 200 : 0);
            b[i] += a[i * n + j] * (j + 1);
        }
    }
    double *da, *db;
    CHECK(cudaMalloc(&da, n * n * sizeof(double)));
    CHECK(cudaMalloc(&db, n * sizeof(double)));
    CHECK(cudaMemcpy(da, a.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    for (int pivot = 0; pivot < n - 1; ++pivot)
        eliminate<<<n - 1 - pivot, 32>>>(da, db, n, pivot);
    CHECK(cudaMemcpy(a.data(), da, n * n * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b.data(), db, n * sizeof(double), cudaMemcpyDeviceToHost));
    double error = 0;
    for (int i = n - 1; i >= 0; --i) {
        x[i] = b[i];
        for (int j = i + 1; j < n; ++j)
            x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
        error = fmax(error, fabs(x[i] - (i + 1)));
    }
    printf("x[0] %.6f, x[59] %.6f, exact %d\n", x[0], x[59], error < 1e-9);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return error >= 1e-9;
}
