// Histograms: global and shared atomics, private copies a warp, of 64-bit counters, aggregated by match_any.
// in: a uint32[2048] = random
// inout: h uint32[256] = zeros
// inout: s uint32[256] = zeros
// inout: w uint32[16] = zeros
// inout: l uint64[16] = zeros
// inout: m uint32[256] = zeros
// launch: plain<<<8, 256>>>(h, a, 2048)
// launch: shared<<<4, 128>>>(s, a, 2048)
// launch: warps<<<2, 128>>>(w, a, 2048)
// launch: wide<<<4, 128>>>(l, a, 2048)
// launch: aggregated<<<8, 256>>>(m, a, 2048)
__global__ void plain(unsigned *h, const unsigned *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&h[a[i] & 255], 1u);
}
__global__ void shared(unsigned *s, const unsigned *a, int n) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    const uchar4 *p = reinterpret_cast<const uchar4 *>(a);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uchar4 v = p[i];
        atomicAdd(own + v.x, 1);
        atomicAdd(own + v.y, 1);
        atomicAdd(own + v.z, 1);
        atomicAdd(own + v.w, 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (own[i]) atomicAdd(&s[i], own[i]);
}
__global__ void warps(unsigned *w, const unsigned *a, int n) {
    __shared__ unsigned own[4][16];
    unsigned *mine = own[threadIdx.x / 32];
    if (threadIdx.x % 32 < 16) mine[threadIdx.x % 32] = 0;
    __syncwarp();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicInc(&mine[a[i] >> 28], 0xffffffff);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&w[threadIdx.x], own[0][threadIdx.x] + own[1][threadIdx.x] + own[2][threadIdx.x] + own[3][threadIdx.x]);
}
__global__ void wide(unsigned long long *l, const unsigned *a, int n) {
    __shared__ unsigned long long own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[a[i] % 16], (unsigned long long)a[i]);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&l[threadIdx.x], own[threadIdx.x]);
}
__global__ void aggregated(unsigned *m, const unsigned *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bin = a[i] & 31, peers = __match_any_sync(__activemask(), bin);
    if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&m[bin], __popc(peers));
}
