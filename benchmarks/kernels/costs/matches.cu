// Searches for equal lanes, whose values are `distinct` different ones. y: cycles of a turn.
// run: --size turns=100 --size distinct=1 --size bits=32 --size blocks=132 --size threads=32 --output y=float32:4224
// run: --size turns=100 --size distinct=8 --size bits=32 --size blocks=132 --size threads=32 --output y=float32:4224
// run: --size turns=100 --size distinct=32 --size bits=32 --size blocks=132 --size threads=32 --output y=float32:4224
// run: --size turns=100 --size distinct=4 --size bits=32 --size blocks=132 --size threads=1024 --output y=float32:135168
// run: --size turns=100 --size distinct=32 --size bits=32 --size blocks=132 --size threads=1024 --output y=float32:135168
// run: --size turns=100 --size distinct=8 --size bits=64 --size blocks=132 --size threads=32 --output y=float32:4224
// run: --size turns=100 --size distinct=8 --size bits=64 --size blocks=132 --size threads=1024 --output y=float32:135168
// launch: matches<<<blocks, threads>>>(y, turns, distinct, bits)

__global__ void matches(float* y, int turns, unsigned distinct, int bits)
{
    unsigned value = threadIdx.x % 32 % distinct, peers;
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
        if (bits == 32)
            peers = __match_any_sync(~0u, value);
        else
            peers = __match_any_sync(~0u, (unsigned long long)value << 20);
        value += peers == 12345 ? 1 : 64;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns + (value == 7);
}
