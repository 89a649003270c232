// Random look-ups in a table of `words` constants, with `lanes` different words per warp; each index
// depends on the look-up before.
// run: --size turns=200 --size words=64 --size lanes=1 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=64 --size lanes=8 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=64 --size lanes=32 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=2048 --size lanes=1 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=2048 --size lanes=32 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=16384 --size lanes=1 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=16384 --size lanes=8 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=16384 --size lanes=32 --size threads=32 --output y=float32:132*threads
// run: --size turns=200 --size words=64 --size lanes=1 --size threads=512 --output y=float32:132*threads
// run: --size turns=200 --size words=64 --size lanes=8 --size threads=512 --output y=float32:132*threads
// run: --size turns=200 --size words=64 --size lanes=32 --size threads=512 --output y=float32:132*threads
// run: --size turns=200 --size words=2048 --size lanes=1 --size threads=512 --output y=float32:132*threads
// run: --size turns=200 --size words=2048 --size lanes=32 --size threads=512 --output y=float32:132*threads
// run: --size turns=200 --size words=16384 --size lanes=1 --size threads=512 --output y=float32:132*threads
// run: --size turns=200 --size words=16384 --size lanes=8 --size threads=512 --output y=float32:132*threads
// run: --size turns=200 --size words=16384 --size lanes=32 --size threads=512 --output y=float32:132*threads
// launch: constant_tables<<<132, threads>>>(y, turns, words, lanes)

__constant__ int table[16384];

__global__ void constant_tables(float* y, int turns, int words, int lanes)
{
    unsigned seed = (threadIdx.x / 32 * lanes + threadIdx.x % lanes) * 2654435761u + blockIdx.x;
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
        unsigned at = seed >> 7 & (words - 1);
        seed = seed * 1664525u + 1013904223u + table[at];
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(seed >> 8);
}
