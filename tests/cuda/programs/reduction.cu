// Sums by interleaved and sequential addressing, by shuffles, and by a last block.
#include "check.h"
#include <numeric>
#include <vector>

const int BLOCK = 128;
__device__ unsigned finished;

__global__ void interleaved(const int *x, long long *sums, int n)
{
    __shared__ int tile[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? x[i] : 0;
    for (int step = 1; step < BLOCK; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0)
            tile[t] += tile[t + step];
    }
    if (t == 0)
        sums[blockIdx.x] = tile[0];
}

__global__ void sequential(const int *x, long long *sums, int n)
{
    __shared__ int tile[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step)
            tile[t] += tile[t + step];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = tile[0];
}

__global__ void shuffles(const int *x, long long *sums, int n)
{
    __shared__ int warps[BLOCK / 32];
    __shared__ bool last;
    int sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += x[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        long long total = 0;
        for (int value : warps)
            total += value;
        sums[blockIdx.x + 1] = total;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        sums[0] = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sums[0] += ((volatile long long *)sums)[b + 1];
    }
}

int main()
{
    const int n = 50000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<int> x(n);
    for (int i = 0; i < n; ++i)
        x[i] = i * 37 % 1001;
    int *dx;
    long long *sums;
    CHECK(cudaMalloc(&dx, n * sizeof(int)));
    CHECK(cudaMalloc(&sums, (blocks + 1) * sizeof(long long)));
    CHECK(cudaMemcpy(dx, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    std::vector<long long> host(blocks);
    for (auto kernel : {interleaved, sequential}) {
        kernel<<<blocks, BLOCK>>>(dx, sums, n);
        CHECK(cudaMemcpy(host.data(), sums, blocks * 8, cudaMemcpyDeviceToHost));
        printf("%lld\n", std::accumulate(host.begin(), host.end(), 0ll));
    }
    for (int round = 0; round < 2; ++round) {
        shuffles<<<20, BLOCK>>>(dx, sums, n);
        CHECK(cudaMemcpy(host.data(), sums, 8, cudaMemcpyDeviceToHost));
        printf("%lld\n", host[0]);
    }
    CHECK(cudaFree(dx));
    CHECK(cudaFree(sums));
    return 0;
}
