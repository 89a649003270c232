// `lanes` lanes of each warp exchange random words of `words`, then the warp takes the next place
// of one counter. Where the words come from DRAM, the counter's slice of the L2 waits for its share
// of them.
// run: --size n=4194304 --size lanes=4 --size words=262144 --output y=index:words+32:int32
// run: --size n=4194304 --size lanes=1 --size words=4194304 --output y=index:words+32:int32
// run: --size n=4194304 --size lanes=4 --size words=16777216 --output y=index:words+32:int32
// launch: counter_beside_misses<<<n / 256, 256>>>(y, lanes, words)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void counter_beside_misses(int* y, unsigned lanes, unsigned words)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int old = 0;
    if (lane < lanes)
        old = atomicExch(&y[32 + (mix(i) & (words - 1))], 0);
    old = __reduce_add_sync(0xffffffffu, old);
    if (lane == 0)
        atomicAdd(y, 1 + (old == 123457));
}
