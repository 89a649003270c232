// A product of matrices with tiles of 16 x 16 in shared memory, a thread an element.
// run: --size n=512 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=1024 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=2048 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// launch: product_tiles_16<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(C, A, B, n)

#define TILE 16

__global__ void product_tiles_16(float* C, const float* A, const float* B, int n)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < n; first += TILE) {
        a[ty][tx] = A[row * n + first + tx];
        b[ty][tx] = B[(first + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
