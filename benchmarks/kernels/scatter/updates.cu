// Words changed in place at computed places, each place once: read, then written where it was read.
// run: --size n=1048576 --size m=4194304 --output y=normal:m
// run: --size n=4194304 --size m=67108864 --output y=normal:m
// launch: updates<<<n / 256, 256>>>(y, m)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void updates(float* y, int m)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[place_of(i, m - 1)] += 1.0f;
}
