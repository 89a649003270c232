// printf: a function of the system, strings, and their addresses in a constant bank.
// out: y int32[32]
// levels: 3
// launch: print<<<1, 32>>>(y)
#ifndef __CUDACC_RTC__
#include <cstdio>
#endif
__global__ void print(int* y)
{
    y[threadIdx.x] = threadIdx.x % 8;
    if (threadIdx.x % 8 == 3)
        y[threadIdx.x] = printf("%d of %s: %.2f\n", threadIdx.x, "a warp", threadIdx.x / 4.0);
}
