// A running sum along columns: asynchronous copies of 16 bytes per thread arrive at barrier objects, two stages ahead.
// run: --size n=4325376 --input x=normal:n --output y=float32:n/32
// run: --size n=138412032 --input x=normal:n --output y=float32:n/32
// launch: copies_that_arrive<<<264, 128>>>(y, x, n / 264 / 512)

#include <cuda_pipeline.h>

__device__ unsigned address_of(const void* place) { return (unsigned)__cvta_generic_to_shared(place); }

__device__ void set_up(unsigned long long* object, int threads)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(object)), "r"(threads) : "memory");
}

__device__ void expect(unsigned long long* object, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(object)), "r"(bytes) : "memory");
}

__device__ void arrive(unsigned long long* object)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(object)) : "memory");
}

__device__ void wait_for(unsigned long long* object, unsigned parity)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(address_of(object)), "r"(parity) : "memory");
}

__global__ void copies_that_arrive(float* y, const float* x, int count)
{
    __shared__ float4 rows[3][128];
    __shared__ unsigned long long objects[3];
    const int t = threadIdx.x;
    const float4* from = (const float4*)x + (size_t)blockIdx.x * count * 128;
    if (t == 0)
        for (int k = 0; k < 3; k++)
            set_up(&objects[k], 128);
    __syncthreads();
    auto bring = [&](int k) {
        __pipeline_memcpy_async(&rows[k % 3][t], &from[k * 128 + t], 16);
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(&objects[k % 3])) : "memory");
    };
    bring(0);
    bring(1);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k = 0; k < count; k++) {
        wait_for(&objects[k % 3], k / 3 % 2);
        const float4 next = rows[k % 3][(t + 7) % 128];
        sum = make_float4(sum.x + next.x, sum.y + next.y, sum.z + next.z, sum.w + next.w);
        __syncthreads();
        if (k + 2 < count)
            bring(k + 2);
        if (k % 32 == 31)
            ((float4*)y)[((size_t)blockIdx.x * count + k) / 32 * 128 + t] = sum;
    }
}
