// Threads that ask the heap for 32 bytes and keep them.
// run: --size turns=20 --size lanes=32 --size blocks=1 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=32 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=1 --size blocks=132 --size threads=256 --output y=float32:blocks*threads
// launch: heap_kept<<<blocks, threads>>>(y, turns, lanes)

__global__ void heap_kept(float* y, int turns, int lanes)
{
    long long start = clock64();
    float got = 0;
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        if (threadIdx.x % 32 < lanes) {
            char* piece = (char*)malloc(32);
            if (piece)
                *piece = 1;
            got += piece != nullptr;
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns + 0 * got;
}
