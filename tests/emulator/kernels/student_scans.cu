// Prefix sums: Hillis-Steele with two buffers, Blelloch, within warps by shuffles, of long long.
// in: a int32[512] = random
// in: b int64[256] = random
// out: y int32[1024]
// out: z int64[256]
// launch: hillis_steele<<<2, 256, 2 * 256 * 4>>>(y, a)
// launch: blelloch<<<2, 128>>>(y, a)
// launch: warps<<<1, 256>>>(z, b)
__global__ void hillis_steele(int *y, const int *a) {
    extern __shared__ int s[];
    int n = blockDim.x, t = threadIdx.x, from = 0, to = 1;
    s[t] = a[blockIdx.x * n + t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        s[to * n + t] = s[from * n + t] + (t >= d ? s[from * n + t - d] : 0);
        from = 1 - from, to = 1 - to;
        __syncthreads();
    }
    y[blockIdx.x * n + t] = s[from * n + t];
}

__global__ void blelloch(int *y, const int *a) {
    __shared__ int s[256];
    int t = threadIdx.x, offset = 1, n = 256;
    s[2 * t] = a[blockIdx.x * n + 2 * t];
    s[2 * t + 1] = a[blockIdx.x * n + 2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1, offset *= 2) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1, kept = s[ai];
            s[ai] = s[bi];
            s[bi] += kept;
        }
    }
    __syncthreads();
    y[512 + blockIdx.x * n + 2 * t] = s[2 * t];
    y[512 + blockIdx.x * n + 2 * t + 1] = s[2 * t + 1];
}

__global__ void warps(long long *z, const long long *b) {
    __shared__ long long totals[8];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    long long v = b[threadIdx.x];
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        long long other = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += other;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w) v += totals[w];
    z[threadIdx.x] = v;
}
