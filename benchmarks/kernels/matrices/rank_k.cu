// The lower triangle of A times its transpose, by tiles: blocks above the diagonal leave at once.
// run: --size n=1024 --size k=512 --input A=normal:n,k --output C=normal:n,n
// run: --size n=4096 --size k=256 --input A=normal:n,k --output C=normal:n,n
// launch: rank_k<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(C, A, n, k)

#define TILE 32

__global__ void rank_k(float* C, const float* A, int n, int k)
{
    if (blockIdx.x > blockIdx.y)
        return;
    __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int top = blockIdx.y * TILE, across = blockIdx.x * TILE;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        left[ty][tx] = A[(top + ty) * k + first + tx];
        right[ty][tx] = A[(across + ty) * k + first + tx];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[ty][i] * right[tx][i];
        __syncthreads();
    }
    C[(top + ty) * n + across + tx] += sum;
}
