// A warp transposes 32 x 32 in registers with __shfl_xor_sync, no shared memory. On a GPU: bandwidth perhaps partial.
// launch: warp_transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 128)), dim3(32, 4)>>>(out, in, rows, cols)
template <int M>
__device__ __forceinline__ void exchange(float (&v)[32], int lane)
{
#pragma unroll
    for (int i = 0; i < 32; ++i) {
        if (i & M) continue;
        const bool upper = lane & M;
        float give = upper ? v[i] : v[i | M];
        float got = __shfl_xor_sync(0xffffffffu, give, M);
        if (upper) v[i] = got; else v[i | M] = got;
    }
}

__global__ void warp_transpose(float* out, const float* in, int rows, int cols)
{
    const int lane = threadIdx.x;
    const int x0 = blockIdx.x * 32, y0 = (blockIdx.y * 4 + threadIdx.y) * 32;
    if (y0 >= rows) return;
    float v[32];
#pragma unroll
    for (int i = 0; i < 32; ++i)
        v[i] = (x0 + lane < cols && y0 + i < rows) ? in[(size_t)(y0 + i) * cols + x0 + lane] : 0.f;
    exchange<16>(v, lane);
    exchange<8>(v, lane);
    exchange<4>(v, lane);
    exchange<2>(v, lane);
    exchange<1>(v, lane);
#pragma unroll
    for (int i = 0; i < 32; ++i)
        if (x0 + i < cols && y0 + lane < rows) out[(size_t)(x0 + i) * rows + y0 + lane] = v[i];
}
