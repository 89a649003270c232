#define BLOCK 32
#define STEPS 4
// launch: gemm<<<dim3(ceil_div(N, BLOCK), ceil_div(M, BLOCK)), dim3(BLOCK, BLOCK / STEPS)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[BLOCK][BLOCK + 1];
    __shared__ float tileB[BLOCK][BLOCK + 1];
    float result[STEPS] = {0.0f, 0.0f, 0.0f, 0.0f};
    int column = threadIdx.x + blockIdx.x * blockDim.x;
    int numberOfTiles = (K + BLOCK - 1) / BLOCK;

    for (int t = 0; t < numberOfTiles; t++)
    {
        for (int s = 0; s < STEPS; s++)
        {
            int r = threadIdx.y + s * blockDim.y;
            int globalRow = blockIdx.y * BLOCK + r;
            int kIndex = t * BLOCK + threadIdx.x;
            tileA[r][threadIdx.x] = 0.0f;
            if (globalRow < M && kIndex < K)
            {
                tileA[r][threadIdx.x] = A[(size_t)globalRow * K + kIndex];
            }
            int kRow = t * BLOCK + r;
            tileB[r][threadIdx.x] = 0.0f;
            if (kRow < K && column < N)
            {
                tileB[r][threadIdx.x] = B[(size_t)kRow * N + column];
            }
        }
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
        {
            float bValue = tileB[k][threadIdx.x];
            for (int s = 0; s < STEPS; s++)
            {
                result[s] += tileA[threadIdx.y + s * blockDim.y][k] * bValue;
            }
        }
        __syncthreads();
    }
    for (int s = 0; s < STEPS; s++)
    {
        int globalRow = blockIdx.y * BLOCK + threadIdx.y + s * blockDim.y;
        if (globalRow < M && column < N)
        {
            C[(size_t)globalRow * N + column] = result[s];
        }
    }
}
