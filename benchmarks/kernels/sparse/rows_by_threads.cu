// A sparse matrix times a vector: a thread per row, whose values follow each other (CSR). Columns
// are random.
// run: --size n=262144 --size m=16 --input A=normal:n,m --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size m=8 --input A=normal:n,m --input x=normal:n --output y=float32:n
// launch: rows_by_threads<<<n / 256, 256>>>(y, A, x, n, m)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void rows_by_threads(float* y, const float* A, const float* x, unsigned n, int m)
{
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (unsigned k = row * m; k < (row + 1) * m; k++)
        sum += A[k] * x[mix(k) & (n - 1)];
    y[row] = sum;
}
