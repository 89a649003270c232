// template<int BX, int BY, typename T>, explicitly instantiated twice.
// launch: gemm<32, 16, float><<<dim3(ceil_div(N, 32), ceil_div(M, 16)), dim3(32, 16)>>>(A, B, C, M, N, K)
template <int BX, int BY, typename T>
__global__ __launch_bounds__(BX * BY) void gemm(const T* A, const T* B, T* C, int M, int N, int K)
{
    const int col = blockIdx.x * BX + threadIdx.x;
    const int row = blockIdx.y * BY + threadIdx.y;
    if (row < M && col < N) {
        T sum{};
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
template __global__ void gemm<32, 16, float>(const float*, const float*, float*, int, int, int);
template __global__ void gemm<16, 16, float>(const float*, const float*, float*, int, int, int);
