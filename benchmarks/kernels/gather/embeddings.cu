// Embeddings: rows of 128 floats out of a long table, a block of 128 threads four of them, summed.
// run: --size n=32768 --size m=32768 --input table=normal:m,128 --output y=float32:n,128
// run: --size n=32768 --size m=524288 --input table=normal:m,128 --output y=float32:n,128
// launch: embeddings<<<n, 128>>>(y, table, m)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void embeddings(float* y, const float* table, int m)
{
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        unsigned row = place_of(4 * blockIdx.x + k, m - 1);
        sum += table[row * 128 + threadIdx.x];
    }
    y[blockIdx.x * 128 + threadIdx.x] = 0.25f * sum;
}
