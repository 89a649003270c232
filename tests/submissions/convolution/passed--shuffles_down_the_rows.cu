// No tile: a warp walks down a strip of 128 columns. Each thread keeps seven rows of four sums, and gets the columns
// beside its own from its neighbours by shuffles. Another kernel takes images whose rows are no multiple of four.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define STRIP 32  // rows of out per warp
#define WARPS 4

// launch: cudaMemcpyToSymbol(weights, w)
// launch: if (cols % 4 == 0) convolution_of_strips<<<dim3(ceil_div(cols, 128), ceil_div(rows, WARPS * STRIP)), dim3(32, WARPS)>>>(out, in, rows, cols);
// launch: else convolution_any<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols);

__constant__ float weights[WIDTH * WIDTH];

__global__ void __launch_bounds__(32 * WARPS) convolution_of_strips(float* out, const float* in, int rows, int cols)
{
    const float4 zero = make_float4(0, 0, 0, 0);
    int lane = threadIdx.x, x = blockIdx.x * 128 + 4 * lane, top = (blockIdx.y * WARPS + threadIdx.y) * STRIP;
    if (top >= rows) return;  // the whole warp
    int outer_x = lane == 0 ? x - 4 : lane == 31 ? x + 4 : -1;
    bool has_own = x < cols, has_outer = outer_x >= 0 && outer_x < cols;
    const float* above = in + (top - RADIUS) * cols;
    float sums[WIDTH][4] = {};
    float4 own = has_own && top >= RADIUS ? *reinterpret_cast<const float4*>(above + x) : zero;
    float4 outer = has_outer && top >= RADIUS ? *reinterpret_cast<const float4*>(above + outer_x) : zero;
    #pragma unroll 2
    for (int y = top - RADIUS; y < top + STRIP + RADIUS; y++) {
        above += cols;
        bool inside = y + 1 >= 0 && y + 1 < rows;
        float4 next = inside && has_own ? *reinterpret_cast<const float4*>(above + x) : zero;
        float4 next_outer = inside && has_outer ? *reinterpret_cast<const float4*>(above + outer_x) : zero;
        float near[10] = {0, 0, 0, own.x, own.y, own.z, own.w, 0, 0, 0};
        near[0] = __shfl_up_sync(0xffffffffu, own.y, 1);
        near[1] = __shfl_up_sync(0xffffffffu, own.z, 1);
        near[2] = __shfl_up_sync(0xffffffffu, own.w, 1);
        near[7] = __shfl_down_sync(0xffffffffu, own.x, 1);
        near[8] = __shfl_down_sync(0xffffffffu, own.y, 1);
        near[9] = __shfl_down_sync(0xffffffffu, own.z, 1);
        if (lane == 0) near[0] = outer.y, near[1] = outer.z, near[2] = outer.w;
        if (lane == 31) near[7] = outer.x, near[8] = outer.y, near[9] = outer.z;
        // sums[e] belongs to row y + e - RADIUS of out
        #pragma unroll
        for (int e = 0; e < WIDTH; e++)
            #pragma unroll
            for (int j = 0; j < WIDTH; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++) sums[e][k] += weights[(WIDTH - 1 - e) * WIDTH + j] * near[k + j];
        int done = y - RADIUS;
        if (has_own && done >= top && done < rows)
            *reinterpret_cast<float4*>(out + done * cols + x) = make_float4(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
        #pragma unroll
        for (int e = 0; e < WIDTH; e++)
            #pragma unroll
            for (int k = 0; k < 4; k++) sums[e][k] = e + 1 < WIDTH ? sums[e + 1][k] : 0.0f;
        own = next, outer = next_outer;
    }
}

__global__ void convolution_any(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < WIDTH; j++) {
            int row = y + i - RADIUS, col = x + j - RADIUS;
            if (row >= 0 && row < rows && col >= 0 && col < cols) sum += weights[i * WIDTH + j] * in[row * cols + col];
        }
    out[y * cols + x] = sum;
}
