// No tile: a warp walks down a strip of 128 columns. Each thread keeps four columns of seven rows of sums, and gets the
// columns beside its own from its neighbours by shuffles.

#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)
#define STRIP 32  // rows of out per warp
#define WARPS 4

// launch: cudaMemcpyToSymbol(weights, w)
// launch: convolution<<<dim3(ceil_div(cols, 128), ceil_div(rows, WARPS * STRIP)), dim3(32, WARPS)>>>(out, in, rows, cols)

__constant__ float weights[WIDTH * WIDTH];

__device__ float4 load_quad(const float* in, int y, int x, int rows, int cols)
{
    if (y < 0 || y >= rows || x + 4 <= 0 || x >= cols) return make_float4(0, 0, 0, 0);
    const float* row = in + static_cast<size_t>(y) * cols;
    if (cols % 4 == 0) return *reinterpret_cast<const float4*>(row + x);
    float q[4];
    #pragma unroll
    for (int j = 0; j < 4; j++) q[j] = x + j >= 0 && x + j < cols ? row[x + j] : 0.0f;
    return make_float4(q[0], q[1], q[2], q[3]);
}

__global__ void __launch_bounds__(32 * WARPS) convolution(float* out, const float* in, int rows, int cols)
{
    int lane = threadIdx.x, x = blockIdx.x * 128 + 4 * lane, top = (blockIdx.y * WARPS + threadIdx.y) * STRIP;
    if (top >= rows) return;  // the whole warp
    float sums[WIDTH][4] = {};
    float4 ahead = load_quad(in, top - RADIUS, x, rows, cols), beside = {};
    if (lane == 0 || lane == 31) beside = load_quad(in, top - RADIUS, lane ? x + 4 : x - 4, rows, cols);
    for (int y = top - RADIUS; y < top + STRIP + RADIUS; y++) {
        float4 own = ahead, outer = beside;
        if (y + 1 < top + STRIP + RADIUS) {
            ahead = load_quad(in, y + 1, x, rows, cols);
            if (lane == 0 || lane == 31) beside = load_quad(in, y + 1, lane ? x + 4 : x - 4, rows, cols);
        }
        float near[10] = {0, 0, 0, own.x, own.y, own.z, own.w, 0, 0, 0};
        near[0] = __shfl_up_sync(0xffffffffu, own.y, 1);
        near[1] = __shfl_up_sync(0xffffffffu, own.z, 1);
        near[2] = __shfl_up_sync(0xffffffffu, own.w, 1);
        near[7] = __shfl_down_sync(0xffffffffu, own.x, 1);
        near[8] = __shfl_down_sync(0xffffffffu, own.y, 1);
        near[9] = __shfl_down_sync(0xffffffffu, own.z, 1);
        if (lane == 0) near[0] = outer.y, near[1] = outer.z, near[2] = outer.w;
        if (lane == 31) near[7] = outer.x, near[8] = outer.y, near[9] = outer.z;
        // sums[e] belongs to row y + RADIUS - 6 + e of out
        #pragma unroll
        for (int e = 0; e < WIDTH; e++)
            #pragma unroll
            for (int j = 0; j < WIDTH; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++) sums[e][k] += weights[(WIDTH - 1 - e) * WIDTH + j] * near[k + j];
        int done = y - RADIUS;
        if (done >= top && done < rows) {
            float* row = out + static_cast<size_t>(done) * cols;
            if (cols % 4 == 0) {
                if (x < cols) *reinterpret_cast<float4*>(row + x) = make_float4(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
            } else
                #pragma unroll
                for (int k = 0; k < 4; k++)
                    if (x + k < cols) row[x + k] = sums[0][k];
        }
        #pragma unroll
        for (int e = 0; e < WIDTH; e++)
            #pragma unroll
            for (int k = 0; k < 4; k++) sums[e][k] = e + 1 < WIDTH ? sums[e + 1][k] : 0.0f;
    }
}
