// Every direction of cudaMemcpy and cudaMemcpyAsync, with offsets and cudaMemcpyDefault.
#include "check.h"
#include <numeric>
#include <vector>

__global__ void add(int *x, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += value;
}

int main()
{
    const int n = 1000;
    std::vector<int> a(n), b(n, -1);
    std::iota(a.begin(), a.end(), 0);
    int *x, *y;
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMalloc(&y, n * sizeof(int)));
    CHECK(cudaMemcpy(x, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    add<<<4, 256>>>(x, n, 5);
    CHECK(cudaMemcpy(y, x, n * sizeof(int), cudaMemcpyDeviceToDevice));
    add<<<4, 256>>>(y, n, 100);
    CHECK(cudaMemcpy(b.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost));
    printf("b[0] %d, b[999] %d\n", b[0], b[999]);

    CHECK(cudaMemcpy(b.data() + 10, x + 500, 10 * sizeof(int), cudaMemcpyDefault));
    printf("b[9..20]:");
    for (int i = 9; i <= 20; ++i)
        printf(" %d", b[i]);
    printf("\n");

    CHECK(cudaMemcpy(a.data(), b.data(), 20 * sizeof(int), cudaMemcpyHostToHost));
    printf("a[19] %d\n", a[19]);
    CHECK(cudaMemcpy(x, a.data(), 0, cudaMemcpyHostToDevice));

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyAsync(x, a.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream));
    add<<<4, 256, 0, stream>>>(x, n, 1);
    CHECK(cudaMemcpyAsync(x, x + n / 2, n / 2 * sizeof(int), cudaMemcpyDefault, stream));
    CHECK(cudaMemcpyAsync(b.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("sum %ld\n", std::accumulate(b.begin(), b.end(), 0L));

    printf("null: %s\n", cudaGetErrorName(cudaMemcpy(x, nullptr, 4, cudaMemcpyHostToDevice)));
    printf("bad kind: %s\n", cudaGetErrorName(cudaMemcpy(x, a.data(), 4, (cudaMemcpyKind)9)));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return 0;
}
