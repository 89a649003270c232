// Sums along chunks of 4,096 numbers: while 1,024 of them are added, the next ones are copied into
// shared memory by asynchronous copies of 16 bytes.
// run: --size n=4194304 --input x=normal:n --output sums=float32:n/4096,256
// run: --size n=67108864 --input x=normal:n --output sums=float32:n/4096,256
// launch: two_buffers<<<n / 4096, 256>>>(sums, x)

#include <cuda_pipeline.h>

#define THREADS 256
#define STAGES 4

__global__ void two_buffers(float* sums, const float4* x)
{
    __shared__ float4 buffers[2][THREADS];
    const int t = threadIdx.x;
    const float4* chunk = x + blockIdx.x * STAGES * THREADS;
    __pipeline_memcpy_async(&buffers[0][t], &chunk[t], sizeof(float4));
    __pipeline_commit();
    float sum = 0.0f;
    for (int stage = 0; stage < STAGES; stage++) {
        if (stage + 1 < STAGES)
            __pipeline_memcpy_async(
                &buffers[(stage + 1) % 2][t], &chunk[(stage + 1) * THREADS + t], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        const float4 left = buffers[stage % 2][t], right = buffers[stage % 2][THREADS - 1 - t];
        sum += left.x * right.w + left.y * right.z + left.z * right.y + left.w * right.x;
        __syncthreads();
    }
    sums[blockIdx.x * THREADS + t] = sum;
}
