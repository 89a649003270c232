// Additions of single halves and bfloat16 numbers: compare-and-swap loops on 32-bit words at any address space.
// in: a float16[32] = small
// in: b bfloat16[32] = small
// inout: h float16[4] = zeros
// inout: f bfloat16[4] = zeros
// counters: ignored
// launch: run<<<1, 32>>>(h, f, a, b)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void run(__half* h, __nv_bfloat16* f, const __half* a, const __nv_bfloat16* b)
{
    const int i = threadIdx.x;
    atomicAdd(&h[i & 3], a[i]);
    atomicAdd(&f[i & 3], b[i]);
}
