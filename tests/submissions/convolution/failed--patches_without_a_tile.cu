// No tile: each thread loads three float4 of each row from global memory, and the L1 cache serves its neighbours.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define BX 32
#define BY 8
#define EACH 4

// launch: cudaMemcpyToSymbol(weights, w)
// launch: convolution<<<dim3(ceil_div(cols, 4 * BX), ceil_div(rows, BY * EACH)), dim3(BX, BY)>>>(out, in, rows, cols)

__constant__ float weights[WIDTH * WIDTH];

__device__ float4 load_quad(const float* in, int y, int x, int rows, int cols)
{
    if (y < 0 || y >= rows || x + 4 <= 0 || x >= cols) return make_float4(0, 0, 0, 0);
    const float* row = in + y * cols;
    if (cols % 4 == 0) return *reinterpret_cast<const float4*>(row + x);
    float q[4];
    #pragma unroll
    for (int j = 0; j < 4; j++) q[j] = x + j >= 0 && x + j < cols ? row[x + j] : 0.0f;
    return make_float4(q[0], q[1], q[2], q[3]);
}

__global__ void convolution(float* out, const float* in, int rows, int cols)
{
    int x = 4 * (blockIdx.x * BX + threadIdx.x), y = (blockIdx.y * BY + threadIdx.y) * EACH;
    float sums[EACH][4] = {};
    #pragma unroll
    for (int i = 0; i < EACH + 2 * RADIUS; i++) {
        float near[12];
        #pragma unroll
        for (int j = 0; j < 3; j++)
            *reinterpret_cast<float4*>(near + 4 * j) = load_quad(in, y + i - RADIUS, x + 4 * j - 4, rows, cols);
        #pragma unroll
        for (int e = 0; e < EACH; e++)
            #pragma unroll
            for (int j = 0; j < WIDTH; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++)
                    if (i >= e && i < e + WIDTH) sums[e][k] += weights[(i - e) * WIDTH + j] * near[k + j + 1];
    }
    #pragma unroll
    for (int e = 0; e < EACH; e++) {
        if (y + e >= rows) return;
        if (cols % 4 == 0 && x < cols)
            *reinterpret_cast<float4*>(out + (y + e) * cols + x) = make_float4(sums[e][0], sums[e][1], sums[e][2], sums[e][3]);
        else
            #pragma unroll
            for (int k = 0; k < 4; k++)
                if (x + k < cols) out[(y + e) * cols + x + k] = sums[e][k];
    }
}
