// A transpose whose lanes look up constants one after another, behind some barriers.
// run: --size n=1024 --size barriers=200 --input x=normal:n,n --output y=float32:n,n
// run: --size n=4096 --size barriers=200 --input x=normal:n,n --output y=float32:n,n
// run: --size n=4096 --size barriers=0 --input x=normal:n,n --output y=float32:n,n
// launch: transpose_looking_up<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(y, x, n, barriers)

__constant__ int table[32];

__global__ void transpose_looking_up(float* y, const float* x, int n, int barriers)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y, v = 0;
    for (int i = 0; i < barriers; i++)
        __syncthreads();
    for (int i = 0; i < 8; i++)
        v += table[(threadIdx.x + i + v) % 32];
    if (v)
        return;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * n + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        y[(row + k) * n + col] = tile[threadIdx.x][threadIdx.y + k];
}
