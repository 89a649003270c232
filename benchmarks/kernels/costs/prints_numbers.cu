// Threads that print: so many lanes of each warp, so often.
// run: --size turns=100 --size lanes=1 --size blocks=1 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=20 --size lanes=1 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=100 --size lanes=1 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=1 --size blocks=1056 --size threads=256 --output y=float32:blocks*threads
// run: --size turns=20 --size lanes=32 --size blocks=1 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=32 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=1 --size lanes=1 --size blocks=16384 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=1 --size lanes=32 --size blocks=1056 --size threads=32 --output y=float32:blocks*threads
// launch: prints<<<blocks, threads>>>(y, turns, lanes)

#include <cstdio>

__global__ void prints(float* y, int turns, int lanes)
{
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        if (threadIdx.x % 32 < lanes)
            printf("%d %d %f", k, lanes, 0.5);
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns;
}
