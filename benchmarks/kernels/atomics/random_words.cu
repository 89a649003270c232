// Every thread adds to a random unsigned integer of `words`: 1 KB, 1 MB or 64 MB of them.
// run: --size n=1048576 --size words=256 --output sums=index:words:uint32
// run: --size n=4194304 --size words=262144 --output sums=index:words:uint32
// run: --size n=4194304 --size words=16777216 --output sums=index:words:uint32
// launch: random_words<<<ceil_div(n, 256), 256>>>(sums, n, words)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void random_words(unsigned* sums, unsigned n, unsigned words)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sums[mix(i) & (words - 1)], i | 1u);
}
