#define B 32
// launch: k<<<dim3(ceil_div(cols, B), ceil_div(rows, B)), dim3(B, B / 4)>>>(out, in, rows, cols)
__global__ void k(float* o, const float* a, int h, int w)
{
    __shared__ float s[B][B + 1];
    int x = threadIdx.x + B * blockIdx.x, y = threadIdx.y + B * blockIdx.y;
    #pragma unroll
    for (int q = 0; q < 4; q++) {
        int yy = y + q * (B / 4);
        if (x < w && yy < h) s[threadIdx.y + q * (B / 4)][threadIdx.x] = a[yy * w + x];
    }
    __syncthreads();
    int u = threadIdx.x + B * blockIdx.y, v = threadIdx.y + B * blockIdx.x;
    #pragma unroll
    for (int q = 0; q < 4; q++) {
        int vv = v + q * (B / 4);
        if (u < h && vv < w) o[vv * h + u] = s[threadIdx.x][threadIdx.y + q * (B / 4)];
    }
}
