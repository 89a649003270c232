// Additions of half2 and bfloat162 to global memory, with and without the old value. Whole numbers: no order shows.
// in: a float16[64] = small
// in: b bfloat16[64] = small
// inout: h float16[8] = zeros
// inout: f bfloat16[8] = zeros
// out: old uint32[64]
// compare: old sorted
// launch: run<<<1, 32>>>(h, f, old, a, b)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void run(__half2* h, __nv_bfloat162* f, unsigned int* old, const __half2* a, const __nv_bfloat162* b)
{
    const int i = threadIdx.x;
    __half2 x = atomicAdd(&h[i & 1], a[i]);
    __nv_bfloat162 y = atomicAdd(&f[i & 1], b[i]);
    old[i] = *reinterpret_cast<unsigned int*>(&x);
    old[32 + i] = *reinterpret_cast<unsigned int*>(&y);
    atomicAdd(&h[2 + (i & 1)], a[i]);
    atomicAdd(&f[2 + (i & 1)], b[i]);
}
