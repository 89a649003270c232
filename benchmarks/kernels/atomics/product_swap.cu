// Multiplies each number into a random float of 65,536 by compare-and-swap: every thread swaps.
// run: --size n=1048576 --input x=normal:n --output products=normal:65536
// run: --size n=4194304 --input x=normal:n --output products=normal:65536
// launch: product_swap<<<ceil_div(n, 256), 256>>>(products, x, n)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__device__ void atomic_scale(float* product, float factor)
{
    unsigned* word = (unsigned*)product;
    unsigned seen = *word, old;
    do {
        old = seen;
        seen = atomicCAS(word, old, __float_as_uint(__uint_as_float(old) * factor));
    } while (seen != old);
}

__global__ void product_swap(float* products, const float* x, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomic_scale(&products[mix(i) % 65536], x[i] > 0.0f ? 2.0f : 0.5f);
}
