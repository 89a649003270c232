// Adds 64-bit integers to random words: 512 KB of them, or 32 MB.
// run: --size n=4194304 --size words=65536 --output sums=index:words:uint64
// run: --size n=4194304 --size words=4194304 --output sums=index:words:uint64
// launch: sums_64_bits<<<ceil_div(n, 256), 256>>>(sums, n, words)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void sums_64_bits(unsigned long long* sums, unsigned n, unsigned words)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&sums[mix(i) & (words - 1)], (unsigned long long)i * i);
}
