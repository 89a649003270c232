// Asynchronous copies: __pipeline_memcpy_async, cuda::pipeline of a thread, cuda::memcpy_async of a group, two stages.
// in: a float32[2048] = small
// out: y float32[512]
// out: z float32[512]
// out: w float32[128]
// launch: primitives<<<4, 128>>>(y, a)
// launch: pipelines<<<4, 128>>>(z, a)
// launch: groups<<<1, 128>>>(w, a)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
__global__ void primitives(float *y, const float *a) {
    __shared__ alignas(16) float s[2][128];
    const float *from = a + blockIdx.x * 512;
    float sum = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], from + threadIdx.x, 4);
    __pipeline_commit();
    for (int k = 0; k < 4; ++k) {
        if (k + 1 < 4) {
            if (threadIdx.x < 32) __pipeline_memcpy_async(&s[(k + 1) & 1][4 * threadIdx.x], from + (k + 1) * 128 + 4 * threadIdx.x, 16);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else
            __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[k & 1][127 - threadIdx.x];
        __syncthreads();
    }
    y[blockIdx.x * 128 + threadIdx.x] = sum;
}
__global__ void pipelines(float *z, const float *a) {
    __shared__ float s[2][128];
    auto pipe = cuda::make_pipeline();
    const float *from = a + blockIdx.x * 512;
    float sum = 0;
    for (int k = 0; k < 5; ++k) {
        if (k < 4) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[k & 1][threadIdx.x], from + k * 128 + threadIdx.x, sizeof(float), pipe);
            pipe.producer_commit();
        }
        if (k > 0) {
            if (k < 4) cuda::pipeline_consumer_wait_prior<1>(pipe); else cuda::pipeline_consumer_wait_prior<0>(pipe);
            sum = sum * 2 + s[(k - 1) & 1][threadIdx.x];
            pipe.consumer_release();
        }
    }
    z[blockIdx.x * 128 + threadIdx.x] = sum;
}
__global__ void groups(float *w, const float *a) {
    namespace cg = cooperative_groups;
    __shared__ alignas(16) float s[256];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, a, sizeof(float) * 256);
    cg::wait(block);
    w[threadIdx.x] = s[threadIdx.x] - s[255 - threadIdx.x];
}
