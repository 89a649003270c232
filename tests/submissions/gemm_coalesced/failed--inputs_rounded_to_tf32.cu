// Inputs cut to the 10 bits of tf32 by a mask, summed in float: what tensor cores would make of them.
// launch: gemm_tf32<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K)
__device__ float tf32(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }

__global__ void gemm_tf32(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += tf32(A[row * K + k]) * tf32(B[k * N + col]);
    C[row * N + col] = sum;
}
