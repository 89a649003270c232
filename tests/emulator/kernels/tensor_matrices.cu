// ldmatrix, stmatrix and movmatrix: matrices of 8 by 8 halves, as they stand and transposed, at several strides.
// in: a uint16[4096] = random
// out: loaded uint32[1792]
// out: stored uint16[12288]
// out: moved uint32[32]
// launch: load<<<1, 32>>>(loaded, a)
// launch: store<<<1, 32>>>(stored, a)
// launch: move<<<1, 32>>>(moved, a)
#include <cstdint>
__device__ unsigned address(const uint16_t* s, int row, int stride)
{
    return (unsigned)__cvta_generic_to_shared(s + row * stride);
}
__global__ void load(unsigned* y, const uint16_t* a)
{
    __shared__ __align__(16) uint16_t s[4096];
    const int i = threadIdx.x;
    for (int n = i; n < 4096; n += 32) s[n] = a[n];
    __syncthreads();
    const int strides[4] = {8, 16, 64, 72};
#pragma unroll
    for (int n = 0; n < 4; ++n) {
        unsigned d[14];
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(address(s, i, strides[n])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(d[1]) : "r"(address(s, i, strides[n])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(d[2]), "=r"(d[3]) : "r"(address(s, i, strides[n])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(d[4]), "=r"(d[5]) : "r"(address(s, 31 - i, strides[n])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(d[6]), "=r"(d[7]), "=r"(d[8]), "=r"(d[9]) : "r"(address(s, i / 2, strides[n])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(d[10]), "=r"(d[11]), "=r"(d[12]), "=r"(d[13]) : "r"(address(s, i, strides[n])));
        for (int k = 0; k < 14; ++k) y[(n * 14 + k) * 32 + i] = d[k];
    }
}
__global__ void store(uint16_t* y, const uint16_t* a)
{
    __shared__ __align__(16) uint16_t s[2048];
    const unsigned* words = (const unsigned*)a;
    const int i = threadIdx.x;
    unsigned d[4];
    for (int k = 0; k < 4; ++k) d[k] = words[k * 32 + i];
#pragma unroll
    for (int n = 0; n < 6; ++n) {
        const unsigned there = address(s, i, n < 2 ? 8 : n < 4 ? 16 : 64);
        for (int k = i; k < 2048; k += 32) s[k] = k;
        __syncthreads();
        if (n == 0) asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" : : "r"(there), "r"(d[0]) : "memory");
        if (n == 1) asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" : : "r"(there), "r"(d[0]) : "memory");
        if (n == 2) asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" : : "r"(there), "r"(d[0]), "r"(d[1]) : "memory");
        if (n == 3) asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" : : "r"(there), "r"(d[0]), "r"(d[1]) : "memory");
        if (n == 4) asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" : : "r"(there), "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]) : "memory");
        if (n == 5) asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" : : "r"(there), "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]) : "memory");
        __syncthreads();
        for (int k = i; k < 2048; k += 32) y[n * 2048 + k] = s[k];
        __syncthreads();
    }
}
__global__ void move(unsigned* y, const uint16_t* a)
{
    unsigned d;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(((const unsigned*)a)[threadIdx.x]));
    y[threadIdx.x] = d;
}
