// One thread an element of C in a 1-D grid; row and column by division by the runtime value N.
// launch: flat<<<ceil_div(M * N, 256), 256>>>(A, B, C, M, N, K)
__global__ void flat(const float* A, const float* B, float* C, int M, int N, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * N) {
        int row = i / N, col = i % N;
        float s = 0;
        for (int k = 0; k < K; k++) s += A[row * K + k] * B[k * N + col];
        C[i] = s;
    }
}
