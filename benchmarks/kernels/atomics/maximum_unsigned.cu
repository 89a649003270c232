// The largest random number of each of `groups` groups, by atomicMax on unsigned integers.
// run: --size n=4194304 --size groups=4096 --output largest=index:groups:uint32
// run: --size n=4194304 --size groups=1048576 --output largest=index:groups:uint32
// launch: maximum_unsigned<<<ceil_div(n, 256), 256>>>(largest, n, groups)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void maximum_unsigned(unsigned* largest, unsigned n, unsigned groups)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicMax(&largest[mix(i) & (groups - 1)], mix(i + n));
}
