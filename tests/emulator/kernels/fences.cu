// Memory fences and cache hints of every scope leave results as they are.
// in: a uint32[64] = random
// out: y uint32[256]
// launch: run<<<2, 32>>>(y, a)
__global__ void run(unsigned int* y, const unsigned int* a)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = __ldcg(a + i) + __ldcs(a + i);
    __threadfence_block();
    y[64 + i] = __ldcv(a + i) ^ __ldlu(a + i);
    __threadfence();
    __stcg(y + 128 + i, a[i] + 1);
    __threadfence_system();
    asm volatile("prefetch.global.L2 [%0];" ::"l"(a));
    unsigned int v;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(a + i));
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(y + 192 + i), "r"(v));
}
