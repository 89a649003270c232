// Words of a table at computed places: a table of 1 MB, of 16 MB (in the L2), of 256 MB (in DRAM).
// run: --size n=4194304 --size m=262144 --input table=normal:m --output y=float32:n
// run: --size n=4194304 --size m=4194304 --input table=normal:m --output y=float32:n
// run: --size n=4194304 --size m=67108864 --input table=normal:m --output y=float32:n
// run: --size n=16777216 --size m=67108864 --input table=normal:m --output y=float32:n
// launch: words<<<n / 256, 256>>>(y, table, m)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void words(float* y, const float* table, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = table[place_of(i, m - 1)];
}
