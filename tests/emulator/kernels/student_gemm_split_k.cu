// Matrix product split along K, joined with atomics; in double, and with a transposed store by shuffles.
// in: A float32[1024] = small
// in: B float32[1024] = small
// inout: C float32[1024] = zeros
// inout: D float64[1024] = zeros
// launch: split_k<<<dim3(2, 2, 4), dim3(16, 16)>>>(C, A, B, 32, 8)
// launch: product<<<dim3(2, 2), dim3(16, 16)>>>(D, A, B, 32)
__global__ void split_k(float *C, const float *A, const float *B, int n, int part) {
    __shared__ float a[16][8], b[8][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x, first = blockIdx.z * part;
    if (threadIdx.x < 8) a[threadIdx.y][threadIdx.x] = A[row * n + first + threadIdx.x];
    if (threadIdx.y < 8) b[threadIdx.y][threadIdx.x] = B[(first + threadIdx.y) * n + column];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < part; ++k) sum = fmaf(a[threadIdx.y][k], b[k][threadIdx.x], sum);
    atomicAdd(&C[row * n + column], sum);
}
__global__ void product(double *D, const float *A, const float *B, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; ++k) sum += (double)A[row * n + k] * B[k * n + column];
    atomicAdd(&D[row * n + column], sum);
}
