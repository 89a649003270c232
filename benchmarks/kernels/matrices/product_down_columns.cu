// A product of matrices as beginners write it: neighbouring threads take neighbouring rows.
// run: --size n=512 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=1024 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// launch: product_down_columns<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(C, A, B, n)

__global__ void product_down_columns(float* C, const float* A, const float* B, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
}
