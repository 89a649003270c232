// Warp transpose by rotation with __shfl_sync; the dynamically indexed array lies in local memory. Too slow for 80 % of the peak.
// expect without a model: passed, only a clock tells (9 % of an H100's peak bandwidth, 80 % are asked)
#define FULL 0xffffffff
// launch: rot<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), 32>>>(out, in, rows, cols)
__global__ void rot(float *out, const float *in, int rows, int cols)
{
    int lane = threadIdx.x & 31;
    float a[32], b[32];
    for (int i = 0; i < 32; i++) {
        int r = blockIdx.y * 32 + i, c = blockIdx.x * 32 + lane;
        a[i] = (r < rows && c < cols) ? in[r * cols + c] : 0.0f;
    }
    // in step s every lane gives row (lane + s) of its column... to the lane that collects that row
    for (int s = 0; s < 32; s++) {
        int want = (lane - s) & 31;
        b[want] = __shfl_sync(FULL, a[(lane + s) & 31], want);
    }
    for (int i = 0; i < 32; i++) {
        int r = blockIdx.y * 32 + lane, c = blockIdx.x * 32 + i;
        if (r < rows && c < cols) out[c * rows + r] = b[i];
    }
}
