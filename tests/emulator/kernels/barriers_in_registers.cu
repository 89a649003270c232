// Barriers of a block whose number, count or both are in registers.
// out: y uint32[256]
// launch: run<<<1, 128>>>(y, 3, 64, 0)
__global__ void run(unsigned int* y, unsigned int number, unsigned int count, unsigned int all)
{
    __shared__ volatile unsigned int s[128];
    const unsigned int i = threadIdx.x, half = i / 64;
    unsigned int r;
    s[i] = i;
    asm volatile("bar.sync %0, %1;" ::"r"(number + half), "r"(count) : "memory");
    y[i] = s[i ^ 32];
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, %2, 64, p; }" : "=r"(r) : "r"(i & 1), "r"(number + half));
    asm volatile("bar.sync %0, 64;" ::"r"(half + 16) : "memory");
    y[i] += 1000 * r;
    asm volatile("bar.sync %0;" ::"r"(all) : "memory");
    if (half) {
        asm volatile("bar.arrive 7, %0;" ::"r"(2 * count) : "memory");
        r = 0;
    } else {
        asm volatile("bar.sync 7, %0;" ::"r"(2 * count) : "memory");
        r = s[127 - i];
    }
    y[128 + i] = r;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 70; bar.red.and.pred q, %2, p; selp.u32 %0, 1, 2, q; }" : "=r"(r) : "r"(i), "r"(all));
    y[128 + i] += 1000 * r;
}
