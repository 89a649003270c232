// cudaHostRegister: a kernel updates memory of std::vector in place.
#include "check.h"
#include <numeric>
#include <vector>

__global__ void scale(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 3 * x[i] + 1;
}

int main()
{
    const int n = 5000;
    std::vector<int> x(n);
    std::iota(x.begin(), x.end(), 0);
    CHECK(cudaHostRegister(x.data(), n * sizeof(int), cudaHostRegisterMapped));
    int *alias;
    CHECK(cudaHostGetDevicePointer(&alias, x.data(), 0));
    scale<<<(n + 255) / 256, 256>>>(alias, n);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d\n", x[0], x[1], x[n - 1]);
    x[0] = 10;
    scale<<<(n + 255) / 256, 256>>>(alias, n);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d\n", x[0], x[1], x[n - 1]);
    printf("twice: %s\n", cudaGetErrorName(cudaHostRegister(x.data(), 4, 0)));
    cudaGetLastError();
    CHECK(cudaHostUnregister(x.data()));
    printf("unregistered twice: %s\n", cudaGetErrorName(cudaHostUnregister(x.data())));
    long sum = std::accumulate(x.begin(), x.end(), 0L);
    x.push_back(1);
    printf("sum %ld\n", sum);
    return 0;
}
