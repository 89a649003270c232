// elect.sync: one lane of those that are there.
// out: y uint32[96]
// launch: run<<<1, 32>>>(y)
__device__ unsigned int elected(unsigned int mask)
{
    unsigned int leader, chosen;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(chosen) : "r"(mask));
    return 100 * chosen + leader;
}
__global__ void run(unsigned int* y)
{
    const int i = threadIdx.x;
    y[i] = elected(0xffffffff);
    y[32 + i] = y[64 + i] = 0;
    if (i > 4) y[32 + i] = elected(0xffffffe0);
    if (i & 1) y[64 + i] = elected(0xaaaaaaaa);
}
