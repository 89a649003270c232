#define PATCH 16
// launch: matrices<<<dim3(ceil_div(N, PATCH), ceil_div(M, PATCH), 1), dim3(PATCH, PATCH, 1)>>>(A, B, C, M, N, K)
__global__ void matrices(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float of_a[PATCH][PATCH];
    __shared__ float of_b[PATCH][PATCH];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * PATCH + ty;
    int col = bx * PATCH + tx;
    float entry = 0;
    // walk over the tiles
    for (int patch = 0; patch < ceil(K / (float)PATCH); patch++) {
        int ka = patch * PATCH + tx, kb = patch * PATCH + ty;
        of_a[ty][tx] = (row < M) && (ka < K) ? A[row * K + ka] : 0;
        of_b[ty][tx] = (kb < K) && (col < N) ? B[kb * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < PATCH; k += 4) {
            entry += of_a[ty][k] * of_b[k][tx];
            entry += of_a[ty][k + 1] * of_b[k + 1][tx];
            entry += of_a[ty][k + 2] * of_b[k + 2][tx];
            entry += of_a[ty][k + 3] * of_b[k + 3][tx];
        }
        __syncthreads();
    }
    if ((row < M) && (col < N))
        C[row * N + col] = entry;
}
