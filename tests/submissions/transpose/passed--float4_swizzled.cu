// float4 both ways through a 32 x 32 tile whose float4 columns are XOR-ed with the patch: no conflicts. Full marks expected on a GPU.
// launch: t4<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), 64>>>(out, in, rows, cols)
#define LD4(p) (*(const float4*)(p))
#define ST4(p) (*(float4*)(p))

__global__ void __launch_bounds__(64) t4(float* out, const float* in, int rows, int cols)
{
    __shared__ float4 s[32][8];
    int q = threadIdx.x & 7, g = threadIdx.x >> 3;      // float4 in a row, group of 4 rows
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    float4 a[4];

    if (rows % 4 == 0 && cols % 4 == 0) {
        if (y0 + 4 * g < rows && x0 + 4 * q < cols) {
            const float* p = in + (size_t)(y0 + 4 * g) * cols + x0 + 4 * q;
            a[0] = LD4(p); a[1] = LD4(p + cols); a[2] = LD4(p + 2 * cols); a[3] = LD4(p + 3 * cols);
        }
        s[4 * q + 0][g ^ q] = make_float4(a[0].x, a[1].x, a[2].x, a[3].x);
        s[4 * q + 1][g ^ q] = make_float4(a[0].y, a[1].y, a[2].y, a[3].y);
        s[4 * q + 2][g ^ q] = make_float4(a[0].z, a[1].z, a[2].z, a[3].z);
        s[4 * q + 3][g ^ q] = make_float4(a[0].w, a[1].w, a[2].w, a[3].w);
        __syncthreads();
        if (x0 + 4 * g < cols && y0 + 4 * q < rows)
            for (int i = 0; i < 4; ++i)
                ST4(out + (size_t)(x0 + 4 * g + i) * rows + y0 + 4 * q) = s[4 * g + i][q ^ g];
    } else {
        for (int i = threadIdx.x; i < 32 * 32; i += 64) {
            int y = y0 + i % 32, x = x0 + i / 32;
            if (y < rows && x < cols) out[(size_t)x * rows + y] = in[(size_t)y * cols + x];
        }
    }
}
