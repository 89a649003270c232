// Eight independent words per thread at computed places: many misses in flight, few stores.
// run: --size n=1048576 --size m=4194304 --input table=normal:m --output y=float32:n
// run: --size n=2097152 --size m=67108864 --input table=normal:m --output y=float32:n
// launch: eight_words<<<n / 256, 256>>>(y, table, m)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void eight_words(float* y, const float* table, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += table[place_of(8 * i + k, m - 1)];
    y[i] = sum;
}
