// A sparse matrix times a vector: a warp per row, whose values follow each other (CSR). Columns are
// random.
// run: --size n=65536 --size m=64 --input A=normal:n,m --input x=normal:n --output y=float32:n
// run: --size n=1048576 --size m=64 --input A=normal:n,m --input x=normal:n --output y=float32:n
// launch: rows_by_warps<<<n / 8, 256>>>(y, A, x, n, m)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void rows_by_warps(float* y, const float* A, const float* x, unsigned n, int m)
{
    const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (unsigned k = row * m + lane; k < (row + 1) * m; k += 32)
        sum += A[k] * x[mix(k) & (n - 1)];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        y[row] = sum;
}
