// Lanes of a warp that ask for different times: ns / lanes apart. y: cycles of a turn.
// run: --size turns=20 --size lanes=2 --size ns=4000 --size threads=32 --output y=float32:132*threads
// run: --size turns=20 --size lanes=32 --size ns=4000 --size threads=32 --output y=float32:132*threads
// launch: sleeps_of_lanes<<<132, threads>>>(y, turns, lanes, ns)

__global__ void sleeps_of_lanes(float* y, int turns, int lanes, int ns)
{
    int own = (threadIdx.x % lanes + 1) * (ns / lanes);
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        __nanosleep(own);
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns;
}
