// A transpose that prefetches the tile below.
// run: --size n=1024 --input x=normal:n,n --output y=float32:n,n
// run: --size n=4096 --input x=normal:n,n --output y=float32:n,n
// launch: transpose_prefetching_rows<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(y, x, n)

__global__ void transpose_prefetching_rows(float* y, const float* x, int n)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(x + (row + k + 32) % n * n + col));
        tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * n + col];
    }
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        y[(row + k) * n + col] = tile[threadIdx.x][threadIdx.y + k];
    }
}
