// The largest number of each of `groups` groups of floats, by compare-and-swap until it stands.
// run: --size n=4194304 --size groups=65536 --input x=normal:n --output largest=normal:groups
// run: --size n=16777216 --size groups=1048576 --input x=normal:n --output largest=normal:groups
// launch: maximum_float_swap<<<ceil_div(n, 256), 256>>>(largest, x, n, groups)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__device__ void atomic_max(float* largest, float value)
{
    int* word = (int*)largest;
    int old = *word;
    while (value > __int_as_float(old)) {
        const int seen = atomicCAS(word, old, __float_as_int(value));
        if (seen == old)
            return;
        old = seen;
    }
}

__global__ void maximum_float_swap(float* largest, const float* x, unsigned n, unsigned groups)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomic_max(&largest[mix(i) & (groups - 1)], x[i]);
}
