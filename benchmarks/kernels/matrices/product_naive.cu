// A product of matrices: a thread per element reads a row and a column from global memory.
// run: --size n=512 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=1024 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=1536 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// launch: product_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(C, A, B, n)

__global__ void product_naive(float* C, const float* A, const float* B, int n)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}
