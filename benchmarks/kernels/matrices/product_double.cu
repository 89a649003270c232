// A product of matrices of doubles with tiles of 16 x 16 in shared memory. The factors lie behind
// each other in one array.
// run: --size n=512 --input AB=normal:2*n,n:float64 --output C=float64:n,n
// run: --size n=1024 --input AB=normal:2*n,n:float64 --output C=float64:n,n
// launch: product_double<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(C, AB, n)

#define TILE 16

__global__ void product_double(double* C, const double* A, int n)
{
    __shared__ double a[TILE][TILE], b[TILE][TILE];
    const double* B = A + n * n;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    double sum = 0.0;
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
