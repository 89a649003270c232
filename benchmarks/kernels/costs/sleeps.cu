// Warps that sleep so many nanoseconds, again and again. y: cycles of a turn.
// run: --size turns=200 --size ns=0 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=200 --size ns=20 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=200 --size ns=100 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=200 --size ns=500 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=100 --size ns=2000 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=20 --size ns=10000 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=20 --size ns=10000 --size blocks=132 --size threads=256 --output y=float32:blocks*threads
// run: --size turns=20 --size ns=10000 --size blocks=1056 --size threads=256 --output y=float32:blocks*threads
// run: --size turns=3 --size ns=100000 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=3 --size ns=100000 --size blocks=132 --size threads=1024 --output y=float32:blocks*threads
// run: --size turns=3 --size ns=100000 --size blocks=1 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=1 --size ns=1000000 --size blocks=132 --size threads=256 --output y=float32:blocks*threads
// run: --size turns=200 --size ns=100 --size blocks=132 --size threads=1024 --output y=float32:blocks*threads
// launch: sleeps<<<blocks, threads>>>(y, turns, ns)

__global__ void sleeps(float* y, int turns, int ns)
{
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        __nanosleep(ns);
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns;
}
