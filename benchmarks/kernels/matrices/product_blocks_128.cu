// A product of matrices: a block computes 128 x 128 elements, a thread 8 x 8 of them in registers;
// the tile of A lies transposed in shared memory.
// run: --size n=1024 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=2048 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=3072 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// launch: product_blocks_128<<<dim3(n / 128, n / 128), 256>>>(C, A, B, n)

#define TILE 128
#define EACH 8
#define DEPTH 8
#define ACROSS (TILE / EACH)
#define THREADS (ACROSS * ACROSS)

__global__ void __launch_bounds__(THREADS)
product_blocks_128(float* C, const float* A, const float* B, int n)
{
    __shared__ float a[DEPTH][TILE + 4], b[DEPTH][TILE];
    const int t = threadIdx.x, tx = t % ACROSS, ty = t / ACROSS;
    const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    float sums[EACH][EACH] = {};
    for (int first = 0; first < n; first += DEPTH) {
        for (int k = t; k < TILE * DEPTH; k += THREADS) {
            a[k % DEPTH][k / DEPTH] = A[(top + k / DEPTH) * n + first + k % DEPTH];
            b[k / TILE][k % TILE] = B[(first + k / TILE) * n + left + k % TILE];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float down[EACH], across[EACH];
            for (int i = 0; i < EACH; i++) {
                down[i] = a[k][ty * EACH + i];
                across[i] = b[k][tx + i * ACROSS];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sums[i][j] += down[i] * across[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            C[(top + ty * EACH + i) * n + left + tx + j * ACROSS] = sums[i][j];
}
