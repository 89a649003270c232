// A product of matrices of halves, two columns of C per thread, added in pairs of halves by tiles
// and in floats between them. The factors follow each other in one array.
// run: --size n=512 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// run: --size n=1024 --input AB=normal:2*n,n:float16 --output C=float32:n,n
// launch: product_half<<<dim3(n / 64, n / 16), dim3(32, 16)>>>(C, AB, n)

#include <cuda_fp16.h>

#define DEPTH 32
#define ROWS 16

__global__ void product_half(float2* C, const __half* A, int n)
{
    __shared__ __half a[ROWS][DEPTH];
    __shared__ __half2 b[DEPTH][32];
    const __half2* B = (const __half2*)(A + n * n);
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * ROWS + ty, col = blockIdx.x * 32 + tx;
    float2 total = make_float2(0.0f, 0.0f);
    for (int first = 0; first < n; first += DEPTH) {
        a[ty][tx] = A[row * n + first + tx];
        b[ty][tx] = B[(first + ty) * (n / 2) + col];
        b[ty + ROWS][tx] = B[(first + ty + ROWS) * (n / 2) + col];
        __syncthreads();
        __half2 sum = __float2half2_rn(0.0f);
        for (int k = 0; k < DEPTH; k++)
            sum = __hfma2(__half2half2(a[ty][k]), b[k][tx], sum);
        total.x += __low2float(sum);
        total.y += __high2float(sum);
        __syncthreads();
    }
    C[row * (n / 2) + col] = total;
}
