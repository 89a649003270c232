// Transposes within a warp by shuffles, of 32 registers a lane with dynamic indices (local memory), of half2 and of bytes.
// in: a uint32[1024] = random
// out: y uint32[1024]
// out: z uint32[1024]
// out: b uint8[1024]
// launch: shuffles<<<1, 32>>>(y, a)
// launch: rotated<<<1, 32>>>(z, a)
// launch: bytes<<<1, dim3(8, 32)>>>(b, a)
__global__ void shuffles(unsigned *y, const unsigned *a) {
    unsigned r[32];
    int lane = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 32; ++i) r[i] = a[i * 32 + lane];
#pragma unroll
    for (int step = 16; step >= 1; step >>= 1)
#pragma unroll
        for (int i = 0; i < 32; ++i)
            if (!(i & step)) {
                unsigned mine = lane & step ? r[i] : r[i + step];
                unsigned other = __shfl_xor_sync(0xffffffff, mine, step);
                if (lane & step) r[i] = other; else r[i + step] = other;
            }
#pragma unroll
    for (int i = 0; i < 32; ++i) y[i * 32 + lane] = r[i];
}
__global__ void rotated(unsigned *z, const unsigned *a) {
    unsigned r[32];
    int lane = threadIdx.x;
    for (int i = 0; i < 32; ++i) r[(i + lane) & 31] = a[i * 32 + lane];
    for (int i = 0; i < 32; ++i) z[lane * 32 + ((i + 5) & 31)] = __shfl_sync(~0u, r[i], (lane + i) % 32);
}
__global__ void bytes(unsigned char *b, const unsigned *a) {
    __shared__ unsigned char s[32][32 + 4];
    uchar4 v = reinterpret_cast<const uchar4 *>(a)[threadIdx.y * 8 + threadIdx.x];
    unsigned char *p = &s[threadIdx.y][threadIdx.x * 4];
    p[0] = v.x, p[1] = v.y, p[2] = v.z, p[3] = v.w;
    __syncthreads();
    for (int i = 0; i < 4; ++i) b[threadIdx.y * 32 + threadIdx.x * 4 + i] = s[threadIdx.x * 4 + i][threadIdx.y];
}
