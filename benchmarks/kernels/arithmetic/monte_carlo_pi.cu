// Counts the points of a square that lie in the circle: each thread draws `points` of them with a
// generator of its own, and an atomic per warp adds the counts.
// run: --size n=262144 --size points=64 --output hits=index:1:uint64
// run: --size n=1048576 --size points=256 --output hits=index:1:uint64
// launch: monte_carlo_pi<<<n / 256, 256>>>(hits, points)

// The next number of a xorshift generator, whose state is never 0.
__device__ unsigned draw(unsigned& state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__global__ void monte_carlo_pi(unsigned long long* hits, int points)
{
    unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u | 1u;
    unsigned mine = 0;
    for (int k = 0; k < points; k++) {
        const float x = draw(state) * 0x1p-32f, y = draw(state) * 0x1p-32f;
        if (x * x + y * y < 1.0f)
            mine++;
    }
    mine = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, (unsigned long long)mine);
}
