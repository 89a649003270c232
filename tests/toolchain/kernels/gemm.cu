// A tiled matrix product of a block's own size, at a ragged size, of small integers: exact in any order.
// in: a float32[2491] = small
// in: b float32[2915] = small
// out: c float32[2585]
// levels: 3
// launch: gemm<<<dim3(4, 3), dim3(16, 16)>>>(c, a, b, 47, 55, 53)
#define SIDE 16
__global__ void gemm(float* c, const float* a, const float* b, int m, int n, int k)
{
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    int row = blockIdx.y * SIDE + threadIdx.y, col = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += SIDE) {
        int i = start + threadIdx.x, j = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0.0f;
        right[threadIdx.y][threadIdx.x] = j < k && col < n ? b[j * n + col] : 0.0f;
        __syncthreads();
        for (int t = 0; t < SIDE; t++)
            sum += left[threadIdx.y][t] * right[t][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
