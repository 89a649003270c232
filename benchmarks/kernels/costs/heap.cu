// Threads that ask the heap for memory and give it back: so many lanes of each warp, so often.
// run: --size turns=20 --size lanes=1 --size bytes=64 --size blocks=1 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=20 --size lanes=32 --size bytes=64 --size blocks=1 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=1 --size bytes=64 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=32 --size bytes=64 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=32 --size bytes=1024 --size blocks=132 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=1 --size lanes=32 --size bytes=64 --size blocks=1056 --size threads=256 --output y=float32:blocks*threads
// run: --size turns=4 --size lanes=1 --size bytes=64 --size blocks=132 --size threads=256 --output y=float32:blocks*threads
// run: --size turns=1 --size lanes=1 --size bytes=64 --size blocks=4096 --size threads=32 --output y=float32:blocks*threads
// run: --size turns=1 --size lanes=32 --size bytes=64 --size blocks=4096 --size threads=256 --output y=float32:blocks*threads
// launch: heap<<<blocks, threads>>>(y, turns, lanes, bytes)

__global__ void heap(float* y, int turns, int lanes, int bytes)
{
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        if (threadIdx.x % 32 < lanes) {
            char* piece = (char*)malloc(bytes);
            if (piece)
                *piece = 1;
            free(piece);
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns;
}
