// __ldg, fmaf, four partial sums and a loop that is unrolled by hand, with the rest after it.
// launch: unrolled<<<dim3(ceil_div(N, 128), M), 128>>>(A, B, C, M, N, K)
__global__ void unrolled(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 128 + threadIdx.x, row = blockIdx.y;
    if (col >= N) return;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int k = 0;
    for (; k + 3 < K; k += 4) {
        s0 = fmaf(__ldg(&A[row * K + k]), __ldg(&B[k * N + col]), s0);
        s1 = fmaf(__ldg(&A[row * K + k + 1]), __ldg(&B[(k + 1) * N + col]), s1);
        s2 = fmaf(__ldg(&A[row * K + k + 2]), __ldg(&B[(k + 2) * N + col]), s2);
        s3 = fmaf(__ldg(&A[row * K + k + 3]), __ldg(&B[(k + 3) * N + col]), s3);
    }
    for (; k < K; ++k) s0 = fmaf(__ldg(&A[row * K + k]), __ldg(&B[k * N + col]), s0);
    C[row * N + col] = (s0 + s1) + (s2 + s3);
}
