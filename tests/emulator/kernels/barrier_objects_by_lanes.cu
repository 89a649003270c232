// Barrier objects by their intrinsics: lanes of one warp arrive apart, wait for several objects, and
// for phases by their parity.
// out: y int32[128]
// out: z uint32[64]
// out: w int32[32]
// launch: tokens<<<1, 128>>>(y)
// launch: several<<<1, 64>>>(z)
// launch: apart<<<1, 32>>>(w)
#include <cuda_awbarrier_primitives.h>
__global__ void tokens(int* y)
{
    __shared__ __mbarrier_t b;
    __shared__ int s[128];
    if (threadIdx.x == 0) __mbarrier_init(&b, blockDim.x);
    __syncthreads();
    int value = threadIdx.x;
    for (int i = 0; i < 3; ++i) {
        s[threadIdx.x] = value;
        const __mbarrier_token_t token = __mbarrier_arrive(&b);
        while (!__mbarrier_try_wait(&b, token, 100000)) {}
        value += s[127 - threadIdx.x];
        const __mbarrier_token_t later = __mbarrier_arrive(&b);
        while (!__mbarrier_test_wait(&b, later)) {}
    }
    y[threadIdx.x] = value;
}

__global__ void several(unsigned* z)
{
    __shared__ __mbarrier_t b[64];
    __shared__ unsigned s[64];
    __mbarrier_init(&b[threadIdx.x], 2);
    __syncthreads();
    s[threadIdx.x] = 3 * threadIdx.x;
    const unsigned other = 63 - threadIdx.x;
    __mbarrier_arrive(&b[other]);
    const __mbarrier_token_t token = __mbarrier_arrive(&b[threadIdx.x]);
    while (!__mbarrier_try_wait(&b[threadIdx.x], token, 100000)) {}
    z[threadIdx.x] = s[other];
}

__global__ void apart(int* w)
{
    __shared__ __mbarrier_t b;
    __shared__ int s[32];
    const unsigned at = __cvta_generic_to_shared(&b);
    if (threadIdx.x == 0) __mbarrier_init(&b, 16);
    __syncwarp();
    s[threadIdx.x] = threadIdx.x + 7;
    if (threadIdx.x & 1) {
        __mbarrier_arrive(&b);
        w[threadIdx.x] = 0;
    } else {
        asm volatile("{ .reg .pred p;\n"
                     "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                     "@!p bra again; }" ::"r"(at) : "memory");
        w[threadIdx.x] = s[threadIdx.x ^ 1];
    }
}
