// Fences for the system, each behind a store of the warp's own line or not. y: cycles of a turn.
// run: --size turns=100 --size stores=0 --size blocks=1 --size threads=32 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=0 --size blocks=132 --size threads=32 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=0 --size blocks=132 --size threads=256 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=0 --size blocks=132 --size threads=1024 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=0 --size blocks=264 --size threads=1024 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=1 --size blocks=1 --size threads=32 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=1 --size blocks=132 --size threads=32 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=1 --size blocks=132 --size threads=256 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=1 --size blocks=132 --size threads=1024 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=1 --size blocks=264 --size threads=1024 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=1 --size blocks=1 --size threads=1024 --output y=float32:2*blocks*threads
// run: --size turns=100 --size stores=0 --size blocks=16 --size threads=1024 --output y=float32:2*blocks*threads
// launch: fences<<<blocks, threads>>>(y, turns, stores)

__global__ void fences(float* y, int turns, int stores)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* own = y + gridDim.x * blockDim.x + i;
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
        if (stores)
            *own = k;
        __threadfence_system();
    }
    y[i] = float(clock64() - start) / turns;
}
