// Every thread adds 1 to a random one of `words` counters by compare-and-swap until it stands.
// run: --size n=1024 --size words=1 --output counts=index:words:uint32
// run: --size n=8192 --size words=32 --output counts=index:words:uint32
// run: --size n=65536 --size words=1024 --output counts=index:words:uint32
// launch: swaps_of_lanes<<<ceil_div(n, 256), 256>>>(counts, n, words)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void swaps_of_lanes(unsigned* counts, unsigned n, unsigned words)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned* word = counts + mix(i) % words;
    unsigned seen = *(volatile unsigned*)word, old;
    do {
        old = seen;
        seen = atomicCAS(word, old, old + 1);
    } while (seen != old);
}
