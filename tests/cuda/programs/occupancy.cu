// The occupancy functions, for kernels limited by registers, shared memory and threads.
// nvcc: -arch=sm_90
#include "check.h"

__global__ void simple(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void heavy(float *x)
{
    __shared__ float tile[6000];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x ^ 1];
}

struct Bytes {
    __host__ __device__ size_t operator()(int block) const { return 100 * block; }
};

int main()
{
    int blocks, grid, block;
    for (int threads : {32, 100, 256, 768, 1024}) {
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, simple, threads, 0));
        printf("simple, %d threads: %d", threads, blocks);
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heavy, threads, 0));
        printf(", heavy: %d", blocks);
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, simple, threads, 40000));
        printf(", 40000 bytes: %d\n", blocks);
    }
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, simple, 0, 0));
    printf("best block %d\n", block);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, simple, 0, 128));
    printf("best block up to 128: %d\n", block);
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, simple, Bytes(), 0));
    printf("best block with 100 bytes per thread: %d\n", block);
    size_t bytes;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, simple, 4, 256));
    printf("dynamic bytes with 4 blocks: %zu\n", bytes);
    CHECK(cudaFuncSetAttribute(simple, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, simple, 64, 200000));
    printf("200000 bytes: %d\n", blocks);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, simple, 256, 100, cudaOccupancyDisableCachingOverride));
    printf("with flags: %d\n", blocks);
    return 0;
}
