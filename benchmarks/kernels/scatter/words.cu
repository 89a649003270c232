// Words stored to computed places, each place once: partial sectors all over memory.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --input x=normal:n --output y=float32:n
// run: --size n=67108864 --input x=normal:n --output y=float32:n
// launch: words<<<n / 256, 256>>>(y, x, n)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void words(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[place_of(i, n - 1)] = x[i];
}
