// A warp for each element of C, its lanes along K, summed by shuffles: A is coalesced, B is read down a column.
// launch: dot<<<dim3(N, ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__global__ void dot(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < K; k += 32) sum += A[row * K + k] * B[k * N + col];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) C[row * N + col] = sum;
}
