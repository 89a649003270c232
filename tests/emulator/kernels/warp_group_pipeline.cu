// A product of halves by three groups of warps: one copies tiles, two multiply them (wgmma), and barrier objects tell who may go on; registers go from the first group to the others.
// in: a float16[32768] = normal
// in: b float16[16384] = normal
// out: c float32[8192]
// levels: 3
// counters: ignored
// launch: product<<<1, 384, 49152>>>(c, a, b, 256)
#include <cuda_fp16.h>
#include <stdint.h>
__device__ uint32_t address(const void* place) { return (uint32_t)__cvta_generic_to_shared(place); }
__device__ uint64_t descriptor(const void* place)
{
    return (uint64_t)((address(place) & 0x3FFFF) >> 4) | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
__device__ void wait(uint64_t* barrier, int phase)
{
    asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }"
        :: "r"(address(barrier)), "r"(phase) : "memory");
}
__device__ void arrive(uint64_t* barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(address(barrier)) : "memory");
}
__device__ void copy_tile(__half* tile, const __half* from, int rows, int k)
{
    for (int i = threadIdx.x; i < rows * 8; i += 128)
    {
        const int row = i / 8, unit = i % 8;
        *(uint4*)(tile + row * 64 + (unit ^ row % 8) * 8) = *(const uint4*)(from + row * k + unit * 8);
    }
}
__global__ void __launch_bounds__(384, 1) product(float* c, const __half* a, const __half* b, int k)
{
    extern __shared__ __align__(1024) __half tiles[];
    __shared__ __align__(1024) uint64_t full[2], empty[2];
    __half* left = tiles;
    __half* right = tiles + 2 * 128 * 64;
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i)
        {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" :: "r"(address(full + i)));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(address(empty + i)));
        }
    __syncthreads();
    const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
    if (group == 0)
    {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        for (int step = 0; step < k / 64; ++step)
        {
            const int stage = step % 2;
            wait(empty + stage, (step / 2 + 1) % 2);
            copy_tile(left + stage * 128 * 64, a + step * 64, 128, k);
            copy_tile(right + stage * 64 * 64, b + step * 64, 64, k);
            asm volatile("fence.proxy.async;" ::: "memory");
            arrive(full + stage);
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float d[32] = {};
    for (int step = 0; step < k / 64; ++step)
    {
        const int stage = step % 2;
        wait(full + stage, step / 2 % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int part = 0; part < 4; ++part)
            asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                : "l"(descriptor(left + stage * 128 * 64 + (group - 1) * 64 * 64 + part * 16)),
                  "l"(descriptor(right + stage * 64 * 64 + part * 16)));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (thread == 0) arrive(empty + stage);
    }
    for (int i = 0; i < 32; ++i)
        c[((group - 1) * 64 + thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8) * 64 + i / 4 * 8 + thread % 4 * 2 + i % 2] = d[i];
}
