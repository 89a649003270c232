// Multiply-adds of pairs of halves: four chains per thread.
// run: --size n=1048576 --size rounds=32 --input x=normal:2*n:float16 --output y=float16:2*n
// run: --size n=4194304 --size rounds=128 --input x=normal:2*n:float16 --output y=float16:2*n
// launch: half_pairs<<<n / 256, 256>>>(y, x, rounds)

#include <cuda_fp16.h>

#define CHAINS 4

__global__ void half_pairs(__half2* y, const __half2* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 factor = __hmul2(x[i], __float2half2_rn(0.125f));
    __half2 values[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        values[k] = __float2half2_rn(0.25f * k);
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < CHAINS; k++)
            values[k] = __hfma2(values[k], factor, x[i]);
    y[i] = __hadd2(__hadd2(values[0], values[1]), __hadd2(values[2], values[3]));
}
