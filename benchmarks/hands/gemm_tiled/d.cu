template <int T>
__global__ void matmul(float const* __restrict__ A, float const* __restrict__ B, float* __restrict__ C,
                       unsigned m, unsigned n, unsigned k)
{
    __shared__ float a[T][T], b[T][T];
    auto const y = threadIdx.y, x = threadIdx.x;
    auto const row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    auto total = 0.f;
    unsigned base = 0;
    while (base < k) {
        a[y][x] = row < m && base + x < k ? A[row * k + base + x] : 0;
        b[y][x] = base + y < k && col < n ? B[(base + y) * n + col] : 0;
        __syncthreads();
        #pragma unroll
        for (unsigned z = 0; z != T; ++z) total = fmaf(a[y][z], b[z][x], total);
        __syncthreads();
        base += T;
    }
    if (row < m && col < n) C[row * n + col] = total;
}
template __global__ void matmul<32>(float const*, float const*, float*, unsigned, unsigned, unsigned);
// launch: matmul<32><<<dim3(ceil_div(N, 32), ceil_div(M, 32)), dim3(32, 32)>>>(A, B, C, M, N, K)
