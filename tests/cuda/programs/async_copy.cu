// Copies to shared memory in a pipeline with two stages, and barriers of the block.
// nvcc: -arch=sm_90
#include "check.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void sums(const int *x, int *result, int batches)
{
    constexpr int SIZE = 128;
    __shared__ int tiles[2][SIZE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int next = 0, batch = 0; batch < batches; ++batch) {
        for (; next < batches && next < batch + 2; ++next) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tiles[next % 2], x + next * SIZE, sizeof(int) * SIZE, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += tiles[batch % 2][(threadIdx.x + 1) % SIZE];
        pipeline.consumer_release();
    }
    result[threadIdx.x] = sum;
}

int main()
{
    const int batches = 9, n = 128 * batches;
    int *x, *result;
    CHECK(cudaMallocManaged(&x, n * sizeof(int)));
    CHECK(cudaMallocManaged(&result, 128 * sizeof(int)));
    for (int i = 0; i < n; ++i)
        x[i] = i;
    sums<<<1, 128>>>(x, result, batches);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d\n", result[0], result[1], result[127]);
    CHECK(cudaFree(x));
    CHECK(cudaFree(result));
    return 0;
}
