// Many products of matrices of 16 x 16: a block each.
// run: --size n=8192 --input A=normal:n,16,16 --input B=normal:n,16,16 --output C=float32:n,16,16
// run: --size n=131072 --input A=normal:n,16,16 --input B=normal:n,16,16 --output C=float32:n,16,16
// launch: small_products<<<n, dim3(16, 16)>>>(C, A, B)

#define SIDE 16

__global__ void small_products(float* C, const float* A, const float* B)
{
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const size_t i = ((size_t)blockIdx.x * SIDE + ty) * SIDE + tx;
    a[ty][tx] = A[i];
    b[ty][tx] = B[i];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < SIDE; k++)
        sum += a[ty][k] * b[k][tx];
    C[i] = sum;
}
