// A transposed matrix times a vector: a thread per column, 128 rows per block, whose sums meet in
// atomics.
// run: --size h=4096 --size w=4096 --input A=normal:h,w --input x=normal:h --output y=index:w
// run: --size h=16384 --size w=8192 --input A=normal:h,w --input x=normal:h --output y=index:w
// launch: vector_transposed<<<dim3(w / 128, h / 128), 128>>>(y, A, x, w)

#define ROWS 128

__global__ void vector_transposed(float* y, const float* A, const float* x, int w)
{
    __shared__ float factors[ROWS];
    const int col = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * ROWS;
    factors[threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < ROWS; k++)
        sum += factors[k] * A[(size_t)(first + k) * w + col];
    atomicAdd(&y[col], sum);
}
