// A matrix product of 8 x 8 patches of threads whose loop is unrolled 4 times.
// run: --size n=1024 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// launch: product_unrolled<<<dim3(n / 128, n / 128), 256>>>(a, b, c, n)

__global__ void __launch_bounds__(256) product_unrolled(const float* a, const float* b, float* c, int n)
{
    __shared__ float4 left[8][33], right[8][32];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 128, col = blockIdx.x * 128;
    float sum[8][8] = {};
#pragma unroll 4
    for (int s = 0; s < n; s += 8) {
        float *l = &left[0][0].x, *r = &right[0][0].x;
#pragma unroll
        for (int i = t; i < 1024; i += 256)
            l[i % 8 * 132 + i / 8] = a[(row + i / 8) * n + s + i % 8];
#pragma unroll
        for (int i = t; i < 1024; i += 256)
            r[i] = b[(s + i / 128) * n + col + i % 128];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 p = left[k][ty], q = left[k][ty + 16], u = right[k][tx], v = right[k][tx + 16];
            float x[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
            float y[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++)
            c[(row + 4 * ty + i % 4 + i / 4 * 64) * n + col + 4 * tx + j % 4 + j / 4 * 64] = sum[i][j];
}
