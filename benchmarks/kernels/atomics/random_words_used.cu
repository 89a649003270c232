// Every thread takes the next place in a random one of `words` groups: the old value is used.
// run: --size n=1048576 --size words=256 --output next=index:words:uint32 --output y=uint32:n
// run: --size n=4194304 --size words=262144 --output next=index:words:uint32 --output y=uint32:n
// run: --size n=4194304 --size words=16777216 --output next=index:words:uint32 --output y=uint32:n
// launch: random_words_used<<<ceil_div(n, 256), 256>>>(y, next, n, words)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void random_words_used(unsigned* y, unsigned* next, unsigned n, unsigned words)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = atomicAdd(&next[mix(i) & (words - 1)], 1u);
}
