// CUB and CUDA's standard library in kernels: block reduce, scan, sort, load; atomics and spans.
// nvcc: -std=c++20
#include "check.h"
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/span>

const int THREADS = 64, ITEMS = 4;

__global__ void block_functions(const int *x, int *result)
{
    using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
    using Scan = cub::BlockScan<int, THREADS>;
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
    } storage;
    int items[ITEMS];
    Load(storage.load).Load(x, items);
    __syncthreads();
    Sort(storage.sort).Sort(items);
    __syncthreads();
    int prefix;
    Scan(storage.scan).ExclusiveSum(items[0], prefix);
    __syncthreads();
    int sum = Reduce(storage.reduce).Sum(items[1]);
    cuda::std::array<int, 3> row = {items[0], prefix, threadIdx.x == 0 ? sum : 0};
    cuda::std::span<int> target(result + 3 * threadIdx.x, 3);
    for (int i = 0; i < 3; ++i)
        target[i] = row[i];
    cuda::atomic_ref<int, cuda::thread_scope_device> total(result[3 * THREADS]);
    total.fetch_add(items[3], cuda::memory_order_relaxed);
}

int main()
{
    int host[THREADS * ITEMS], *x, *result, back[3 * THREADS + 1];
    for (int i = 0; i < THREADS * ITEMS; ++i)
        host[i] = i * 97 % 1009;
    CHECK(cudaMalloc(&x, sizeof(host)));
    CHECK(cudaMalloc(&result, sizeof(back)));
    CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(result, 0, sizeof(back)));
    block_functions<<<1, THREADS>>>(x, result);
    CHECK(cudaMemcpy(back, result, sizeof(back), cudaMemcpyDeviceToHost));
    for (int t : {0, 1, 33, 63})
        printf("%d %d %d\n", back[3 * t], back[3 * t + 1], back[3 * t + 2]);
    printf("total %d\n", back[3 * THREADS]);
    CHECK(cudaFree(x));
    CHECK(cudaFree(result));
    return 0;
}
