// cuda::barrier: warps exchange words in rounds, threads leave it, and each thread copies for all.
// inout: y int32[256] = small
// in: a int32[1024] = small
// out: z int32[1024]
// out: w int32[256]
// launch: rounds<<<1, 256>>>(y)
// launch: copies<<<1, 256>>>(z, a)
// launch: leaves<<<1, 256>>>(w)
#include <cuda/barrier>
#include <cooperative_groups.h>
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void rounds(int* y)
{
    __shared__ barrier b;
    __shared__ int s[256];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    int value = y[threadIdx.x];
    for (int i = 0; i < 5; ++i) {
        s[threadIdx.x] = value + i;
        auto token = b.arrive();
        value *= 3;
        b.wait(std::move(token));
        value += s[threadIdx.x ^ 33];
        b.arrive_and_wait();
    }
    y[threadIdx.x] = value;
}

__global__ void copies(int* z, const int* a)
{
    __shared__ barrier b;
    __shared__ int s[256];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        cuda::memcpy_async(&s[threadIdx.x], a + 256 * i + threadIdx.x, sizeof(int), b);
        b.arrive_and_wait();
        z[256 * i + threadIdx.x] = s[threadIdx.x ^ 97] + i;
        b.arrive_and_wait();
    }
}

__global__ void leaves(int* w)
{
    __shared__ barrier b;
    __shared__ int s[256];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int sum = 0;
    const int last = threadIdx.x / 32;
    for (int i = 0; i < 8; ++i) {
        if (i == last) {
            b.arrive_and_drop();
            break;
        }
        s[threadIdx.x] += i;
        b.arrive_and_wait();
        sum += s[(threadIdx.x + 32) & 255];
        b.arrive_and_wait();
    }
    w[threadIdx.x] = sum;
}
