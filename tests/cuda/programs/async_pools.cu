// cudaMallocAsync and memory pools: the default pool, a pool of the program, its attributes.
#include "check.h"
#include <cstdint>
#include <vector>

__global__ void fill(int *x, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value + i;
}

int main()
{
    const int n = 10000;
    int supported;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    printf("pools supported: %d\n", supported);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::vector<int> host(n);
    long sum = 0;
    for (int step = 0; step < 5; ++step) {
        int *x;
        CHECK(cudaMallocAsync(&x, n * sizeof(int), stream));
        fill<<<(n + 255) / 256, 256, 0, stream>>>(x, n, step);
        CHECK(cudaMemcpyAsync(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(x, stream));
        CHECK(cudaStreamSynchronize(stream));
        sum += host[n - 1];
    }
    printf("sum %ld\n", sum);

    cudaMemPool_t pool, current;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    uint64_t threshold = 1 << 24, read = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    printf("threshold %d\n", (int)read);
    int *y;
    CHECK(cudaMallocFromPoolAsync(&y, n * sizeof(int), pool, stream));
    fill<<<(n + 255) / 256, 256, 0, stream>>>(y, n, 7);
    CHECK(cudaMemcpyAsync(host.data(), y, 16, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &read));
    printf("used at least: %d\n", read >= n * sizeof(int));
    CHECK(cudaFreeAsync(y, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("first %d, last %d\n", host[0], host[3]);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &read));
    printf("used %d\n", (int)read);

    CHECK(cudaDeviceSetMemPool(0, pool));
    CHECK(cudaDeviceGetMemPool(&current, 0));
    printf("current pool is ours: %d\n", current == pool);
    CHECK(cudaMallocAsync(&y, 64, stream));
    CHECK(cudaFree(y));
    CHECK(cudaDeviceGetDefaultMemPool(&current, 0));
    CHECK(cudaDeviceSetMemPool(0, current));
    CHECK(cudaMemPoolDestroy(pool));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
